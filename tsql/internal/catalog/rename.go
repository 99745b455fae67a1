package catalog

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// renames reports whether a call is one of a procedure of the server that changes names or types.
func renames(s *syntax.Exec) bool {
	return s.Name != nil && slices.Contains([]string{"sp_rename", "sp_addtype", "sp_droptype"},
		Fold(s.Name.Last().Value))
}

// arguments evaluates the arguments of a procedure of the server: those at the places of names. One that is left out,
// or is NULL, is "". It is false, with a note, if one isn't known.
func (b *builder) arguments(s *syntax.Exec, names ...string) ([]string, bool) {
	values := make([]string, len(names))
	for i, name := range names {
		x := argumentNamed(s, i, name)
		if l, ok := x.(*syntax.Literal); x == nil || ok && (l.Kind == syntax.NullLiteral || l.Kind == syntax.DefaultLiteral) {
			continue
		}
		values[i] = b.known.Text(x)
		if HasHole(values[i]) {
			last := s.Name.Last().Value
			b.unread("the argument " + name + " of " + last + " is not known")
			return nil, false
		}
	}
	return values, true
}

// namePart is a part of a qualified name with the point behind it.
var namePart = regexp.MustCompile(`^\s*(?:\[((?:[^\]]|\]\])*)\]|"((?:[^"]|"")*)"|([^.\[\]"]*?))\s*(\.|$)`)

// qualified reads a name with its qualifiers out of a string; nil if it is none. Words that are reserved in statements
// are names there.
func qualified(text string) *syntax.ObjectName {
	name := &syntax.ObjectName{}
	for rest, more := text, true; more; {
		m := namePart.FindStringSubmatch(rest)
		if m == nil {
			return nil
		}
		value := cmp.Or(strings.ReplaceAll(m[1], "]]", "]"), strings.ReplaceAll(m[2], `""`, `"`), m[3])
		name.Parts = append(name.Parts, syntax.Ident{Value: value})
		rest, more = rest[len(m[0]):], m[4] == "."
	}
	if name.Last().Value == "" {
		return nil
	}
	return name
}

// rename is sp_rename. The new name is taken as it is written, brackets included.
//
//	EXEC sp_rename N'dbo.orders.note', N'remark', N'COLUMN'
func (b *builder) rename(s *syntax.Exec) {
	args, ok := b.arguments(s, "@objname", "@newname", "@objtype")
	if !ok {
		return
	}
	kind, to := strings.ToUpper(args[2]), args[1]
	if kind == "DATABASE" || kind == "STATISTICS" {
		return
	}
	old := qualified(args[0])
	if old == nil || to == "" {
		b.fail(s.Span, "name it as schema.name", "sp_rename: %s is not the name of an object", args[0])
		return
	}
	if kind == "" && b.isColumn(old) {
		kind = "COLUMN"
	}
	switch kind {
	case "COLUMN", "INDEX":
		if len(old.Parts) < 2 {
			b.fail(s.Span, "name it as schema.table.name", "sp_rename: the table of %s is missing", args[0])
			return
		}
		at := len(old.Parts) - 1
		table := &syntax.ObjectName{Span: s.Name.Span, Parts: old.Parts[:at]}
		if e := b.edit(table, kind == "INDEX"); e != nil {
			e.rename(s.Name.Span, kind, old.Parts[at].Value, to, b.guard != nil)
			if kind == "COLUMN" && len(e.found) == 0 {
				e.t.Changed = b.changed(e.t.Name, s.Name.Span)
			}
			b.found = append(b.found, e.found...)
		}
	case "", "OBJECT", "USERDATATYPE":
		old.Span = s.Name.Span
		b.renameObject(old, to, kind == "USERDATATYPE")
	default:
		b.fail(s.Span, "use COLUMN, INDEX, OBJECT or USERDATATYPE", "sp_rename: %s is not a type of object", args[2])
	}
}

