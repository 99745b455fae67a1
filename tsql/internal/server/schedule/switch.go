package schedule

// Switch is a scheduler that can be exchanged for another one while no session is between Enter and Leave.
type Switch struct{ Scheduler }
