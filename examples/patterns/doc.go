// Package patterns shows what orchestrations are often written for, one pattern a file, each
// with a test that runs it on a clock that jumps. Copy what fits.
//
//   - approval.go: somebody's decision, with a reminder and a deadline
//   - booking.go: steps that are undone when a later one fails
//   - import.go: a thousand items, some at a time, with progress
//   - monitor.go: a loop that lives for ever
//   - room.go: a conversation by messages
//   - render.go: work that stays on the machine that has its files
//   - orders.go: a web handler that starts an orchestration in the transaction of its own insert
package patterns
