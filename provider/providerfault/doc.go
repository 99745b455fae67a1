// Package providerfault decorates a store so that calls fail, wait, repeat or lose
// their answers on a script. It is for tests of whatever stands on a store: the
// runtime, a tool, an application.
//
//	store := providerfault.New(real,
//		// The first two turns are committed, but nobody is told.
//		providerfault.Rule{
//			Operation: providerfault.AckOrchestrationItem, Times: 2,
//			Fault:     providerfault.Fault{Lose: providerfault.Unreachable()},
//		},
//	)
//
// A call to which no rule applies goes through unchanged. Faults touch only the call
// they are about, so the store behind stays consistent: what it says happened did
// happen.
package providerfault
