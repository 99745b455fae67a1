package orchestration

// patchMarker begins the names of the waits that record patches.
const patchMarker = "duroxide:patched:"

// Patched changes code in place, while instances of it run: it reports false in an execution that
// has already gone past this point, and true in all others, for which that is recorded. The first
// call with an id decides for the execution.
//
//	if orchestration.Patched(ctx, "reserve-first") {
//		_, err = orchestration.Activity(ctx, reserve, item).Await()
//	}
//
// Once no instance is left that began before the change, the old path can go; the call has to
// stay until none is left that recorded it. It is recorded as a wait for an event, which is
// given up at once, so that every Duroxide runtime replays it. For larger changes use
// [Definition.WithVersion].
func Patched(ctx *Context, id string) bool { return ctx.env.Patched(patchMarker + id) }
