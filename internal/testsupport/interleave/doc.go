// Package interleave has scenarios in which operations of the SQL Server store run beside each other, for tsqltest's explorer.
//
// [Scenarios] is the list. A [Lab] is a database with the store's schema in one [Variant], where scenarios are explored one after
// the other:
//
//	lab := interleave.NewLab(t, interleave.Variant{RowVersions: true})
//	for _, s := range interleave.Scenarios() {
//		if s.Known == nil {
//			tsqltest.Explore(t, lab.Scenario(t, s), tsqltest.Exploration{Preemptions: 1})
//		}
//	}
package interleave
