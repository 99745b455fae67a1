package define

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// maxColumns is how many columns a table may have.
const maxColumns = 1024

// builder makes the parts of one table.
type builder struct {
	*definer

	t         *schema.Table
	collation *value.Collation // of columns that say none
	// enlist are the new constraints, which have to be entered; none of variables and temporary tables, whose names
	// nobody else sees.
	enlist      []schema.Object
	nulls       map[*schema.Column]syntax.Nullability // what the definitions of the new columns say
	newlyStored bool                                  // a computed column is stored from now on
}

func (d *definer) newBuilder(t *schema.Table) *builder {
	b := &builder{definer: d, t: t, collation: d.db.Collation, nulls: map[*schema.Column]syntax.Nullability{}}
	if t.Temporary {
		b.collation = d.Server().Database("tempdb").Collation
	}
	return b
}

// fold is how names of columns are compared.
func (d *definer) fold(name string) string { return d.db.Fold(name) }

// column makes a column and appends it to the table. Its type is known afterwards unless it is computed.
func (b *builder) column(def *syntax.ColumnDef) (*schema.Column, error) {
	name := def.Name.Value
	switch {
	case b.t.Column(name, b.fold) != nil:
		return nil, fault.New(2705, name, b.t.Name)
	case len(b.t.Columns) >= maxColumns:
		return nil, fault.New(1702, name, b.t.Name, maxColumns)
	case def.Protection != "":
		return nil, b.unsupported(def.Span, "a column that is "+strings.ToLower(def.Protection))
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	c := &schema.Column{
		ID: b.t.NextColumnID(), Ordinal: len(b.t.Columns), Name: name, RowGUID: def.RowGUID, Sparse: def.Sparse,
	}
	b.nulls[c] = def.Null
	if err := b.generated(c, def); err != nil {
		return nil, err
	}
	if def.Computed != nil {
		c.Computed, c.Text, c.File = def.Computed, b.source(def.Computed), b.File()
		c.Persisted, c.Stored = def.Persisted, def.Persisted
		c.Nullable = def.Null != syntax.NullRefused
	} else if err := b.plainColumn(c, def); err != nil {
		return nil, err
	}
	b.t.Columns = append(slices.Clip(b.t.Columns), c)
	return c, nil
}

// plainColumn gives a column that is not computed its type and properties.
func (b *builder) plainColumn(c *schema.Column, def *syntax.ColumnDef) error {
	t, user, err := resolveType(b.db, def.Type, b.first(), typeOf{len(b.t.Columns) + 1, "column", c.Name})
	if err != nil {
		return err
	}
	if t.Kind == sqltype.Table || t.Kind == sqltype.Cursor {
		return fault.New(2715, len(b.t.Columns)+1, text(def.Type.Name))
	}
	if c.Type, err = collate(t, def.Collation, b.collation); err != nil {
		return err
	}
	c.UserType = user
	c.RowVersion = t.Kind == sqltype.RowVersion
	c.Nullable = b.nullable(c, def)
	if c.RowVersion && b.t.RowVersionColumn() != nil {
		return fault.New(2738, b.t.Name, c.Name)
	}
	if c.RowGUID && t.Kind != sqltype.UniqueIdentifier {
		return fault.New(2761)
	}
	if def.Identity {
		return b.identity(c, def)
	}
	return nil
}

// nullable says whether a column may be NULL. What isn't said depends on the type and on ANSI_NULL_DFLT_ON.
func (b *builder) nullable(c *schema.Column, def *syntax.ColumnDef) bool {
	switch {
	case def.Null == syntax.NullRefused:
		return false
	case def.Null == syntax.NullAllowed:
		return true
	case def.Identity, c.RowVersion, c.Generated != "", isSysname(def.Type) && c.UserType == nil:
		return false
	case c.UserType != nil:
		return c.UserType.Nullable
	default:
		return b.Option("ANSI_NULL_DFLT_OFF") != "ON"
	}
}

// identity makes a column the identity column of its table.
func (b *builder) identity(c *schema.Column, def *syntax.ColumnDef) error {
	switch {
	case b.t.Identity != nil:
		return fault.New(2744, b.t.Name)
	case !c.Type.IsExactInteger() && (c.Type.Kind != sqltype.Decimal || c.Type.Scale != 0), def.Null == syntax.NullAllowed && c.Nullable:
		if def.Null == syntax.NullAllowed {
			return fault.New(8147, c.Name, b.t.Name)
		}
		return fault.New(2749, c.Name)
	case def.Default != nil:
		return fault.New(1754, b.t.Name, c.Name)
	}
	id := &schema.Identity{Column: c.Ordinal, Seed: 1, Increment: 1}
	if def.Seed != "" {
		var ok bool
		if id.Seed, ok = inRange(def.Seed, c.Type); !ok {
			return fault.New(2752, c.Name)
		}
		if id.Increment, ok = inRange(def.Increment, c.Type); !ok || id.Increment == 0 {
			return fault.New(2753, c.Name)
		}
	}
	id.Next = id.Seed
	c.Identity, c.Nullable = true, false
	b.t.Identity = id
	return nil
}

// inRange reads a whole number and reports whether a type can hold it.
func inRange(text string, t Type) (int64, bool) {
	n, ok := new(big.Int).SetString(strings.TrimSuffix(text, "."), 10)
	if !ok || !n.IsInt64() {
		return 0, false
	}
	low, high := schema.Bounds(t)
	return n.Int64(), n.Int64() >= low && n.Int64() <= high
}

// source is the text of an expression in parentheses, as the catalog shows definitions.
func (d *definer) source(x syntax.Expr) string {
	s := strings.TrimSpace(d.File().Slice(x.Range()))
	if _, ok := x.(*syntax.Paren); ok {
		return s
	}
	return "(" + s + ")"
}

// env is what an expression of a table sees when it is compiled.
func (d *definer) env(file *diag.File, schemaName string) *binder.Env {
	return &binder.Env{Database: d.db, Server: d.Server(), File: file, Schema: schemaName}
}

// computed finds the types of the computed columns from the given one on.
func (b *builder) computed(from int) error {
	for _, c := range b.t.Columns[from:] {
		if c.Computed == nil {
			continue
		}
		for ref := range syntax.All[*syntax.ColumnRef](c.Computed) {
			other := b.t.Column(ref.Last().Value, b.fold)
			if other != nil && other.Computed != nil {
				return fault.New(1759, other.Name, b.t.Name)
			}
		}
		for range syntax.All[*syntax.Subquery](c.Computed) {
			return fault.New(1046)
		}
		x, err := planner.RowExpression(b.env(c.File, b.schemaName()), b.t, c.Computed)
		if err != nil {
			return err
		}
		c.Type, c.Nullable = x.Type, x.Nullable && c.Nullable
		if c.Type.IsCharacter() && c.Type.Collation == nil {
			c.Type.Collation = b.collation
		}
		if c.Persisted && !deterministic(c.Computed) {
			return fault.New(4936, c.Name, b.t.Name)
		}
	}
	return nil
}

// schemaName is that of the table's schema.
func (b *builder) schemaName() string {
	if b.t.Schema == nil {
		return b.first()
	}
	return b.t.Schema.Name
}

// wavering are the functions whose value isn't a matter of their arguments alone.
var wavering = strings.Fields(`
	GETDATE GETUTCDATE SYSDATETIME SYSUTCDATETIME SYSDATETIMEOFFSET CURRENT_TIMESTAMP CURRENT_USER SESSION_USER SYSTEM_USER
	USER NEWID NEWSEQUENTIALID RAND HOST_NAME HOST_ID APP_NAME SUSER_SNAME SUSER_NAME USER_NAME DB_NAME OBJECT_ID
	OBJECT_NAME SCOPE_IDENTITY IDENT_CURRENT SESSION_CONTEXT CONTEXT_INFO FORMAT DATENAME GET_TRANSMISSION_STATUS`)

// deterministic reports whether an expression yields the same for the same row every time.
func deterministic(x syntax.Expr) bool {
	for range syntax.All[*syntax.SystemVariable](x) {
		return false
	}
	for cast := range syntax.All[*syntax.Cast](x) {
		if strings.HasSuffix(cast.Func, "PARSE") {
			return false
		}
	}
	for call := range syntax.All[*syntax.Call](x) {
		if slices.Contains(wavering, strings.ToUpper(call.Name.Last().Value)) {
			return false
		}
	}
	return true
}

// attachDefault gives a column its DEFAULT.
func (b *builder) attachDefault(c *schema.Column, name *syntax.Ident, x syntax.Expr) error {
	switch {
	case c.Default != nil:
		return fault.New(1781)
	case c.Identity:
		return fault.New(1754, b.t.Name, c.Name)
	case c.RowVersion:
		return fault.New(1755, b.t.Name, c.Name)
	case c.Computed != nil:
		return fault.New(1752, c.Name, b.t.Name)
	}
	for ref := range syntax.All[*syntax.ColumnRef](x) {
		return fault.New(128, ref.Last().Value)
	}
	for range syntax.All[*syntax.Subquery](x) {
		return fault.New(1046)
	}
	if _, err := planner.Expression(b.env(b.File(), b.schemaName()), x); err != nil {
		return err
	}
	df := &schema.Default{Column: c.Ordinal, Expr: x, Text: b.source(x), File: b.File(), SystemNamed: name == nil}
	df.Header = b.constraintHeader("D", "DF", c.Name, name)
	c.Default = df
	b.t.Defaults = append(slices.Clip(b.t.Defaults), df)
	return b.constraint(df)
}

// constraintHeader makes the header of a constraint of the table.
func (b *builder) constraintHeader(kind, prefix, column string, name *syntax.Ident) schema.Header {
	h := b.header(kind, "", b.t.Schema)
	h.Parent = b.t.ID
	switch {
	case name != nil:
		h.Name = name.Value
	case kind == "PK" || kind == "UQ":
		h.Name = fmt.Sprintf("%s__%s__%s%s", prefix, clip(b.t.Name, 8), strings.ToUpper(hex(uint32(b.t.ID))),
			strings.ToUpper(hex(uint32(h.ID))))
	default:
		h.Name = generated(prefix, b.t.Name, column, h.ID)
	}
	return h
}

// constraint checks the name of a constraint and notes it for the catalog. Those of temporary tables and variables have
// names that nobody else sees.
func (b *builder) constraint(o schema.Object) error {
	if b.t.Temporary || b.t.Variable || b.t.Kind == "TT" {
		return nil
	}
	name := o.Head().Name
	if isTemporary(name) {
		return fault.New(8166, name)
	}
	for _, other := range b.enlist {
		if b.fold(other.Head().Name) == b.fold(name) {
			return followed(fault.New(2714, name), 1750)
		}
	}
	if b.fold(b.t.Name) == b.fold(name) {
		return followed(fault.New(2714, name), 1750)
	}
	if err := b.free(b.t.Schema, name); err != nil {
		return followed(err, 1750)
	}
	b.enlist = append(b.enlist, o)
	return nil
}
