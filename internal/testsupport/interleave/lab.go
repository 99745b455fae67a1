package interleave

import (
	"testing"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/tsqltest"
)

// Variant is what a database may be like.
type Variant struct {
	// RowVersions is READ_COMMITTED_SNAPSHOT.
	RowVersions bool
	// Amend is a script that is executed after the migrations. It may replace procedures.
	Amend string
}

// Lab is a database with the store's schema. Scenarios use it one after the other; each finds it as it was made.
type Lab struct{ base *tsqltest.Base }

// NewLab makes a lab, which ends with the test.
func NewLab(t testing.TB, v Variant) *Lab {
	t.Helper()
	return &Lab{NewBase(t, v)}
}

// NewBase is a lab's database, for scenarios that are not of the list.
func NewBase(t testing.TB, v Variant) *tsqltest.Base {
	t.Helper()
	return tsqltest.NewBase(t, tsqltest.Options{RowVersions: v.RowVersions}, func(t testing.TB, s *tsqltest.Server) {
		t.Helper()
		if _, err := (&migrate.Migration{DB: s.DB()}).Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		apply(t, s, v.Amend)
	})
}

func apply(t testing.TB, s *tsqltest.Server, script string) {
	t.Helper()
	if err := s.ApplyText(t.Context(), "", script); err != nil {
		t.Fatal(err)
	}
}

// Scenario is a scenario of the list, for the explorer.
func (l *Lab) Scenario(_ testing.TB, s Scenario) tsqltest.Scenario {
	return tsqltest.Scenario{
		Base: l.base,
		Setup: func(t testing.TB, server *tsqltest.Server) {
			t.Helper()
			apply(t, server, s.Prepare)
		},
		Sessions: s.Sessions,
		Allow:    s.Allow,
		Check: func(e *tsqltest.End) error {
			if err := sound(e); err != nil || s.Check == nil {
				return err
			}
			return s.Check(e)
		},
	}
}
