// Package provider is the contract between the Duroxide runtime and a store.
//
// A store keeps orchestration histories, two queues, instance locks, activity sessions, custom statuses and a
// key-value map for each instance. A fetch from a queue locks a message for a time, its lease; an acknowledgement
// deletes the message. The store is deliberately simple: it stores, locks and compares as it is told, and decides
// nothing about orchestrations. Everything that a turn changes is committed by one call,
// [Provider.AckOrchestrationItem]. A turn is one run of an orchestration function on the messages of its instance,
// until it has to wait.
//
// The package contains
//
//   - the interfaces [Provider] and [Admin] a store implements,
//   - the data both sides exchange, [Event] with its 26 kinds and [WorkItem]
//     with its 11 variants, and the one JSON form in which both are stored,
//   - the classified errors ([Error] and the sentinels beside it) that tell a
//     caller whether repeating a call helps.
//
// Test a new store with package providertest, which has a named test for every rule of the contract.
//
// # Time
//
// Every stored time is in milliseconds since the Unix epoch, UTC. A store has exactly one clock: leases and delays
// are passed as durations, never as absolute times of a caller, so the clocks of different processes cannot shorten
// or prolong a lease. Durations are exact to the millisecond.
//
// # Identity
//
// Ids are compared byte for byte. The execution and event numbers of an
// instance start at 1.
//
// The full rules are in the project's docs/contract.md, which has a section for each method and type.
package provider
