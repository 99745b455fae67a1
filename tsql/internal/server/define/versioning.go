package define

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// versioning is what SYSTEM_VERSIONING says.
type versioning struct {
	on      bool
	history *syntax.ObjectName // nil: a name is made up
	check   bool               // DATA_CONSISTENCY_CHECK
}

// versioningOf reads the option SYSTEM_VERSIONING = OFF, or ON with details in parentheses.
func (d *definer) versioningOf(o syntax.Option, history *syntax.ObjectName) (versioning, error) {
	word, details, _ := strings.Cut(o.Value, "(")
	v := versioning{on: strings.EqualFold(strings.TrimSpace(word), "ON"), history: history, check: true}
	for detail := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(details), ")"), ",") {
		name, said, _ := strings.Cut(detail, "=")
		said = strings.ToUpper(strings.TrimSpace(said))
		switch strings.ToUpper(strings.TrimSpace(name)) {
		case "", "HISTORY_TABLE":
		case "DATA_CONSISTENCY_CHECK":
			v.check = said == "ON"
		case "HISTORY_RETENTION_PERIOD":
			if said != "INFINITE" {
				return v, d.unsupported(o.Span, "a history that is cleaned up")
			}
		default:
			return v, d.unsupported(o.Span, "the option "+strings.TrimSpace(name)+" of SYSTEM_VERSIONING")
		}
	}
	return v, nil
}

// setVersioning turns SYSTEM_VERSIONING on or off.
func (b *builder) setVersioning(v versioning) error {
	t := b.t
	if !v.on {
		if t.History == nil {
			return fault.New(13591, t.FullName())
		}
		if err := b.lock(t.History); err != nil {
			return err
		}
		set(b.definer, &t.History.HistoryOf, nil)
		set(b.definer, &t.History, nil)
		return nil
	}
	switch {
	case t.History != nil:
		return fault.New(13596, t.FullName())
	case t.Period == nil:
		return fault.New(13510)
	case t.PrimaryKey() == nil:
		return fault.New(13553, t.FullName())
	case t.RowVersionColumn() != nil:
		return fault.New(fault.Unsupported, "a history of rows with a rowversion is not supported by tsqltest")
	}
	h, err := b.historyTable(v)
	if err != nil {
		return err
	}
	set(b.definer, &t.History, h)
	set(b.definer, &h.HistoryOf, t)
	return nil
}

// historyTable finds or makes the history table.
func (b *builder) historyTable(v versioning) (*schema.Table, error) {
	name := v.history
	if name == nil {
		name = &syntax.ObjectName{Parts: []syntax.Ident{
			{Value: b.t.Schema.Name, Quoted: true}, {Value: fmt.Sprintf("MSSQL_TemporalHistoryFor_%d", b.t.ID), Quoted: true},
		}}
		for n := 1; v.history == nil && b.t.Schema.Objects[b.fold(name.Last().Value)] != nil; n++ {
			name.Parts[1].Value = fmt.Sprintf("MSSQL_TemporalHistoryFor_%d_%d", b.t.ID, n)
		}
	}
	if len(name.Parts) != 2 {
		return nil, fault.New(13539, text(name))
	}
	o, err := b.claim(name)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return b.makeHistory(name)
	}
	h, ok := o.(*schema.Table)
	switch {
	case !ok, h == b.t, h.History != nil:
		return nil, fault.New(13511, text(name))
	case h.HistoryOf != nil:
		return nil, fault.New(13514, h.FullName())
	}
	if err := b.fits(h); err != nil {
		return nil, err
	}
	if !v.check {
		return h, nil
	}
	return h, b.consistent(h)
}

// makeHistory makes a history table: the columns without what the server does with them, and an index by the period.
func (b *builder) makeHistory(name *syntax.ObjectName) (*schema.Table, error) {
	h, err := b.newTable(name)
	if err != nil {
		return nil, err
	}
	if err := b.lock(h); err != nil {
		return nil, err
	}
	hb := b.newBuilder(h)
	hb.copyColumns(b.t.Columns)
	ident := func(name string) syntax.Ident { return syntax.Ident{Value: name, Quoted: true} }
	index := ident("ix_" + h.Name)
	k := key{kind: "INDEX", name: &index, clustered: true, columns: []syntax.IndexColumn{
		{Name: ident(b.t.Period.End.Name)}, {Name: ident(b.t.Period.Start.Name)},
	}}
	if _, err := hb.index(k); err != nil {
		return nil, err
	}
	if err := giveData(b.db, h, b.envOf); err != nil {
		return nil, err
	}
	return h, b.definer.enlist(hb)
}