// isColumn reports whether a name is that of a column and of nothing else, so that sp_rename needs no type to find it.
func (b *builder) isColumn(name *syntax.ObjectName) bool {
	at := len(name.Parts) - 1
	if at < 1 {
		return false
	}
	if full, err := b.c.Resolve(name); err == nil && b.c.object(full) != nil {
		return false
	}
	full, err := b.c.Resolve(&syntax.ObjectName{Parts: name.Parts[:at]})
	if err != nil {
		return false
	}
	table, ok := b.c.object(full).(*Table)
	return ok && table.Column(name.Parts[at].Value) != nil
}

// rename gives a column or an index of the table another name.
func (e *editor) rename(at diag.Span, kind, old, to string, tolerant bool) {
	if kind == "INDEX" {
		e.renameKey(old, to)
		return
	}
	col := e.t.Column(old)
	switch other := e.t.Column(to); {
	case col == nil && tolerant:
		return
	case col == nil:
		e.unknownColumn(syntax.Ident{Span: at, Value: old})
		return
	case other != nil && other != col:
		e.fail(at, "choose another name", "%s has a column %s", e.t.Name.Name, other.Name)
		return
	}
	was := col.Name
	col.Name = to
	replace := func(list []string) {
		for i := range list {
			if list[i] == was {
				list[i] = to
			}
		}
	}
	for i := range e.t.Indexes {
		replace(e.t.Indexes[i].Columns)
		replace(e.t.Indexes[i].Include)
	}
	for _, k := range append(slices.Clone(e.t.Keys), e.t.disabled...) {
		replace(k.Columns)
	}
}

// renameKey gives a key or an index another name, and reports whether there is one. Other constraints leave no trace.
func (e *editor) renameKey(old, to string) bool {
	i := e.t.indexNamed(old)
	if i < 0 {
		return false
	}
	e.t.Indexes[i].Name = to
	for _, keys := range [][]Key{e.t.Keys, e.t.disabled} {
		for j := range keys {
			if Fold(keys[j].Name) == Fold(old) {
				keys[j].Name = to
			}
		}
	}
	return true
}

// renameObject gives an object or a type another name in its schema.
func (b *builder) renameObject(old *syntax.ObjectName, to string, isType bool) {
	name, ok := b.resolve(old)
	if !ok || b.move(old, name, Name{Schema: name.Schema, Name: to}, isType) || !isType && b.renameOther(name, to) || b.guard != nil {
		return
	}
	// Constraints whose names the server made are not known either.
	b.unread("there is no " + name.String() + " that sp_rename could rename")
}

// transfer is ALTER SCHEMA sales TRANSFER dbo.orders.
func (b *builder) transfer(s *syntax.AlterSchema) {
	if s.Class != "" && s.Class != "OBJECT" && s.Class != "TYPE" {
		return
	}
	name, ok := b.resolve(s.Object)
	if !ok || b.move(s.Object, name, Name{Schema: s.Name.Value, Name: name.Name}, s.Class == "TYPE") || b.guard != nil {
		return
	}
	b.fail(s.Object.Span, "create it before, in this script or an earlier one", "there is no %s to transfer", name)
}

// move gives an object or a type another full name, and reports whether there is one of the old name.
func (b *builder) move(at *syntax.ObjectName, old, to Name, isType bool) bool {
	find := b.c.object
	if isType {
		find = b.c.typeObject
	}
	o := find(old)
	if o == nil {
		return false
	}
	if other := find(to); other != nil && other != o {
		b.fail(at.Span, "choose another name", "%s is %s, defined at %s", to, sortOf(other), position(other))
		return true
	}
	b.c.rename(o, to)
	if isType {
		b.c.renamed[old.Key()] = to
		return true
	}
	b.definitions[to.Key()] = b.definitions[old.Key()]
	if to.Key() != old.Key() {
		delete(b.definitions, old.Key())
	}
	for _, t := range b.c.Triggers {
		if t.Table.Key() == old.Key() {
			t.Table, t.Name.Schema = to, to.Schema
		}
	}
	return true
}

