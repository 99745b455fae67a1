package interleave

import (
	"sync"
	"testing"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Variant is what a database may be like.
type Variant struct {
	// RowVersions is READ_COMMITTED_SNAPSHOT.
	RowVersions bool
	// OptimizedLocking is as in Azure SQL Database.
	OptimizedLocking bool
	// OtherPlans says that scenarios are explored by other plans than the planner's, too: what is known to fail by
	// those does.
	OtherPlans bool
	// Amend is a script that is executed after the migrations. It may replace procedures.
	Amend string
}

// Lab is databases with the store's schema: an empty one, and the one that the matrix begins with. Scenarios use them
// one after the other; each finds its database as it was made.
type Lab struct {
	empty, world func() *tsqltest.Base
	defects      []Scenario // that are known, of the variant
}

// NewLab makes a lab, which ends with the test.
func NewLab(t testing.TB, v Variant) *Lab {
	t.Helper()
	// When they are wanted for the first time: they end with the lab.
	l := &Lab{
		empty: sync.OnceValue(func() *tsqltest.Base { return NewBase(t, v) }),
		world: sync.OnceValue(func() *tsqltest.Base { return newBase(t, v, world()) }),
	}
	for _, s := range defects() {
		if (!v.RowVersions || s.Known.VersionsToo) && (v.OtherPlans || s.Known.Exploration.Plans == 0) {
			l.defects = append(l.defects, s)
		}
	}
	return l
}

// NewBase is an empty database with the store's schema, for scenarios that are not of the list.
func NewBase(t testing.TB, v Variant) *tsqltest.Base {
	t.Helper()
	return newBase(t, v, "")
}

func newBase(t testing.TB, v Variant, script string) *tsqltest.Base {
	t.Helper()
	return tsqltest.NewBase(t, tsqltest.Options{RowVersions: v.RowVersions, OptimizedLocking: v.OptimizedLocking}, func(t testing.TB, s *tsqltest.Server) {
		t.Helper()
		if _, err := (&migrate.Migration{DB: s.DB()}).Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		apply(t, s, v.Amend)
		apply(t, s, script)
	})
}

func apply(t testing.TB, s *tsqltest.Server, script string) {
	t.Helper()
	if err := s.ApplyText(t.Context(), "", script); err != nil {
		t.Fatal(err)
	}
}

// Scenario is a scenario of the list, for the explorer.
func (l *Lab) Scenario(t testing.TB, s Scenario) tsqltest.Scenario {
	t.Helper()
	made := tsqltest.Scenario{Sessions: s.Sessions, Allow: s.Allow, NoStalls: s.noStalls}
	if s.world {
		made.Allow = append(made.Allow, deadlock) // the check looks at them
		made.Base = l.world()
		made.Check = l.serializable(s, l.orders(t, s))
		return made
	}
	made.Base = l.empty()
	made.Setup = func(t testing.TB, server *tsqltest.Server) {
		t.Helper()
		apply(t, server, s.Prepare)
	}
	made.Check = func(e *tsqltest.End) error {
		if err := sound(e); err != nil || s.Check == nil {
			return err
		}
		return s.Check(e)
	}
	return made
}