// copyColumns appends columns as a history table has them.
func (b *builder) copyColumns(columns []*schema.Column) {
	for _, c := range columns {
		b.t.Columns = append(slices.Clip(b.t.Columns), &schema.Column{
			ID: b.t.NextColumnID(), Ordinal: len(b.t.Columns), Name: c.Name, Type: c.Type, UserType: c.UserType, Nullable: c.Nullable,
			Sparse: c.Sparse,
		})
	}
}

// fits checks that a table can have the history of this one.
func (b *builder) fits(h *schema.Table) error {
	t, names := b.t, h.FullName()
	has := func(f func(c *schema.Column) bool) bool { return slices.ContainsFunc(h.Columns, f) }
	switch {
	case h.Period != nil:
		return fault.New(13574, names)
	case slices.ContainsFunc(h.Indexes, func(ix *schema.Index) bool { return ix.Unique }):
		return fault.New(13515, names)
	case len(h.ForeignKeys) > 0 || len(h.Referrers) > 0:
		return fault.New(13516, names)
	case len(h.Checks) > 0 || len(h.Defaults) > 0:
		return fault.New(13517, names)
	case h.Identity != nil:
		return fault.New(13518, names)
	case has(func(c *schema.Column) bool { return c.Computed != nil }):
		return fault.New(13519, names)
	case len(h.Triggers) > 0:
		return fault.New(13522, names)
	case len(h.Columns) != len(t.Columns):
		return fault.New(13523, t.FullName(), len(t.Columns), names, len(h.Columns))
	}
	for i, c := range t.Columns {
		if err := b.sameColumn(c, h.Columns[i], h); err != nil {
			return err
		}
	}
	return nil
}

// sameColumn compares a column with that of a history table in the same place.
func (b *builder) sameColumn(c, of *schema.Column, h *schema.Table) error {
	t := b.t
	switch {
	case b.fold(c.Name) != b.fold(of.Name):
		return fault.New(13524, of.Name, c.Ordinal+1, h.FullName(), c.Name, t.FullName())
	case c.Type.Type != of.Type.Type:
		return fault.New(13525, of.Name, of.Type, h.FullName(), c.Type, t.FullName())
	case c.Type.Collation != of.Type.Collation:
		return fault.New(13526, of.Name, t.FullName(), h.FullName())
	case b.inPeriod(c) && of.Nullable:
		return fault.New(13530, of.Name, h.FullName(), t.FullName())
	case c.Nullable != of.Nullable:
		return fault.New(13531, of.Name, t.FullName(), h.FullName())
	default:
		return nil
	}
}

// consistent is DATA_CONSISTENCY_CHECK: versions end after they begin and in the past, and those of one key do not
// overlap.
func (b *builder) consistent(h *schema.Table) error {
	p, at := b.t.Period, b.t.Period.Start.Type
	now := value.FromTime(b.Now(), at)
	rows, err := b.newBuilder(h).rows()
	if err != nil {
		return err
	}
	compare := func(x, y value.Value) int { return value.Compare(x, y, at) }
	start := func(row []value.Value) value.Value { return row[p.Start.Ordinal] }
	byKey := map[string][][]value.Value{}
	for _, row := range rows {
		end := row[p.End.Ordinal]
		switch {
		case compare(start(row), end) > 0:
			return fault.New(13541, h.FullName())
		case compare(end, now) > 0:
			return fault.New(13543, h.FullName())
		}
		k := encode(b.t.PrimaryKey().Index, row)
		byKey[k] = append(byKey[k], row)
	}
	for _, versions := range byKey {
		slices.SortFunc(versions, func(x, y []value.Value) int { return compare(start(x), start(y)) })
		for i := 1; i < len(versions); i++ {
			if compare(versions[i-1][p.End.Ordinal], start(versions[i])) > 0 {
				return fault.New(13573, h.FullName())
			}
		}
	}
	return nil
}

