package lock

// Modes is how many modes there are.
const Modes = modes
