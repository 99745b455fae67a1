package function

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// bindJSONAggregate is JSON_ARRAYAGG and JSON_OBJECTAGG. The key of the latter, in Call.Keys, is the second argument.
func bindJSONAggregate(c *bindCall) (*Aggregate, error) {
	object := c.name == "JSON_OBJECTAGG"
	absent := c.syntax.JSONNulls == "ABSENT ON NULL" || !object && c.syntax.JSONNulls == ""
	t, isJSON := c.args[0].Type, IsJSON(c.args[0].Expr)
	types := []value.Type{asIs, value.NVarChar(4000)}[:len(c.args)]
	return &Aggregate{Args: types, New: func() Accumulator {
		return &jsonAccumulator{object: object, absent: absent, t: t, isJSON: isJSON}
	}}, nil
}

type jsonAccumulator struct {
	object, absent, isJSON bool
	t                      value.Type
	dst                    []byte
	rows                   int
}

func (a *jsonAccumulator) Add(args []value.Value) error {
	a.rows++
	if a.absent && args[0].IsNull() {
		return nil
	}
	if len(a.dst) > 0 {
		a.dst = append(a.dst, ',')
	}
	if a.object {
		if args[1].IsNull() {
			return fault.New(13638, "json_objectagg")
		}
		a.dst = append(appendQuoted(a.dst, args[1].Str()), ':')
	}
	var err error
	a.dst, err = appendJSON(a.dst, args[0], a.t, a.isJSON)
	return err
}

func (a *jsonAccumulator) Result() (value.Value, error) {
	marks := "[]"
	if a.object {
		marks = "{}"
	}
	if a.rows == 0 {
		return value.Value{}, nil
	}
	return value.OfString(marks[:1] + string(a.dst) + marks[1:]), nil
}

func (a *jsonAccumulator) SkippedNull() bool { return false }
