// Package provider is the contract between the Duroxide runtime and a store.
//
// A store keeps orchestration histories, two peek-lock queues, instance locks,
// activity sessions, custom status and a per-instance key-value map. It is
// deliberately dumb: it stores, locks and compares what it is told to, and
// decides nothing about orchestrations. Everything a turn changes is committed
// by one call, [Provider.AckOrchestrationItem].
//
// The package holds
//
//   - the interfaces [Provider] and [Admin] a store implements,
//   - the data both sides exchange, [Event] with its 26 kinds and [WorkItem]
//     with its 11 variants, and the one JSON form in which both are stored,
//   - the classified errors ([Error] and the sentinels beside it) that tell a
//     caller whether repeating a call helps.
//
// A new store proves itself with package providertest, which holds every rule
// of the contract as a named test.
//
// # Time
//
// Every point in time is milliseconds since the Unix epoch, UTC. A store has
// exactly one clock: calls pass durations, never a caller's absolute time, so
// that skew between processes can neither expire nor prolong a lease. Durations
// are honoured to the millisecond.
//
// # Identity
//
// Ids are compared byte for byte. The execution and event numbers of an
// instance start at 1.
//
// Doc comments cite the sections of docs/contract.md as "§5.2" and its known
// pitfalls as "P17".
package provider
