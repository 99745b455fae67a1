package live

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/internal/tsql/analyze"
	"github.com/duroxide/duroxide-go/internal/tsql/catalog"
	"github.com/duroxide/duroxide-go/internal/tsql/sqltype"
)

// parameter is one that the server's procedure has, or should have. Its text is what is compared: two are the same if
// they would be declared the same.
type parameter struct {
	name             string
	Type             sqltype.Type
	table            string // the name of its table type
	output, readonly bool
	vague            bool // precision and scale mean nothing
}

// parameterQuery reads the parameters of all procedures in order. has_default_value is left out: for procedures in
// T-SQL it is always 0, and only the text, which is compared, tells of defaults.
const parameterQuery = `SELECT s.name, o.name, p.name,
  CASE WHEN t.is_user_defined = 1 AND b.name IS NOT NULL THEN b.name ELSE t.name END,
  CASE WHEN t.is_table_type = 1 THEN ts.name + '.' + t.name ELSE '' END,
  CAST(p.max_length AS int), CAST(p.precision AS int), CAST(p.scale AS int), p.is_output, p.is_readonly
FROM sys.parameters AS p
INNER JOIN sys.objects AS o ON o.object_id = p.object_id
INNER JOIN sys.schemas AS s ON s.schema_id = o.schema_id
INNER JOIN sys.types AS t ON t.user_type_id = p.user_type_id
INNER JOIN sys.schemas AS ts ON ts.schema_id = t.schema_id
LEFT JOIN sys.types AS b ON b.user_type_id = t.system_type_id
WHERE o.type = 'P' AND p.parameter_id > 0
ORDER BY 1, 2, p.parameter_id`

// parameters compares what procedures take.
func (v *verifier) parameters(ctx context.Context) error {
	have := map[string][]parameter{}
	err := v.each(ctx, parameterQuery, nil, func(scan func(...any) error) error {
		var n catalog.Name
		var p parameter
		var raw string
		var bytes, precision, scale int
		err := scan(&n.Schema, &n.Name, &p.name, &raw, &p.table, &bytes, &precision, &scale, &p.output, &p.readonly)
		if p.table == "" {
			p.Type = metadataType(raw, bytes, precision, scale)
		}
		have[n.Key()] = append(have[n.Key()], p)
		return err
	})
	if err != nil {
		if err := dead(ctx, err); err != nil {
			return err
		}
		return v.oldParameters(ctx, brief(err))
	}
	v.report.unchecked("", "defaults of parameters: servers keep them only in the text of a procedure, which is compared")
	for _, p := range v.program.Procedures {
		if !v.isMissing("procedure", p.Name) {
			v.compareParameters(p, have[p.Name.Key()], parameterTraits{readonly: true, schema: true})
		}
	}
	return nil
}

// oldParameters asks the procedure that client libraries have always asked, on servers without sys.parameters. Its
// columns are those of OLE DB and differ between servers in type, hence the any: mode 4 is the return value and 2 an
// OUTPUT parameter.
func (v *verifier) oldParameters(ctx context.Context, reason string) error {
	told := parameterTraits{}
	for _, p := range v.program.Procedures {
		if v.isMissing("procedure", p.Name) {
			continue
		}
		var have []parameter
		query := "EXEC sp_procedure_params_100_managed @procedure_name = @p1, @procedure_schema = @p2"
		err := v.each(ctx, query, []any{p.Name.Name, p.Name.Schema}, func(scan func(...any) error) error {
			var name, raw string
			var mode, managed any
			var length, precision, scale, fraction sql.NullInt64
			var skip any
			err := scan(&name, &mode, &managed, &length, &precision, &scale, &skip, &skip, &raw, &skip, &skip, &skip, &fraction)
			if fmt.Sprint(mode) == "4" {
				return err // the return value
			}
			got := parameter{name: name, output: fmt.Sprint(mode) == "2", vague: true}
			got.Type = serverType(raw, int(length.Int64), int(precision.Int64), int(scale.Int64+fraction.Int64))
			if got.Type.Kind == sqltype.Invalid {
				got.Type, got.table = v.namedType(raw)
			}
			have = append(have, got)
			return err
		})
		if err != nil {
			v.report.unchecked("", "parameters: %s; %s", reason, brief(err))
			return dead(ctx, err)
		}
		v.compareParameters(p, have, told)
	}
	v.report.unchecked("", "precision and scale of parameters, READONLY, schemas of their types: %s", reason)
	return nil
}

// namedType returns what a type stands for that is an alias in the scripts, or the name of another one. The source
// doesn't tell its schema: of several aliases with that name the first in the scripts is taken. Alias types
// themselves are compared elsewhere.
func (v *verifier) namedType(name string) (sqltype.Type, string) {
	for _, object := range v.cat.Order {
		if alias, ok := object.(*catalog.AliasType); ok && catalog.Fold(alias.Name.Name) == catalog.Fold(name) {
			return alias.Type, ""
		}
	}
	return sqltype.Type{}, name
}

// parameterTraits say what a source of parameters tells; what it doesn't tell is left out of the expectation as well.
type parameterTraits struct {
	readonly, schema bool
}

// compareParameters compares those of one procedure. They are sent by name, so that their order is no difference.
func (v *verifier) compareParameters(p *analyze.Procedure, have []parameter, told parameterTraits) {
	what := "procedure " + p.Name.String()
	left := map[string]parameter{}
	for _, h := range have {
		left[catalog.Fold(h.name)] = h
	}
	for _, want := range p.Params {
		v.report.Counts.Parameters++
		h, ok := left[catalog.Fold(want.Name)]
		delete(left, catalog.Fold(want.Name))
		if !ok {
			v.report.drift(what, p.Place, "parameter "+want.Name, "defined", "missing")
			continue
		}
		expected := parameter{name: want.Name, Type: want.Type, output: want.Output, readonly: want.Table != nil && told.readonly}
		if want.Table != nil {
			expected.Type, expected.table = sqltype.Type{}, want.Table.Name.String()
			if !told.schema {
				expected.table = want.Table.Name.Name
			}
		}
		// Of the same kind: then what isn't told can't be held against it. Another kind is drift whatever its facets
		// are.
		if h.vague && h.Type.Kind == want.Type.Kind {
			h.vague = false
			h.Type = withoutVagueness(expected.Type, h.Type)
		}
		if a, b := expected.String(), h.String(); !strings.EqualFold(a, b) {
			v.report.drift(what, p.Place, "parameter "+want.Name, a, b)
		}
	}
	for _, h := range have {
		if _, extra := left[catalog.Fold(h.name)]; extra {
			v.report.drift(what, p.Place, "parameter "+h.name, "not defined", h.String())
		}
	}
}

// withoutVagueness returns the type a server has, with the facets that it doesn't tell taken from the expected one.
func withoutVagueness(want, have sqltype.Type) sqltype.Type {
	have.Precision, have.Scale = want.Precision, want.Scale
	return have
}

// String writes a parameter as it is declared, without its name.
func (p parameter) String() string {
	text := p.table
	switch {
	case text != "":
	case p.vague && p.Type.Length == 0:
		text = string(p.Type.Kind)
	default:
		text = p.Type.String()
	}
	if p.output {
		text += " output"
	}
	if p.readonly {
		text += " readonly"
	}
	return text
}