// renameOther renames what the catalog has no object for, a trigger, a history table or a constraint, and reports
// whether there is one.
func (b *builder) renameOther(name Name, to string) bool {
	for _, t := range b.c.Triggers {
		if t.Name.Key() == name.Key() {
			t.Name.Name = to
			return true
		}
	}
	for i := range b.histories {
		if b.histories[i].name.Key() == name.Key() {
			b.histories[i].name.Name = to
			return true
		}
	}
	for _, t := range b.c.Tables {
		e := &editor{t: t}
		if Fold(t.Name.Schema) != Fold(name.Schema) {
			continue
		}
		if i := slices.IndexFunc(t.constraints, func(c string) bool { return Fold(c) == Fold(name.Name) }); i >= 0 {
			t.constraints[i] = to
			return true
		}
		if e.renameKey(name.Name, to) {
			return true
		}
	}
	return false
}

// rename enters an object under another name, at its place in the order.
func (c *Catalog) rename(o Object, to Name) {
	at := slices.Index(c.Order, o)
	c.remove(o)
	switch o := o.(type) {
	case *Table:
		o.Name = to
	case *AliasType:
		o.Name = to
	case *View:
		o.Name = to
	case *Function:
		o.Name = to
	case *Procedure:
		o.Name = to
	case *Sequence:
		o.Name = to
	case *Synonym:
		o.Name = to
	}
	c.add(o)
	c.Order = slices.Insert(c.Order[:len(c.Order)-1], at, o)
}

// addType is sp_addtype, the old form of CREATE TYPE … FROM:
//
//	EXEC sp_addtype 'email', 'varchar(254)', 'NOT NULL'
func (b *builder) addType(s *syntax.Exec) {
	args, ok := b.arguments(s, "@typename", "@phystype", "@nulltype")
	if !ok {
		return
	}
	file := diag.NewPart(b.script.File, s.From, args[1])
	from, _, found := syntax.ParseType(file, diag.Span{To: diag.Pos(len(args[1]))})
	if args[0] == "" || len(found) > 0 || from == nil {
		b.fail(s.Span, "pass a name and a built-in type", "sp_addtype: %s is not a type", args[1])
		return
	}
	base, err := b.c.baseType(from, args[1])
	if err != nil {
		b.fail(s.Span, Advice(err), "sp_addtype: %v", err)
		return
	}
	null := strings.ToUpper(strings.Join(strings.Fields(args[2]), " "))
	notNull := null == "NOT NULL" || null == "NONULL" || null == "" && sqltype.IsSysname(typeText(from))
	name := Name{Schema: b.c.DefaultSchema, Name: args[0]}
	b.define(&AliasType{Place: b.place(s.Name), Name: name, Type: base, NotNull: notNull}, create)
}

// bindDefault is sp_bindefault, which binds a default to an alias type or a column, and sp_unbindefault:
//
//	EXEC sp_bindefault 'dbo.today', 'dbo.orders.placed'
func (b *builder) bindDefault(object syntax.Expr, bound bool) {
	if object == nil {
		return
	}
	text := b.known.Text(object)
	name := qualified(text)
	if HasHole(text) || name == nil {
		return
	}
	parts := make([]string, len(name.Parts))
	for i, p := range name.Parts {
		parts[i] = Fold(p.Value)
	}
	// A name of one part is that of a type; one of two is that of a type as well, or of a column.
	if len(parts) < 3 {
		b.defaults[strings.Join(append([]string{Fold(b.c.DefaultSchema)}, parts...), ".")] = bound
	}
	b.defaults[strings.Join(parts, ".")] = bound
}

// bindDefaults tells the columns that a default is bound to. One that is bound to a type counts for the columns of the
// type, whatever the order of the scripts.
func (b *builder) bindDefaults() {
	for _, t := range b.c.Tables {
		for i := range t.Columns {
			c := &t.Columns[i]
			c.HasDefault = c.HasDefault || c.alias != "" && b.defaults[c.alias] || b.defaults[t.Name.Key()+"."+Fold(c.Name)]
		}
	}
}

// dropType is sp_droptype, the old form of DROP TYPE.
func (b *builder) dropType(s *syntax.Exec) {
	args, ok := b.arguments(s, "@typename")
	if !ok {
		return
	}
	if o := b.c.typeObject(Name{Schema: b.c.DefaultSchema, Name: args[0]}); o != nil {
		b.c.remove(o)
	} else if b.guard == nil {
		b.fail(s.Span, "remove the statement", "there is no type %s to drop", args[0])
	}
}
