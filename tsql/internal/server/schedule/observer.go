package schedule

import "hash/maphash"

// Observer is told what the session that runs does to what sessions share. An explorer learns from it which steps of
// two sessions are in each other's way. A thing is anything of which one session may notice what another one does; its
// changes are of up to 32 ways, and some of them may be made in either order.
type Observer interface {
	// Changed says that the session has changed a thing in a way. Against has a bit for each way whose changes must
	// stay before or behind this one.
	Changed(thing uint64, way uint8, against uint32)
	// Looked says that the session has seen which changes of some ways were made.
	Looked(thing uint64, ways uint32)
	// Refused is Looked where the answer was that the session may not have what it wants.
	Refused(thing uint64, ways uint32)
	// LookedAtAll says that the session has seen something of everybody.
	LookedAtAll()
	// Met says that the session has done something to another one, wherever that is.
	Met(other ID)
	// Wrote says that the session has come nearer to its end, whoever may notice.
	Wrote()
}

// Unobserved is an observer that does nothing.
type Unobserved struct{}

// Changed does nothing.
func (Unobserved) Changed(uint64, uint8, uint32) {}

// Looked does nothing.
func (Unobserved) Looked(uint64, uint32) {}

// Refused does nothing.
func (Unobserved) Refused(uint64, uint32) {}

// LookedAtAll does nothing.
func (Unobserved) LookedAtAll() {}

// Met does nothing.
func (Unobserved) Met(ID) {}

// Wrote does nothing.
func (Unobserved) Wrote() {}

var things = maphash.MakeSeed()

// Thing is the number of a thing that has a name.
func Thing[T comparable](name T) uint64 { return maphash.Comparable(things, name) }

// Always is for things whose changes must all stay in their order: the way is 0.
const Always = 1

// Things that are one in a server.
var (
	Clock    = Thing("clock")
	Waits    = Thing("waits")    // who waits for a lock
	Commits  = Thing("commits")  // which transactions have committed; way 0
	Versions = Thing("versions") // what is there though it may not be committed; way 0

	// Definitions are those of all databases.
	Definitions = Thing("definitions")
)
