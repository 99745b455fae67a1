// Package orchestration defines orchestrations: plain Go functions whose progress
// survives crashes.
//
//	var Welcome = orchestration.New("Welcome",
//		func(ctx *orchestration.Context, city string) (string, error) {
//			greeting, err := orchestration.Activity(ctx, Greet, city).Await()
//			if err != nil {
//				return "", err
//			}
//			return greeting + " Come in!", nil
//		})
//
// # How it works
//
// Everything that the function asks for through its [Context] is recorded. When the process dies,
// or its worker drops the function from memory, the function runs again from its start, and the
// record answers each call that was made before. Completed steps are not repeated.
//
// # What a function must keep to
//
// The function must ask for the same things in the same order whenever it gets
// the same answers. So it must not read the clock, random numbers, environment,
// files or the network, start goroutines, block on Go's channels, or iterate over a
// map to decide what to do; it does such things in activities, or with [NewGUID],
// [UTCNow], [Timer], [Select], [Go], [Map] and [Channel]. Code that diverges from the record
// fails and reports what was expected and what it got.
//
// When the function has to wait, its turn ends. If its worker keeps the function in memory
// (CachedInstances in worker.Options), the next turn continues it. If not, its deferred calls
// run, in which recover returns nil, and the next turn runs it from its start. So a deferred
// call must ask for nothing. Clean up after the error instead, see [Saga].
package orchestration
