package define

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// attachForeign adds a FOREIGN KEY. Those of temporary tables are left out, as SQL Server does; table variables and
// types can't have any.
func (b *builder) attachForeign(k *syntax.Constraint, column *schema.Column, check string) error {
	if b.t.Temporary {
		b.Message(0, 0, "Skipping FOREIGN KEY constraint definition for temporary table. FOREIGN KEY constraints are not "+
			"enforced on local or global temporary tables.")
		return nil
	}
	if b.t.Variable || b.t.Kind == "TT" {
		return fault.New(102, "REFERENCES")
	}
	fk := &schema.ForeignKey{OnDelete: "NO ACTION", OnUpdate: "NO ACTION", SystemNamed: k.Name == nil, Untrusted: check == "NOCHECK"}
	columnName := ""
	if column != nil {
		columnName = column.Name
	}
	fk.Header = b.constraintHeader("F", "FK", columnName, k.Name)
	for _, o := range k.Options {
		switch o.Name {
		case "ON DELETE":
			fk.OnDelete = o.Value
		case "ON UPDATE":
			fk.OnUpdate = o.Value
		}
	}
	if err := b.referring(fk, k, column); err != nil {
		return followed(err, 1750)
	}
	if err := b.referredTo(fk, k); err != nil {
		return err
	}
	if err := b.actions(fk); err != nil {
		return followed(err, 1750)
	}
	b.t.ForeignKeys = append(slices.Clip(b.t.ForeignKeys), fk)
	fk.References.Referrers = append(slices.Clip(fk.References.Referrers), fk)
	return b.constraint(fk)
}

// referring finds the columns that refer.
func (b *builder) referring(fk *schema.ForeignKey, k *syntax.Constraint, column *schema.Column) error {
	if column != nil {
		fk.Columns = []int{column.Ordinal}
	}
	for _, c := range k.Columns {
		found := b.t.Column(c.Name.Value, b.fold)
		if found == nil {
			return fault.New(1769, fk.Name, c.Name.Value, b.t.Name)
		}
		fk.Columns = append(fk.Columns, found.Ordinal)
	}
	for _, ordinal := range fk.Columns {
		if c := b.t.Columns[ordinal]; c.Computed != nil && !c.Persisted {
			return fault.New(1764, c.Name, b.t.Name, fk.Name)
		}
	}
	return nil
}

// referredTo finds the table and the unique index that the key refers to. The table gets a Sch-M lock: its plans have
// to look for rows that refer to it from now on.
func (b *builder) referredTo(fk *schema.ForeignKey, k *syntax.Constraint) error {
	t, err := b.referred(fk, k.References)
	if err != nil {
		return err
	}
	fk.References = t
	columns := k.Referenced
	if len(columns) == 0 {
		pk := t.PrimaryKey()
		if pk == nil {
			return followed(fault.New(1773, fk.Name, t.Name), 1750)
		}
		for _, c := range pk.Index.Columns {
			fk.Referenced = append(fk.Referenced, c.Ordinal)
		}
		if len(fk.Referenced) != len(fk.Columns) {
			return followed(fault.New(1774, fk.Name, t.Name), 1750)
		}
	}
	for _, c := range columns {
		found := t.Column(c.Value, b.fold)
		if found == nil {
			return followed(fault.New(1770, fk.Name, c.Value, t.Name), 1750)
		}
		fk.Referenced = append(fk.Referenced, found.Ordinal)
	}
	if len(fk.Referenced) != len(fk.Columns) {
		return fault.New(8139, b.t.Name)
	}
	if err := b.mayRefer(t, fk.Referenced); err != nil {
		return err
	}
	if err := b.pair(fk); err != nil {
		return followed(err, 1750)
	}
	if fk.Key = uniqueIndex(t, fk.Referenced); fk.Key == nil {
		return followed(fault.New(1776, t.Name, fk.Name), 1750)
	}
	return nil
}

// mayRefer checks the permission to refer to columns of another table.
func (b *builder) mayRefer(t *schema.Table, ordinals []int) error {
	if t == b.t {
		return nil
	}
	columns := make([]schema.ColumnName, len(ordinals))
	for i, ordinal := range ordinals {
		columns[i] = schema.ColumnName{ID: t.Columns[ordinal].ID, Name: t.Columns[ordinal].Name}
	}
	return b.db.CheckColumns(b.user(), "REFERENCES", t, columns)
}

// referred finds the table that a foreign key names.
func (b *builder) referred(fk *schema.ForeignKey, name *syntax.ObjectName) (*schema.Table, error) {
	if name.IsTemp() {
		return nil, followed(fault.New(1766, fk.Name), 1750)
	}
	if other := part(name, 2); other != "" && b.Server().Database(other) != b.db {
		return nil, followed(fault.New(1763, fk.Name), 1750)
	}
	own := name.Schema() == "" || b.fold(name.Schema()) == b.fold(b.t.Schema.Name)
	if own && b.fold(name.Last().Value) == b.fold(b.t.Name) {
		return b.t, nil
	}
	o := b.db.Find(name.Schema(), name.Last().Value, b.schemaName())
	t, ok := o.(*schema.Table)
	switch {
	case o == nil || !b.mayObject("REFERENCES", o) && !b.db.Visible(b.user(), o):
		return nil, followed(fault.New(1767, fk.Name, text(name)), 1750)
	case !ok:
		return nil, followed(fault.New(1768, fk.Name, text(name)), 1750)
	}
	if err := b.Statement().LockSchema(b.db.ID, t.ID, lock.SchM); err != nil {
		return nil, err
	}
	if b.db.Object(t.ID) != o {
		return nil, followed(fault.New(1767, fk.Name, text(name)), 1750)
	}
	set(b.definer, &t.Referrers, t.Referrers) // put back when the statement is undone
	return t, nil
}

