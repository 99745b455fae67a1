package live

import (
	"context"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// parameter is one that the server's procedure has, or should have. Its text is what is compared: two are the same if
// they would be declared the same.
type parameter struct {
	name             string
	Type             sqltype.Type
	table            string // the name of its table type
	output, readonly bool
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
		v.report.unchecked("", "parameters: %s", brief(err))
		return dead(ctx, err)
	}
	v.report.unchecked("", "defaults of parameters: servers keep them only in the text of a procedure, which is compared")
	for _, p := range v.program.Procedures {
		if !v.isMissing("procedure", p.Name) {
			v.compareParameters(p, have[p.Name.Key()])
		}
	}
	return nil
}

// compareParameters compares those of one procedure. They are sent by name, so that their order is no difference.
func (v *verifier) compareParameters(p *analyze.Procedure, have []parameter) {
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
		expected := parameter{name: want.Name, Type: want.Type, output: want.Output, readonly: want.Table != nil}
		if want.Table != nil {
			expected.Type, expected.table = sqltype.Type{}, want.Table.Name.String()
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

// String writes a parameter as it is declared, without its name.
func (p parameter) String() string {
	text := p.table
	if text == "" {
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
