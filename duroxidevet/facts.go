package duroxidevet

import (
	"go/token"
	"go/types"
)

// hazard is a piece of code that a replay does not repeat.
type hazard struct {
	span

	// kind groups findings; it is the diagnostic's category and the heading in the documents.
	kind string
	// what says what the code does, such as "time.Now reads the clock".
	what string
	// instead says what to do.
	instead string
	// weak is what proves nothing in a helper of another module, which may lock its cache and still
	// always give the same answer.
	weak bool
	// direct is what counts only in an orchestration function itself, not in its helpers.
	direct bool
	fixes  []fix
}

// hazardFact is a function that does what a replay does not repeat, or calls one that does.
type hazardFact struct {
	Kind, What, Instead string
	// Where is the file and the line.
	Where string
	// Via are the functions between this one and the hazard.
	Via  []string
	Weak bool
	// Module is the module of the function.
	Module string
	// Orchestration is a function that gets the context, and so has its findings itself.
	Orchestration bool
}

// schedulesFact is a function that asks for something through the context.
type schedulesFact struct{}

// activityFact is a function that is the body of an activity.
type activityFact struct{ Definition string }

// mutableFact is a variable that its package writes.
type mutableFact struct{ Where string }

// AFact marks the type as a fact.
func (*hazardFact) AFact() {}

// AFact marks the type as a fact.
func (*schedulesFact) AFact() {}

// AFact marks the type as a fact.
func (*activityFact) AFact() {}

// AFact marks the type as a fact.
func (*mutableFact) AFact() {}

func (f *hazardFact) String() string { return f.Kind }

func (*schedulesFact) String() string { return "schedules" }

func (*activityFact) String() string { return "activity" }

func (*mutableFact) String() string { return "mutable" }

// call is a use of a function.
type call struct {
	span

	callee types.Object
	// called is false for a function that is used as a value.
	called bool
	fixes  []fix
}

// module is the path of the package's module.
func (c *checker) module() string {
	if c.Module == nil {
		return ""
	}
	return c.Module.Path
}

// where is a place as a short text.
func (c *checker) where(pos token.Pos) string {
	return placeOf(c.Fset.Position(pos))
}
