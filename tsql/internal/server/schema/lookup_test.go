package schema_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		collation string
		same      bool // whether T and t are one name
	}{
		{"SQL_Latin1_General_CP1_CI_AS", true},
		{"Latin1_General_100_CI_AS_SC_UTF8", true},
		{"Latin1_General_CS_AS", false},
		{"Latin1_General_100_BIN2", false},
		{"Latin1_General_BIN", false},
	} {
		collation, ok := value.CollationByName(c.collation)
		if !ok {
			t.Errorf("%s is not known", c.collation)
			continue
		}
		s := schema.NewServer(collation, "work", value.Value{})
		db := s.Database("work")
		table := &schema.Table{Header: schema.Header{ID: s.NextObjectID(), Name: "T", Schema: db.Schema("dbo"), Kind: "U"}}
		db.Add(table)
		if got := db.Find("dbo", "t ", "") == schema.Object(table); got != c.same {
			t.Errorf("%s: t finds T: %t", c.collation, got)
		}
		if db.Find("", "T", "guest") != schema.Object(table) {
			t.Errorf("%s: T is not found without its schema", c.collation)
		}
		if db.CaseSensitive() == c.same {
			t.Errorf("%s: CaseSensitive is %t", c.collation, db.CaseSensitive())
		}
		db.Remove(table)
		if db.Find("dbo", "T", "") != nil || db.Object(table.ID) != nil {
			t.Errorf("%s: T is still there", c.collation)
		}
	}
}

func TestRolesOfRoles(t *testing.T) {
	t.Parallel()
	db := schema.NewServer(value.DefaultCollation, "work", value.Value{}).Database("work")
	inner, outer := &schema.Principal{Name: "inner", Role: true}, &schema.Principal{Name: "outer", Role: true}
	user := &schema.Principal{Name: "u"}
	for _, p := range []*schema.Principal{inner, outer, user} {
		db.AddPrincipal(p)
	}
	user.MemberOf[inner], inner.MemberOf[outer] = true, true
	outer.MemberOf[db.Principal("db_datareader")] = true
	for role, want := range map[*schema.Principal]bool{
		inner: true, outer: true, db.Principal("db_datareader"): true, db.Public(): true, db.Principal("db_owner"): false,
	} {
		if got := db.IsMember(user, role); got != want {
			t.Errorf("member of %s: %t", role.Name, got)
		}
	}
	if !db.IsMember(db.Dbo(), db.Principal("db_ddladmin")) || db.IsMember(db.Dbo(), inner) {
		t.Error("dbo is a member of the fixed roles, and of no others")
	}
}

func TestFacets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text                     string
		id                       int32
		length, precision, scale int
	}{
		{"int", 56, 4, 10, 0},
		{"nvarchar(50)", 231, 100, 0, 0},
		{"nvarchar(max)", 231, -1, 0, 0},
		{"varchar(7)", 167, 7, 0, 0},
		{"decimal(5, 2)", 106, 5, 5, 2},
		{"decimal(38, 0)", 106, 17, 38, 0},
		{"datetime2(3)", 42, 7, 23, 3},
		{"datetime2", 42, 8, 27, 7},
		{"time(0)", 41, 3, 8, 0},
		{"datetimeoffset(7)", 43, 10, 34, 7},
		{"uniqueidentifier", 36, 16, 0, 0},
		{"datetime", 61, 8, 23, 3},
		{"money", 60, 8, 19, 4},
		{"rowversion", 189, 8, 0, 0},
		{"bit", 104, 1, 1, 0},
	} {
		typ, err := value.ParseType(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if schema.TypeID(typ) != c.id || schema.MaxLength(typ) != c.length || schema.Precision(typ) != c.precision || schema.Scale(typ) != c.scale {
			t.Errorf("%s: %d %d %d %d", c.text, schema.TypeID(typ), schema.MaxLength(typ), schema.Precision(typ), schema.Scale(typ))
		}
	}
	if schema.TypeID(schema.Type{Type: sqltype.Type{Kind: sqltype.Table}}) != 243 {
		t.Error("the id of table types")
	}
}

// TestLeaving checks that a name which a transaction gives up is free for that transaction alone.
func TestLeaving(t *testing.T) {
	t.Parallel()
	db := schema.NewServer(value.DefaultCollation, "work", value.Value{}).Database("work")
	s := db.Schema("dbo")
	undone := s.Leave("T", schema.Leaving{ID: 7, Transaction: 1})
	if _, ok := s.LeavingName("t", 1); ok {
		t.Error("the transaction waits for itself")
	}
	l, ok := s.LeavingName("t", 2)
	if !ok || l.ID != 7 || len(db.Leaving(2)) != 1 || len(db.Leaving(1)) != 0 {
		t.Errorf("another transaction finds %v, %t", l, ok)
	}
	undone()
	if _, ok := s.LeavingName("t", 2); ok {
		t.Error("it is still leaving")
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	typ, err := value.ParseType("int")
	if err != nil {
		t.Fatal(err)
	}
	c := &schema.Column{Name: "id", Type: typ, Identity: true}
	id := &schema.Identity{Seed: 10, Increment: -5, Next: 10}
	id.Note(100) // above the counter, which counts down
	give := func() int64 {
		v, err := id.Give(c)
		if err != nil {
			t.Fatal(err)
		}
		return v.Int()
	}
	if a, b := give(), give(); a != 10 || b != 5 {
		t.Errorf("got %d and %d", a, b)
	}
	id.Note(-100)
	if got := give(); got != -105 {
		t.Errorf("after -100 comes %d", got)
	}
	id.Restart()
	if got := give(); got != 10 {
		t.Errorf("after a restart comes %d", got)
	}
}