// pair checks that each column has the type of the one that it refers to.
func (b *builder) pair(fk *schema.ForeignKey) error {
	for i, ordinal := range fk.Columns {
		from, to := b.t.Columns[ordinal], fk.References.Columns[fk.Referenced[i]]
		switch {
		case from.Type.Kind != to.Type.Kind:
			return fault.New(1778, fk.References.Name, to.Name, b.t.Name, from.Name, fk.Name)
		case from.Type.Length != to.Type.Length && !from.Type.IsCharacter() && !from.Type.IsBinary(),
			from.Type.Precision != to.Type.Precision, from.Type.Scale != to.Type.Scale,
			(from.Type.IsCharacter() || from.Type.IsBinary()) && from.Type.Length != to.Type.Length:
			return fault.New(1753, fk.References.Name, to.Name, b.t.Name, from.Name, fk.Name)
		case from.Type.IsCharacter() && from.Type.Collation.Name != to.Type.Collation.Name:
			return fault.New(1757, fk.References.Name, to.Name, b.t.Name, from.Name, fk.Name)
		}
	}
	return nil
}

// uniqueIndex finds the unique index of exactly these columns, in any order, that has all rows.
func uniqueIndex(t *schema.Table, ordinals []int) *schema.Index {
	for _, ix := range t.Indexes {
		if !ix.Unique || ix.Where != nil || ix.Disabled || len(ix.Columns) != len(ordinals) {
			continue
		}
		if !slices.ContainsFunc(ix.Columns, func(c schema.IndexColumn) bool { return !slices.Contains(ordinals, c.Ordinal) }) {
			return ix
		}
	}
	return nil
}

// actions checks what ON DELETE and ON UPDATE ask for.
func (b *builder) actions(fk *schema.ForeignKey) error {
	for _, action := range []string{fk.OnDelete, fk.OnUpdate} {
		for _, ordinal := range fk.Columns {
			c := b.t.Columns[ordinal]
			if action == "SET NULL" && !c.Nullable {
				return fault.New(1761, fk.Name)
			}
			if action == "SET DEFAULT" && !c.Nullable && c.Default == nil {
				return fault.New(1762, fk.Name)
			}
		}
	}
	if (fk.OnDelete != "NO ACTION" && b.reaches(fk, deleting)) || (fk.OnUpdate != "NO ACTION" && b.reaches(fk, updating)) {
		return fault.New(1785, fk.Name, b.t.Name)
	}
	return nil
}

func deleting(fk *schema.ForeignKey) bool { return fk.OnDelete != "NO ACTION" }
func updating(fk *schema.ForeignKey) bool { return fk.OnUpdate != "NO ACTION" }

// reaches reports whether a cascading key makes a table reachable in two ways, or from itself.
func (b *builder) reaches(fk *schema.ForeignKey, cascades func(*schema.ForeignKey) bool) bool {
	above := map[*schema.Table]bool{} // from which b.t is reached without the new key
	var up func(t *schema.Table)
	up = func(t *schema.Table) {
		above[t] = true
		for _, k := range t.ForeignKeys {
			if cascades(k) && !above[k.References] {
				up(k.References)
			}
		}
	}
	up(b.t)
	if above[fk.References] {
		return true // itself, or another way to it
	}
	// A table above both, from which there would be two ways to this one.
	common := false
	seen := map[*schema.Table]bool{}
	var from func(t *schema.Table)
	from = func(t *schema.Table) {
		seen[t] = true
		common = common || above[t]
		for _, k := range t.ForeignKeys {
			if cascades(k) && !seen[k.References] {
				from(k.References)
			}
		}
	}
	from(fk.References)
	return common || b.below(b.t, cascades)[fk.References]
}

// below returns the tables that a change of a table reaches.
func (b *builder) below(t *schema.Table, cascades func(*schema.ForeignKey) bool) map[*schema.Table]bool {
	found := map[*schema.Table]bool{}
	var down func(t *schema.Table)
	down = func(t *schema.Table) {
		for _, k := range t.Referrers {
			if child := tableOf(b.db, k); cascades(k) && child != nil && !found[child] {
				found[child] = true
				down(child)
			}
		}
	}
	down(t)
	return found
}

// tableOf finds the table that a foreign key belongs to.
func tableOf(db *schema.Database, fk *schema.ForeignKey) *schema.Table {
	t, _ := db.Object(fk.Parent).(*schema.Table)
	return t
}
