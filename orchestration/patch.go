package orchestration

// patchMarker begins the names of the waits that record patches.
const patchMarker = "duroxide:patched:"

// Patched allows code to change while instances of it run. It reports false in an execution that has already gone
// past this point, and true in all others. The history records the answer: the first call with an id decides for the
// whole execution.
//
//	if ctx.Patched("reserve-first") {
//		_, err = orchestration.Activity(ctx, reserve, item).Await()
//	}
//
// Remove the old path when no instance is left that began before the change. Remove the call when no instance is left
// that recorded it. The record is a wait for an event that is cancelled at once, so every Duroxide runtime can replay
// it. For larger changes use [Definition.WithVersion].
func (c *Context) Patched(id string) bool { return c.env.Patched(patchMarker + id) }
