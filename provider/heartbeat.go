package provider

// MaxHeartbeat is the greatest length of a heartbeat's details, in bytes.
const MaxHeartbeat = 64 << 10
