package define

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// The properties of the columns of a period.
const (
	rowStart = "ROW START"
	rowEnd   = "ROW END"
)

// generated gives a new column what GENERATED ALWAYS AS ROW START or END says.
func (b *builder) generated(c *schema.Column, def *syntax.ColumnDef) error {
	switch {
	case def.Generated == "" && def.Hidden:
		return b.unsupported(def.Span, "a column that is HIDDEN and not generated")
	case def.Generated != "" && def.Generated != rowStart && def.Generated != rowEnd:
		return b.unsupported(def.Span, "a column GENERATED ALWAYS AS "+def.Generated)
	case def.Generated != "" && (b.t.Variable || b.t.Kind == "TT"):
		return fault.New(13572)
	case def.Generated != "" && b.t.Temporary:
		return b.unsupported(def.Span, "a period of a temporary table")
	}
	c.Generated, c.Hidden = def.Generated, def.Hidden
	return nil
}

// period makes the period that a definition names. The columns are there.
func (b *builder) period(def *syntax.TableDef) error {
	if def.Period == nil {
		if slices.ContainsFunc(def.Columns, func(c syntax.ColumnDef) bool { return c.Generated != "" }) {
			return fault.New(13509)
		}
		return nil
	}
	switch {
	case b.t.Period != nil:
		return fault.New(13597, b.t.FullName())
	case b.t.HistoryOf != nil:
		return fault.New(13598, b.t.FullName())
	case len(def.Period) != 2:
		return fault.New(102, ")")
	}
	p, err := b.periodColumns(def)
	if err != nil {
		return err
	}
	for _, c := range []*schema.Column{p.Start, p.End} {
		switch {
		case c.Type.Kind != sqltype.DateTime2:
			return fault.New(13501, c.Name)
		case c.Nullable:
			return fault.New(13587, c.Name)
		}
	}
	if p.Start.Type.Scale != p.End.Type.Scale {
		return fault.New(13513)
	}
	b.t.Period = p
	p.Start.Generated, p.End.Generated = rowStart, rowEnd
	return nil
}

// periodColumns finds the two columns of a period: those that are defined as such, or, for a table that is there, plain
// ones.
func (b *builder) periodColumns(def *syntax.TableDef) (*schema.Period, error) {
	p := &schema.Period{}
	for _, side := range []struct {
		word                 string
		name                 syntax.Ident
		twice, none, differs int32
		column               **schema.Column
	}{
		{rowStart, def.Period[0], 13502, 13504, 13506, &p.Start},
		{rowEnd, def.Period[1], 13503, 13505, 13507, &p.End},
	} {
		var found *schema.Column
		for _, c := range b.t.Columns {
			if c.Generated != side.word {
				continue
			}
			if found != nil {
				return nil, fault.New(side.twice)
			}
			found = c
		}
		named := b.t.Column(side.name.Value, b.fold)
		switch {
		case found == nil && (named == nil || b.isNew(named) || b.t.Data == nil):
			return nil, fault.New(side.none)
		case found == nil && named.Computed != nil:
			return nil, fault.New(13501, named.Name)
		case found != nil && found != named:
			return nil, fault.New(side.differs)
		}
		*side.column = named
	}
	return p, nil
}

// checkPeriod checks the rows of a table that gets a period: all are valid now, and for ever.
func (b *builder) checkPeriod() error {
	p := b.t.Period
	now := value.FromTime(b.Now(), p.Start.Type)
	rows, err := b.rows()
	if err != nil {
		return err
	}
	for _, row := range rows {
		if value.Compare(row[p.Start.Ordinal], now, p.Start.Type) > 0 {
			return fault.New(13542, b.t.FullName())
		}
		if !row[p.End.Ordinal].Equal(schema.EndOfTime(p.End.Type)) {
			return fault.New(13575, b.t.FullName())
		}
	}
	return nil
}

// dropPeriod executes ALTER TABLE … DROP PERIOD FOR SYSTEM_TIME.
func (b *builder) dropPeriod() error {
	p := b.t.Period
	switch {
	case p == nil:
		return fault.New(13593, b.t.FullName())
	case b.t.History != nil:
		return fault.New(13592, b.t.FullName())
	}
	set(b.definer, &b.t.Period, nil)
	for _, c := range []*schema.Column{p.Start, p.End} {
		set(b.definer, &c.Generated, "")
		set(b.definer, &c.Hidden, false)
	}
	return nil
}

// inPeriod reports whether a column belongs to the period of the table.
func (b *builder) inPeriod(c *schema.Column) bool {
	return b.t.Period != nil && (c == b.t.Period.Start || c == b.t.Period.End)
}
