// Package orchestration defines orchestrations: plain Go functions whose progress
// survives crashes.
//
//	var HelloCities = orchestration.New("HelloCities",
//		func(ctx *orchestration.Context, cities []string) ([]string, error) {
//			var greetings []string
//			for _, city := range cities {
//				greeting, err := orchestration.Activity(ctx, Greet, city).Await()
//				if err != nil {
//					return nil, err
//				}
//				greetings = append(greetings, greeting)
//			}
//			return greetings, nil
//		})
//
// # How it works
//
// Whatever the function asks for through its [Context] is recorded. When the
// process dies, or its worker lets go of the function, it is run again from its start,
// and each call is answered from the record until the record ends; from there on the
// function goes on where it was. Nothing recorded is done a second time.
//
// # What a function must keep to
//
// The function must ask for the same things in the same order whenever it gets
// the same answers. So it must not read the clock, random numbers, environment,
// files or the network, start goroutines, block on channels, or iterate over a
// map to decide what to do; it does such things in activities, or with
// [NewGUID], [UTCNow], [Timer], [Join], [Select], [Go] and [Map]. Code that asks for something
// else than the record holds fails the orchestration with an error that says what
// was expected and what came.
//
// The function is left in the midst of a wait whenever it has nothing more to do for
// the moment. It goes on from there if its worker has kept it in memory (CachedInstances
// in worker.Options). If not, its deferred calls run, while recover sees nothing, and the
// next turn runs it from its start. So a deferred call may release what the function itself holds, and asks for nothing:
// clean-up that matters is an activity after the error.
package orchestration
