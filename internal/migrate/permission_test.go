package migrate

import (
	"errors"
	"strings"
	"testing"
)

// TestUnreadable has a login that may not read modules told so, rather than that they were all edited.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	read, hidden := storedModule{checksum: []byte{1}}, storedModule{}
	for name, test := range map[string]struct {
		recorded bool
		stored   map[string]storedModule
		want     bool
	}{
		"no schema":        {false, nil, false},
		"all read":         {true, map[string]storedModule{"a": read, "b": read}, false},
		"one encrypted":    {true, map[string]storedModule{"a": read, "b": hidden}, false},
		"nothing readable": {true, map[string]storedModule{"a": hidden, "b": hidden}, true},
		"nothing shown":    {true, nil, true},
	} {
		if got := (&state{recorded: test.recorded, stored: test.stored}).isUnreadable(); got != test.want {
			t.Errorf("%s: unreadable is %t", name, got)
		}
	}
	err := (&Migration{Schema: "it's"}).forbidden(errUnreadable)
	if !errors.Is(err, ErrPermission) || !errors.Is(err, errUnreadable) || !strings.Contains(err.Error(), "[it's]") {
		t.Errorf("%v; want one that matches ErrPermission and names the schema", err)
	}
}

// TestOnlyAnOwnerMigrates asks for every part of a migration with a login that has no rights, and finds nothing made.
func TestOnlyAnOwnerMigrates(t *testing.T) {
	t.Parallel()
	owner, other := newMigration(t, releaseOne.load(t)), newMigration(t, releaseOne.load(t))
	up(t, owner)
	_, db := newLogin(t)
	stranger := func(m *Migration) *Migration { return &Migration{DB: db, Schema: m.Schema, Scripts: m.Scripts} }

	done, err := stranger(other).Up(t.Context())
	if !errors.Is(err, ErrPermission) || !strings.Contains(err.Error(), "member of db_owner") || !done.Empty() {
		t.Errorf("Up: %v after %v, want ErrPermission and nothing done", err, done)
	}
	plan, err := other.Plan(t.Context())
	must(t, err)
	if plan.Empty() {
		t.Error("Up without rights has made the schema")
	}
	// Where a stranger sees the schema at all, it may not look into it.
	_, err = stranger(owner).Status(t.Context())
	if err != nil && !errors.Is(err, ErrPermission) {
		t.Errorf("Status: %v, want ErrPermission", err)
	}
	clean(t, owner)
}
