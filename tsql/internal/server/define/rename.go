package define

import (
	"errors"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

var bigInt = Type{Type: sqltype.Type{Kind: sqltype.BigInt}}

var errNoConstant = errors.New("define: an argument that is no constant")

// argument is the text of a constant.
func argument(x syntax.Expr) (string, error) {
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Literal:
		return x.Value, nil
	case *syntax.Unary:
		s, err := argument(x.X)
		if x.Op == "-" {
			s = "-" + s
		}
		return s, err
	default:
		return "", errNoConstant
	}
}

// parseName reads a name out of a string. The second result says that it is none.
func parseName(s string) (*syntax.ObjectName, bool) {
	file := diag.NewFile("name", "DROP TABLE "+s)
	script, found := syntax.Parse(file)
	if len(found) > 0 || len(script.Batches) != 1 || len(script.Batches[0].Stmts) != 1 {
		return nil, true
	}
	drop, ok := script.Batches[0].Stmts[0].(*syntax.Drop)
	if !ok || len(drop.Names) != 1 {
		return nil, true
	}
	return drop.Names[0], false
}

// nameOf makes a name of its parts.
func nameOf(parts []string) *syntax.ObjectName {
	n := &syntax.ObjectName{}
	for _, p := range parts {
		n.Parts = append(n.Parts, syntax.Ident{Value: p, Quoted: true})
	}
	return n
}

// caution is what sp_rename says whenever it succeeds.
const caution = "Caution: Changing any part of an object name could break scripts and stored procedures."

// Rename is sp_rename: it gives an object, a column, an index or a type another name. parts are those of the old name;
// kind is empty if the name says enough.
func Rename(c Context, parts []string, to, kind string) error {
	d := &definer{Context: c, db: c.Database()}
	if err := checkName(to); err != nil {
		return err
	}
	if kind == "" {
		kind = d.kindOf(parts)
	}
	var err error
	switch strings.ToUpper(kind) {
	case "", "OBJECT":
		err = d.renameObject(parts, to, kind)
	case "COLUMN":
		err = d.renameColumn(parts, to)
	case "INDEX":
		err = d.renameIndex(parts, to)
	case "USERDATATYPE":
		err = d.renameType(parts, to)
	case "DATABASE":
		db := d.Server().Database(parts[len(parts)-1])
		if db == nil || !d.mayAlterDatabase(db) {
			return fault.New(15225, strings.Join(parts, "."), d.db.Name, kind)
		}
		return d.renameDatabase(db, to)
	default:
		return fault.New(15249, kind)
	}
	if err == nil {
		d.Message(15477, 10, caution)
	}
	return err
}

// kindOf finds out what a name stands for if it is no object: a column, an index or a type.
func (d *definer) kindOf(parts []string) string {
	if o, err := d.claim(nameOf(parts)); err == nil && o != nil {
		return ""
	}
	at := len(parts) - 1
	if t, err := d.tableBefore(parts, ""); err == nil {
		switch {
		case t.Column(parts[at], d.fold) != nil:
			return "COLUMN"
		case t.Index(parts[at], d.fold) != nil:
			return "INDEX"
		}
	}
	if n := nameOf(parts); d.db.FindType(n.Schema(), n.Last().Value, d.first()) != nil {
		return "USERDATATYPE"
	}
	return ""
}

// missing is the error for a name that stands for nothing.
func (d *definer) missing(parts []string, kind string) error {
	if kind == "" {
		kind = "(null)"
		return fault.New(15225, strings.Join(parts, "."), d.Database().Name, kind)
	}
	return fault.New(15248, kind)
}

