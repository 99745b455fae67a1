package live

import (
	"context"
	"fmt"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// columnQuery reads the columns of tables and of table types, in order. A column of an alias type is shown with the
// type that it stands for, as the scripts' are. Types of the user's own are joined a second time for what they stand
// for.
const columnQuery = `SELECT s.name, o.name, o.kind, c.name,
  CASE WHEN t.is_user_defined = 1 AND b.name IS NOT NULL THEN b.name ELSE t.name END,
  CAST(c.max_length AS int), CAST(c.precision AS int), CAST(c.scale AS int), c.is_nullable
FROM (
  SELECT object_id, schema_id, name, 'table' AS kind FROM sys.tables
  UNION ALL
  SELECT type_table_object_id, schema_id, name, 'type' FROM sys.table_types
) AS o
INNER JOIN sys.schemas AS s ON s.schema_id = o.schema_id
INNER JOIN sys.columns AS c ON c.object_id = o.object_id
INNER JOIN sys.types AS t ON t.user_type_id = c.user_type_id
LEFT JOIN sys.types AS b ON b.user_type_id = t.system_type_id
ORDER BY 1, 2, c.column_id`

// tables compares the columns of tables and of table types. What is inferred about columns of results is made of
// them, their nullability above all, which no server knows of expressions as well as the analysis does. Keys and
// indexes aren't compared: they decide how fast a procedure is, not what it returns.
func (v *verifier) tables(ctx context.Context) error {
	have := map[key][]column{}
	err := v.each(ctx, columnQuery, nil, func(scan func(...any) error) error {
		var n catalog.Name
		var kind string
		var c column
		var bytes, precision, scale int
		if err := scan(&n.Schema, &n.Name, &kind, &c.name, &c.raw, &bytes, &precision, &scale, &c.nullable); err != nil {
			return err
		}
		c.Type = metadataType(c.raw, bytes, precision, scale)
		k := key{kind, n.Key()}
		have[k] = append(have[k], c)
		return nil
	})
	if err != nil {
		v.report.unchecked("", "columns of tables and of table types: %s", brief(err))
		return dead(ctx, err)
	}
	for _, object := range v.cat.Order {
		if t, ok := object.(*catalog.Table); ok && !v.isMissing(kindOf(t), t.Name) {
			v.report.Counts.Tables++
			v.table(t, have[key{kindOf(t), t.Name.Key()}])
		}
	}
	return nil
}

// aliasQuery reads the types that stand for others.
const aliasQuery = `SELECT s.name, t.name, b.name,
  CAST(t.max_length AS int), CAST(t.precision AS int), CAST(t.scale AS int)
FROM sys.types AS t
INNER JOIN sys.schemas AS s ON s.schema_id = t.schema_id
INNER JOIN sys.types AS b ON b.user_type_id = t.system_type_id
WHERE t.is_user_defined = 1 AND t.is_table_type = 0`

// aliases compares what alias types stand for.
func (v *verifier) aliases(ctx context.Context) error {
	if len(v.cat.AliasTypes) == 0 {
		return nil
	}
	have := map[string]sqltype.Type{}
	err := v.each(ctx, aliasQuery, nil, func(scan func(...any) error) error {
		var n catalog.Name
		var raw string
		var bytes, precision, scale int
		err := scan(&n.Schema, &n.Name, &raw, &bytes, &precision, &scale)
		have[n.Key()] = metadataType(raw, bytes, precision, scale)
		return err
	})
	if err != nil {
		v.report.unchecked("", "alias types: %s", brief(err))
		return dead(ctx, err)
	}
	for key, alias := range v.cat.AliasTypes {
		what := "type " + alias.Name.String()
		switch got, there := have[key]; {
		// It is in the report already.
		case v.isMissing("type", alias.Name):
		case !there:
			v.report.unchecked(what, "what it stands for: the server doesn't say")
		case got != alias.Type:
			v.report.drift(what, alias.Place, "stands for", alias.Type.String(), got.String())
		}
	}
	return nil
}

// table compares one of them. The order of columns counts for types, whose rows are sent by position. An extra column
// is drift as well: SELECT * and INSERT without a list see it.
func (v *verifier) table(t *catalog.Table, have []column) {
	what := kindOf(t) + " " + t.Name.String()
	byName := map[string]int{}
	for i, c := range have {
		byName[catalog.Fold(c.name)] = i
	}
	for i, want := range t.Columns {
		part := "column " + want.Name
		at, ok := byName[catalog.Fold(want.Name)]
		delete(byName, catalog.Fold(want.Name))
		switch {
		case !ok:
			v.report.drift(what, t.Place, part, "defined", "missing")
			continue
		// Rows of a table argument are sent by position.
		case t.Type && at != i:
			v.report.drift(what, t.Place, part, fmt.Sprintf("in place %d", i+1), fmt.Sprintf("in place %d", at+1))
		}
		if want.Computed || want.Type.Kind == sqltype.Invalid {
			continue // its type is that of an expression
		}
		got := have[at]
		if want.Type != got.Type || want.Nullable != got.nullable {
			v.report.drift(what, t.Place, part, typed(want.Type, want.Nullable), typed(got.Type, got.nullable))
		}
	}
	for _, c := range have {
		if _, left := byName[catalog.Fold(c.name)]; left {
			v.report.drift(what, t.Place, "column "+c.name, "not defined", typed(c.Type, c.nullable))
		}
	}
}

// typed writes a type with its nullability.
func typed(t sqltype.Type, nullable bool) string {
	if nullable {
		return t.String() + " null"
	}
	return t.String() + " not null"
}
