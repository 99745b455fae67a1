package define

import (
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// maxName is how many characters a name may have, and maxTempName one of a temporary table.
const (
	maxName     = 128
	maxTempName = 116
)

// text is a name as it is written.
func text(n *syntax.ObjectName) string { return syntax.Dotted(n.Parts) }

// part is the part of a name before its own one by n; empty if it isn't written.
func part(n *syntax.ObjectName, before int) string {
	i := len(n.Parts) - 1 - before
	if i < 0 {
		return ""
	}
	return n.Parts[i].Value
}

// isTemporary reports whether a name is that of a temporary table.
func isTemporary(name string) bool { return strings.HasPrefix(name, "#") }

// enter makes the database of a name the one that the statement changes.
func (d *definer) enter(n *syntax.ObjectName) error {
	if part(n, 3) != "" {
		return d.unsupported(n.Span, "a linked server")
	}
	name := part(n, 2)
	if name == "" {
		return nil
	}
	db := d.Server().Database(name)
	if db == nil {
		return fault.New(911, name)
	}
	if db != d.Database() && db.UserOf(d.Login()) == nil {
		return fault.New(916, d.Login().Name, name)
	}
	d.db = db
	return nil
}

// first is the schema in which a name without one is looked for first.
func (d *definer) first() string {
	if d.db == d.Database() {
		return d.Schema()
	}
	return d.user().DefaultSchema
}

// find returns the object of a name; nil if there is none. The database of the name becomes that of the statement.
func (d *definer) find(n *syntax.ObjectName) (schema.Object, error) {
	if name := n.Last().Value; isTemporary(name) {
		return d.findTemporary(name), nil
	}
	if err := d.enter(n); err != nil {
		return nil, err
	}
	return d.db.Find(n.Schema(), n.Last().Value, d.first()), nil
}

// findTemporary returns the temporary object of a name; nil if there is none.
func (d *definer) findTemporary(name string) schema.Object {
	if t := d.Temporary(name, false); t != nil {
		if t.Global != 0 {
			d.db, d.global = t.Schema.Database, true
		}
		return t
	}
	if m := d.TemporaryProcedure(name); m != nil {
		d.db, d.global = m.Schema.Database, m.Global != 0
		return m
	}
	return nil
}

// claim returns the object of a name under a Sch-M lock; nil if there is none, or if the user may not alter it. What
// was another object before the wait for the lock is looked up again.
func (d *definer) claim(n *syntax.ObjectName) (schema.Object, error) {
	for {
		o, err := d.find(n)
		if err == nil && o == nil {
			var again bool
			if again, err = d.returns(n); again {
				continue
			}
		}
		if err != nil || o == nil || !d.db.Visible(d.user(), o) {
			return nil, err
		}
		if err := d.lock(o); err != nil {
			return nil, err
		}
		if again, err := d.find(n); err != nil || again == o {
			return o, err
		}
	}
}

// returns waits for the end of another transaction that has dropped what a name stood for. It reports whether the name
// has to be looked up again.
func (d *definer) returns(n *syntax.ObjectName) (bool, error) {
	if n.IsTemp() {
		return false, nil
	}
	names := []string{n.Schema()}
	if names[0] == "" {
		names = []string{d.first(), "dbo"}
	}
	for _, name := range names {
		if s := d.db.Schema(name); s != nil {
			if waited, err := d.awaitName(s, n.Last().Value); waited || err != nil {
				return waited, err
			}
		}
	}
	return false, nil
}

// awaitName waits until it is known whether a name that another transaction has given up comes back.
func (d *definer) awaitName(s *schema.Schema, name string) (waited bool, err error) {
	l, ok := s.LeavingName(name, d.Store().TransactionID())
	if !ok {
		return false, nil
	}
	if err := d.Statement().LockSchema(d.db.ID, l.ID, lock.SchS); err != nil {
		return false, err
	}
	s.Left(name, l)
	return true, nil
}

// claimTable is claim for a table that the user may alter. number is the error if there is none.
func (d *definer) claimTable(n *syntax.ObjectName, number int32) (*schema.Table, error) {
	o, err := d.claim(n)
	if err != nil {
		return nil, err
	}
	t, ok := o.(*schema.Table)
	switch {
	case o != nil && !ok && number == 4902:
		return nil, fault.New(4909, n.Last().Value)
	case !ok || !d.mayObject("ALTER", t):
		return nil, fault.New(number, text(n))
	}
	return t, nil
}

// place finds the schema of a new object and checks that its name is free. The user needs a permission on the database,
// unless it is empty, and one on the schema.
func (d *definer) place(n *syntax.ObjectName, permission, onSchema string) (*schema.Schema, error) {
	if err := d.enter(n); err != nil {
		return nil, err
	}
	if permission != "" {
		if err := d.needs(permission); err != nil {
			return nil, err
		}
	}
	s, err := d.schemaOf(n.Schema(), onSchema)
	if err != nil {
		return nil, err
	}
	return s, d.free(s, n.Last().Value)
}

// schemaOf finds the schema that something new is to be in.
func (d *definer) schemaOf(name, permission string) (*schema.Schema, error) {
	if name == "" {
		name = d.first()
	}
	s := d.db.Schema(name)
	if s == nil || !d.maySchema(permission, s) {
		return nil, fault.New(2760, name)
	}
	if s.Name == "sys" || s.Name == "INFORMATION_SCHEMA" {
		return nil, fault.New(2760, name)
	}
	return s, nil
}

// free returns error 2714 if a name is taken in a schema. An object that another transaction has just made is waited
// for: it may yet be undone.
func (d *definer) free(s *schema.Schema, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	for {
		if waited, err := d.awaitName(s, name); waited || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		o := s.Objects[d.db.Fold(name)]
		if o == nil {
			return nil
		}
		if err := d.Statement().LockSchema(d.db.ID, waited(o), lock.SchS); err != nil {
			return err
		}
		if s.Objects[d.db.Fold(name)] == o {
			return fault.New(2714, o.Head().Name)
		}
	}
}

// waited is the id under which an object is locked: constraints are locked with their table.
func waited(o schema.Object) int32 {
	h := o.Head()
	if h.Parent != 0 && h.Kind != "TR" {
		return h.Parent
	}
	return h.ID
}

// checkName returns error 103 for a name that is too long.
func checkName(name string) error {
	limit := maxName
	if isTemporary(name) {
		limit = maxTempName
	}
	if value.UTF16Len(name) > limit {
		return fault.New(103, "identifier", name, limit)
	}
	return nil
}

// generated makes a name as SQL Server does for a constraint that has none: PK__orders__3213E83F.
func generated(prefix, table, column string, id int32) string {
	name := prefix + "__" + clip(table, 9)
	if column != "" {
		name += "__" + clip(column, 5)
	}
	return name + "__" + strings.ToUpper(hex(uint32(id)))
}

func clip(s string, n int) string {
	runes := []rune(s)
	return string(runes[:min(n, len(runes))])
}

func hex(n uint32) string {
	const digits = "0123456789abcdef"
	var b [8]byte
	for i := range b {
		b[7-i] = digits[n&15]
		n >>= 4
	}
	return string(b[:])
}

// datetime is a time as the catalog holds it.
func datetime(t time.Time) value.Value {
	return value.FromTime(t, Type{Type: sqltype.Type{Kind: sqltype.DateTime}})
}

// unquote returns what an option's value says: of a string or a quoted name, the content.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "N'") {
		s = s[1:]
	}
	if len(s) < 2 {
		return s
	}
	switch inner := s[1 : len(s)-1]; {
	case s[0] == '\'' && s[len(s)-1] == '\'':
		return strings.ReplaceAll(inner, "''", "'")
	case s[0] == '[' && s[len(s)-1] == ']':
		return strings.ReplaceAll(inner, "]]", "]")
	case s[0] == '"' && s[len(s)-1] == '"':
		return strings.ReplaceAll(inner, `""`, `"`)
	}
	return s
}
