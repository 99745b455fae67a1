// Package interleave has scenarios in which operations of the SQL Server store run beside each other, for tsqltest's
// explorer.
//
// [Scenarios] is the list. A [Lab] is a database with the store's schema in one [Variant], where scenarios are explored
// one after the other:
//
//	lab := interleave.NewLab(t, interleave.Variant{RowVersions: true})
//	for _, s := range interleave.Scenarios() {
//		if s.Known == nil {
//			tsqltest.Explore(t, lab.Scenario(t, s), tsqltest.Exploration{Preemptions: 1})
//		}
//	}
//
// [Matrix] has more of them: each operation of a table beside each other one. The end of every order must be that of
// the operations one after the other. Its test tries a few orders of each in one variant; DUROXIDE_SCHEDULES is how
// many in all variants, and DUROXIDE_PLANS by how many choices of plans besides the planner's. DUROXIDE_SCENARIOS is a
// regular expression for the names of those that are tried. A deadlock is in order only where a known defect names its
// victim.
package interleave
