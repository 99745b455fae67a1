package define

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// drop executes DROP.
func (d *definer) drop(s *syntax.Drop) error {
	if s.Kind == "INDEX" {
		return d.dropIndex(s)
	}
	if s.Kind == "DATABASE" {
		return d.dropDatabases(s)
	}
	for _, name := range s.Names {
		var err error
		switch s.Kind {
		case "TABLE":
			err = d.dropTable(name, s.IfExists)
		case "PROCEDURE", "FUNCTION", "VIEW", "TRIGGER", "SEQUENCE", "SYNONYM":
			err = d.dropObject(s.Kind, name, s.IfExists)
		case "TYPE":
			err = d.dropType(name, s.IfExists)
		case "SCHEMA":
			err = d.dropSchema(name, s.IfExists)
		case "ROLE", "USER":
			err = d.dropPrincipal(s.Kind, name, s.IfExists)
		case "LOGIN":
			err = d.dropLogin(name)
		case "STATISTICS":
			err = d.dropStatistics(name)
		default:
			err = d.unsupported(s.Span, "DROP "+s.Kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// kinds says which objects a DROP may drop, and what messages call them.
var kinds = map[string]struct {
	types []string
	what  string
}{
	"TABLE":     {[]string{"U"}, "table"},
	"PROCEDURE": {[]string{"P"}, "procedure"},
	"FUNCTION":  {[]string{"FN", "IF", "TF"}, "function"},
	"VIEW":      {[]string{"V"}, "view"},
	"TRIGGER":   {[]string{"TR"}, "trigger"},
	"SEQUENCE":  {[]string{"SO"}, "sequence object"},
	"SYNONYM":   {[]string{"SN"}, "synonym"},
}

// kindOf returns the word of DROP for an object.
func kindOf(o schema.Object) string {
	for word, kind := range kinds {
		if slices.Contains(kind.types, o.Head().Kind) {
			return word
		}
	}
	return ""
}

// victim finds what a DROP names, under a Sch-M lock; nil if it isn't there and need not be.
func (d *definer) victim(word string, name *syntax.ObjectName, ifExists bool) (schema.Object, error) {
	kind := kinds[word]
	missing := fault.New(3701, "drop", kind.what, text(name))
	o, err := d.claim(name)
	switch {
	case err != nil:
		return nil, err
	case o == nil && ifExists:
		return nil, nil //nolint:nilnil // nothing to drop
	case o == nil:
		return nil, missing
	case !slices.Contains(kind.types, o.Head().Kind):
		other := kindOf(o)
		if other == "" {
			return nil, missing
		}
		if ifExists && word == "TABLE" && other == "SYNONYM" {
			return nil, nil //nolint:nilnil // nothing to drop
		}
		return nil, fault.New(3705, word, text(name), text(name), kinds[other].what, "DROP "+other)
	case !d.mayDrop(o):
		return nil, missing
	}
	return o, nil
}

// mayDrop reports whether the user may drop an object: with CONTROL on it, or ALTER on its schema. A trigger takes
// ALTER on its table.
func (d *definer) mayDrop(o schema.Object) bool {
	if o.Head().Kind == "TR" {
		return d.mayObject("ALTER", o)
	}
	return d.mayObject("CONTROL", o) || d.maySchema("ALTER", o.Head().Schema)
}

// dropTable drops a table with its constraints and triggers.
func (d *definer) dropTable(name *syntax.ObjectName, ifExists bool) error {
	o, err := d.victim("TABLE", name, ifExists)
	if err != nil || o == nil {
		return err
	}
	t, ok := o.(*schema.Table)
	if !ok {
		return fault.New(3701, "drop", "table", text(name))
	}
	if t.Temporary {
		d.RemoveTemporary(t)
		d.undo(func() { d.AddTemporary(t) })
		return nil
	}
	if t.History != nil || t.HistoryOf != nil {
		return fault.New(13552, t.FullName())
	}
	for _, fk := range t.Referrers {
		if fk.Parent != t.ID {
			return fault.New(3726, text(name))
		}
	}
	b := d.newBuilder(t)
	for _, fk := range t.ForeignKeys {
		if fk.References == t {
			d.remove(fk)
			continue
		}
		if err := b.dropForeign(fk); err != nil {
			return err
		}
	}
	for _, part := range partsOf(t) {
		d.remove(part)
	}
	d.forget("OBJECT", t.ID)
	d.remove(t)
	return nil
}

// partsOf are the objects that go with their table, apart from foreign keys.
func partsOf(t *schema.Table) []schema.Object {
	var list []schema.Object
	for _, k := range t.Keys {
		list = append(list, k)
	}
	for _, ck := range t.Checks {
		list = append(list, ck)
	}
	for _, df := range t.Defaults {
		list = append(list, df)
	}
	for _, tr := range t.Triggers {
		list = append(list, tr)
	}
	return list
}

// dropObject drops a module, a sequence or a synonym.
func (d *definer) dropObject(word string, name *syntax.ObjectName, ifExists bool) error {
	o, err := d.victim(word, name, ifExists)
	if err != nil || o == nil {
		return err
	}
	if user := d.userOf(o); user != "" {
		return fault.New(3729, "DROP "+word, text(name), user)
	}
	if m, ok := o.(*schema.Module); ok && m.Temporary {
		d.RemoveTemporaryProcedure(m)
		d.undo(func() { d.AddTemporaryProcedure(m) })
		return nil
	}
	if o.Head().Kind == "TR" {
		is := func(m *schema.Module) bool { return m == o }
		switch on := d.db.Object(o.Head().Parent).(type) {
		case *schema.Table:
			set(d, &on.Triggers, slices.DeleteFunc(slices.Clone(on.Triggers), is))
		case *schema.Module:
			set(d, &on.Triggers, slices.DeleteFunc(slices.Clone(on.Triggers), is))
		}
	}
	if m, ok := o.(*schema.Module); ok {
		for _, trigger := range m.Triggers {
			d.remove(trigger)
		}
	}
	d.forget("OBJECT", o.Head().ID)
	d.remove(o)
	return nil
}

// userOf returns the name of a constraint or a computed column's table that can't do without an object; empty if there
// is none.
func (d *definer) userOf(o schema.Object) string {
	if kind := o.Head().Kind; kind == "P" || kind == "V" || kind == "TR" {
		return "" // no expression can name one, and a schema has many
	}
	for _, other := range d.db.Objects {
		t, ok := other.(*schema.Table)
		if !ok {
			continue
		}
		for _, df := range t.Defaults {
			if d.names(df.Expr, o, t) {
				return df.Name
			}
		}
		for _, ck := range t.Checks {
			if d.names(ck.Expr, o, t) {
				return ck.Name
			}
		}
		for _, c := range t.Columns {
			if c.Computed != nil && d.names(c.Computed, o, t) {
				return t.Name
			}
		}
	}
	return ""
}

// names reports whether an expression calls a function or takes values of a sequence.
func (d *definer) names(x syntax.Expr, o schema.Object, t *schema.Table) bool {
	is := func(n *syntax.ObjectName) bool {
		return d.fold(n.Last().Value) == d.fold(o.Head().Name) && d.db.Find(n.Schema(), n.Last().Value, t.Schema.Name) == o
	}
	for call := range syntax.All[*syntax.Call](x) {
		if len(call.Name.Parts) > 1 && is(call.Name) {
			return true
		}
	}
	for next := range syntax.All[*syntax.NextValue](x) {
		if is(next.Sequence) {
			return true
		}
	}
	return false
}

// dropIndex drops an index: "ix ON t" or, as of old, "t.ix".
func (d *definer) dropIndex(s *syntax.Drop) error {
	name, on := s.Names[0], s.On
	shown := name.Last().Value
	if on == nil {
		on = &syntax.ObjectName{Span: name.Span, Parts: name.Parts[:len(name.Parts)-1]}
	}
	shown = text(on) + "." + shown
	missing := fault.New(3701, "drop", "index", shown)
	o, err := d.claim(on)
	if err != nil {
		return err
	}
	t, ok := o.(*schema.Table)
	if !ok || !d.mayObject("ALTER", t) {
		if o == nil && s.IfExists {
			return nil
		}
		return missing
	}
	ix := t.Index(name.Last().Value, d.fold)
	switch {
	case ix == nil && s.IfExists:
		return nil
	case ix == nil:
		return missing
	case ix.Key != nil && ix.Key.Primary:
		return fault.New(3723, shown, "PRIMARY KEY")
	case ix.Key != nil:
		return fault.New(3723, shown, "UNIQUE KEY")
	}
	for _, fk := range t.Referrers {
		if fk.Key == ix {
			return fault.New(3723, shown, "FOREIGN KEY")
		}
	}
	if err := d.newBuilder(t).dropIndexOf(ix); err != nil {
		return err
	}
	d.modified(t)
	return nil
}

// dropType drops an alias or table type that nothing uses.
func (d *definer) dropType(name *syntax.ObjectName, ifExists bool) error {
	if err := d.enter(name); err != nil {
		return err
	}
	u := d.db.FindType(name.Schema(), name.Last().Value, d.first())
	control := func() bool {
		return d.db.May(d.user(), "CONTROL", schema.Securable{Class: "TYPE", ID: u.ID}) || d.maySchema("ALTER", u.Schema)
	}
	switch {
	case u == nil && ifExists:
		return nil
	case u == nil, !control():
		return fault.New(218, text(name))
	}
	if user := d.userOfType(u); user != "" {
		return fault.New(3732, text(name), user)
	}
	db := d.db
	db.RemoveType(u)
	d.undo(func() { db.AddType(u) })
	if u.Table != nil {
		d.remove(u.Table)
	}
	d.forget("TYPE", u.ID)
	return nil
}

// userOfType returns the name of a table or a module that uses a type; empty if there is none.
func (d *definer) userOfType(u *schema.UserType) string {
	var users []string
	name := d.fold(u.Name)
	for _, o := range d.db.Objects {
		switch o := o.(type) {
		case *schema.Table:
			if o != u.Table && slices.ContainsFunc(o.Columns, func(c *schema.Column) bool { return c.UserType == u }) {
				users = append(users, o.Name)
			}
		case *schema.Module:
			if slices.ContainsFunc(paramsOf(o.Stmt), func(p *syntax.Param) bool { return d.isType(p.Type, u, name, o.Schema.Name) }) {
				users = append(users, o.Name)
			}
		}
	}
	if len(users) == 0 {
		return ""
	}
	slices.SortFunc(users, strings.Compare)
	return users[0]
}

// isType reports whether a type that is written somewhere is this one, whose name is folded.
func (d *definer) isType(t *syntax.TypeName, u *schema.UserType, name, first string) bool {
	return d.fold(t.Name.Last().Value) == name && d.db.FindType(t.Name.Schema(), t.Name.Last().Value, first) == u
}

// paramsOf returns the parameters of a module.
func paramsOf(s syntax.Stmt) []*syntax.Param {
	switch s := s.(type) {
	case *syntax.CreateProcedure:
		return s.Params
	case *syntax.CreateFunction:
		return s.Params
	default:
		return nil
	}
}
