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
// Everything that the function asks for through its Context is recorded in the history of its instance. When the
// process dies, or the worker drops the function from memory, the function runs again from its start. This is a
// replay: the history answers each call that was made before, and completed steps are not repeated.
//
// # What a function must keep to
//
// Given the same answers, the function must ask for the same things in the same order. It must not read the clock,
// random numbers, the environment, files or the network, start goroutines, block on Go's channels, or decide by the
// order of a map. Do such things in activities, or with [Context.NewGUID], [Context.UTCNow], [Context.Timer],
// [SelectAndDrop], [Go], [Map] and [Channel]. Code that diverges from its history fails and reports what was expected
// and what it got.
//
// When the function has to wait, its turn ends. If the worker keeps the function in memory (Cache in
// worker.Options), the next turn continues it. If not, the function's deferred calls run, with recover returning nil,
// and the next turn runs it from its start. A deferred call must therefore not use the Context. Clean up after an
// error instead, see [Saga].
package orchestration