// renameObject renames a table, a module, a constraint and the like.
func (d *definer) renameObject(parts []string, to, kind string) error {
	o, err := d.claim(nameOf(parts))
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Number == 911 || err == nil && o == nil {
		return d.missing(parts, kind) // what would be the database may be a schema
	}
	if err != nil {
		return err
	}
	h := o.Head()
	if !d.mayObject("ALTER", o) && !d.maySchema("ALTER", h.Schema) {
		return fault.New(15247)
	}
	if t, ok := o.(*schema.Table); ok && t.Temporary {
		return d.unsupported(diag.Span{}, "sp_rename of a temporary table")
	}
	if other := h.Schema.Objects[d.fold(to)]; other != nil && other != o {
		return fault.New(15335, to, "object")
	}
	if h.Parent != 0 {
		if err := d.Statement().LockSchema(d.db.ID, h.Parent, lock.SchM); err != nil {
			return err
		}
	}
	d.remove(o)
	set(d, &h.Name, to)
	d.add(o)
	switch o := o.(type) {
	case *schema.Table:
		set(d, &o.Data.Name, nameOfData(o))
	case *schema.Key:
		set(d, &o.Index.Name, to)
	}
	d.modified(o)
	return nil
}

// tableBefore finds the table that the parts before the last one name.
func (d *definer) tableBefore(parts []string, kind string) (*schema.Table, error) {
	if len(parts) < 2 {
		return nil, fault.New(15248, kind)
	}
	o, err := d.claim(nameOf(parts[:len(parts)-1]))
	if err != nil {
		return nil, err
	}
	t, ok := o.(*schema.Table)
	if !ok || !d.mayObject("ALTER", t) {
		return nil, fault.New(15248, kind)
	}
	return t, nil
}

// renameColumn renames a column of a table.
func (d *definer) renameColumn(parts []string, to string) error {
	t, err := d.tableBefore(parts, "COLUMN")
	if err != nil {
		return err
	}
	c := t.Column(parts[len(parts)-1], d.fold)
	if c == nil {
		return fault.New(15248, "COLUMN")
	}
	if t.History != nil || t.HistoryOf != nil {
		return d.unsupported(diag.Span{}, "sp_rename of a column of a table with a history")
	}
	if other := t.Column(to, d.fold); other != nil && other != c {
		return fault.New(15335, to, "COLUMN")
	}
	for _, dep := range d.newBuilder(t).dependents(c) {
		isText := !dep.isIndex && !dep.isKey && (c.Default == nil || dep.name != c.Default.Name)
		ix := t.Index(dep.name, d.fold)
		if isText || dep.isIndex && ix != nil && ix.Where != nil && d.mentions(ix.Where, c) {
			return fault.New(15336, strings.Join(parts, "."))
		}
	}
	set(d, &c.Name, to)
	d.modified(t)
	return nil
}

// renameIndex renames an index; that of a key is renamed with it.
func (d *definer) renameIndex(parts []string, to string) error {
	t, err := d.tableBefore(parts, "INDEX")
	if err != nil {
		return err
	}
	ix := t.Index(parts[len(parts)-1], d.fold)
	if ix == nil {
		return fault.New(15248, "INDEX")
	}
	if other := t.Index(to, d.fold); other != nil && other != ix {
		return fault.New(15335, to, "INDEX")
	}
	if ix.Key != nil {
		return d.renameObject([]string{t.Schema.Name, ix.Key.Name}, to, "INDEX")
	}
	set(d, &ix.Name, to)
	d.modified(t)
	return nil
}

// renameType renames an alias or table type.
func (d *definer) renameType(parts []string, to string) error {
	n := nameOf(parts)
	u := d.db.FindType(n.Schema(), n.Last().Value, d.first())
	if u == nil {
		return fault.New(15248, "USERDATATYPE")
	}
	if d.db.FindType(u.Schema.Name, to, "") != nil {
		return fault.New(15335, to, "USERDATATYPE")
	}
	db := d.db
	db.RemoveType(u)
	d.undo(func() { db.AddType(u) })
	set(d, &u.Name, to)
	db.AddType(u)
	d.undo(func() { db.RemoveType(u) })
	return nil
}
