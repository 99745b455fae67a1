package function

import (
	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

var jsonFunctions = map[string]binder{
	"ISJSON":           bindIsJSON,
	"JSON_VALUE":       bindJSONValue,
	"JSON_QUERY":       bindJSONQuery,
	"JSON_PATH_EXISTS": bindJSONPathExists,
	"JSON_MODIFY":      bindJSONModify,
	"JSON_OBJECT":      bindJSONBuild,
	"JSON_ARRAY":       bindJSONBuild,
}

// bindIsJSON: without a word, only objects and arrays count.
func bindIsJSON(c *bindCall) (*Bound, error) {
	word := ""
	if len(c.args) == 2 {
		word, _ = builtin.WordOf(c.args[1].Expr)
	}
	return &Bound{Deterministic: true, Args: []value.Type{c.text(0)}, Eval: func(_ Environment, args []value.Value) (value.Value, error) {
		if args[0].IsNull() {
			return value.Value{}, nil
		}
		v, err := scanDocument(args[0].Str())
		return value.OfInt(int64(b2i(err == nil && v.is(word)))), nil
	}}, nil
}

// is reports whether a value is of the kind that a word of ISJSON names.
func (v jsonSpan) is(word string) bool {
	switch word {
	case "VALUE":
		return true
	case "ARRAY":
		return v.kind == jsonArray
	case "OBJECT":
		return v.kind == jsonObject
	case "SCALAR":
		return v.kind == jsonString || v.kind == jsonNumber
	default:
		return v.container()
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// maxJSONValue is how many characters JSON_VALUE returns at most.
const maxJSONValue = 4000

func bindJSONValue(c *bindCall) (*Bound, error) {
	path := c.pathArgument()
	eval := func(args []value.Value) (value.Value, error) {
		p, err := path(args)
		if err != nil {
			return value.Value{}, err
		}
		s := args[0].Str()
		v, found, err := p.find(s)
		switch {
		case err != nil:
			return value.Value{}, err
		case !found && p.strict:
			return value.Value{}, fault.New(13608)
		case found && v.container() && p.strict:
			return value.Value{}, fault.New(13623)
		case !found || v.container() || v.kind == jsonNull:
			return value.Value{}, nil
		}
		text := v.scalar(s)
		if len(text) > maxJSONValue && value.UTF16Len(text) > maxJSONValue {
			if p.strict {
				return value.Value{}, fault.New(13625)
			}
			return value.Value{}, nil
		}
		return value.OfString(text), nil
	}
	return simple(eval, c.text(0), c.text(1)), nil
}

func bindJSONQuery(c *bindCall) (*Bound, error) {
	path := c.pathArgument()
	eval := func(args []value.Value) (value.Value, error) {
		p, err := path(args)
		if err != nil {
			return value.Value{}, err
		}
		s := args[0].Str()
		v, found, err := p.find(s)
		switch {
		case err != nil:
			return value.Value{}, err
		case !found && p.strict:
			return value.Value{}, fault.New(13608)
		case found && !v.container() && p.strict:
			return value.Value{}, fault.New(13624)
		case !found || !v.container():
			return value.Value{}, nil
		default:
			return value.OfString(v.raw(s)), nil
		}
	}
	types := []value.Type{c.text(0)}
	if len(c.args) == 2 {
		types = append(types, c.text(1))
	}
	return simple(eval, types...), nil
}

// bindJSONPathExists: a text that is no JSON has no paths.
func bindJSONPathExists(c *bindCall) (*Bound, error) {
	path := c.pathArgument()
	eval := func(args []value.Value) (value.Value, error) {
		p, err := path(args)
		if err != nil {
			return value.Value{}, err
		}
		_, found, err := p.find(args[0].Str())
		return value.OfInt(int64(b2i(found && err == nil))), nil
	}
	return simple(eval, c.text(0), c.text(1)), nil
}