// ofHistory returns the error of an ALTER TABLE of a history table, whose columns follow those of the other.
func (b *builder) ofHistory(s *syntax.AlterTable) error {
	name := b.t.FullName()
	switch {
	case s.Add != nil && len(s.Add.Columns) > 0:
		return fault.New(13550, name)
	case s.Other == "DROP COLUMN":
		return fault.New(13551, name)
	case s.Column != nil:
		return fault.New(13548, s.Column.Name.Value, name)
	case s.Add == nil:
		return nil
	}
	for i := range s.Add.Constraints {
		switch k := &s.Add.Constraints[i]; k.Kind {
		case "PRIMARY KEY":
			return fault.New(13558, name)
		case "UNIQUE":
			return fault.New(13583, name)
		case "CHECK":
			return fault.New(13564, name)
		case "FOREIGN KEY":
			constraint := ""
			if k.Name != nil {
				constraint = k.Name.Value
			}
			return fault.New(13565, constraint)
		default:
			return b.unsupported(k.Span, "a default of a history table")
		}
	}
	return nil
}

// historied does to the history what an ALTER TABLE has done to the columns of its table, the first of which is new
// from an ordinal on.
func (b *builder) historied(s *syntax.AlterTable, from int) error {
	h := b.t.History
	if h == nil {
		return nil
	}
	hb := b.newBuilder(h)
	switch {
	case s.Add != nil && from < len(b.t.Columns):
		return hb.follow(b.t.Columns[from:], s.Add)
	case s.Other == "DROP COLUMN":
		return hb.dropColumns(s)
	case s.Other == "ALTER COLUMN":
		def := *s.Column
		def.Null = syntax.NullRefused
		if b.t.Column(def.Name.Value, b.fold).Nullable {
			def.Null = syntax.NullAllowed
		}
		return hb.alterColumn(&def)
	default:
		return nil
	}
}

// follow adds columns to a history table. Its rows get the values that those of the other have got.
func (b *builder) follow(columns []*schema.Column, def *syntax.TableDef) error {
	b.undo(remember(b.t))
	from := len(b.t.Columns)
	b.copyColumns(columns)
	for i, c := range b.t.Columns[from:] {
		c.Default = columns[i].Default
	}
	err := b.fillColumns(from, def)
	for _, c := range b.t.Columns[from:] {
		c.Default = nil
	}
	b.db.Bump()
	return err
}

// mayVersion checks what an ALTER TABLE would do to the columns of a table with a period or a history.
func (b *builder) mayVersion(s *syntax.AlterTable) error {
	t := b.t
	if t.HistoryOf != nil {
		if err := b.ofHistory(s); err != nil {
			return err
		}
	}
	if s.Column != nil && !strings.Contains(s.Other, "HIDDEN") {
		c := t.Column(s.Column.Name.Value, b.fold)
		if c != nil && b.inPeriod(c) {
			return fault.New(13599, c.Name)
		}
		if t.History != nil && s.Other != "ALTER COLUMN" {
			return b.unsupported(s.Span, s.Other+" of a table with a history")
		}
	}
	if s.Other == "DROP COLUMN" {
		for _, name := range s.Names {
			if c := t.Column(name.Value, b.fold); c != nil && b.inPeriod(c) {
				return fault.New(13588, c.Name, t.FullName())
			}
		}
	}
	if t.History == nil {
		return nil
	}
	if s.Add != nil && slices.ContainsFunc(s.Add.Columns, filledByServer) {
		return fault.New(13550, t.FullName())
	}
	return b.lock(t.History)
}

// filledByServer reports a column that no table with a history can get.
func filledByServer(c syntax.ColumnDef) bool {
	return c.Identity || c.Computed != nil || c.Type != nil && isRowVersion(c.Type)
}

// isRowVersion reports the type rowversion under both of its names.
func isRowVersion(t *syntax.TypeName) bool {
	name := strings.ToLower(t.Name.Last().Value)
	return len(t.Name.Parts) == 1 && (name == "rowversion" || name == "timestamp")
}
