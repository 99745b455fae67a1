package function

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// bindJSONModify: the new value is put in as JSON if the argument is JSON, else as a string, a number or a truth value.
func bindJSONModify(c *bindCall) (*Bound, error) {
	path := c.pathArgument()
	t, isJSON := c.args[2].Type, IsJSON(c.args[2].Expr)
	return &Bound{
		Deterministic: true, Args: []value.Type{c.text(0), c.text(1)},
		Eval: func(_ Environment, args []value.Value) (value.Value, error) {
			if args[0].IsNull() || args[1].IsNull() {
				return value.Value{}, nil
			}
			p, err := path(args)
			if err != nil {
				return value.Value{}, err
			}
			change := modification{path: p, s: args[0].Str(), null: args[2].IsNull()}
			raw, err := appendJSON(nil, args[2], t, isJSON)
			if err != nil {
				return value.Value{}, err
			}
			change.raw = string(raw)
			text, err := change.apply()
			if err != nil {
				return value.Value{}, err
			}
			return value.OfString(text), nil
		},
	}, nil
}

// modification is one call of JSON_MODIFY. All that it doesn't change of the document stays as it is written.
type modification struct {
	path jsonPath
	s    string
	raw  string // the new value
	null bool   // and whether it is NULL
}

func (m *modification) apply() (string, error) {
	if i := blank(m.s, 0); at(m.s, i) != '{' && at(m.s, i) != '[' {
		return "", unexpected(m.s, i)
	}
	if _, err := scanDocument(m.s); err != nil {
		return "", err
	}
	if len(m.path.steps) == 0 && !m.path.append || m.path.identity {
		return "", fault.New(13619, 2, "JSON_MODIFY")
	}
	v, found, err := m.path.find(m.s)
	switch {
	case err != nil:
		return "", err
	case !found:
		return m.insert()
	case m.path.append && v.kind == jsonArray:
		return m.add(v), nil
	case m.path.append && m.path.strict:
		return "", fault.New(13621)
	case m.path.append:
		return m.s, nil
	case m.null && !m.path.strict && m.path.steps[len(m.path.steps)-1].index < 0:
		return m.remove()
	default:
		return m.s[:v.from] + m.raw + m.s[v.to:], nil
	}
}

// add appends to an array.
func (m *modification) add(v jsonSpan) string {
	end := v.to - 1
	comma := ","
	if strings.TrimSpace(m.s[v.from+1:end]) == "" {
		comma = ""
	}
	return m.s[:end] + comma + m.raw + m.s[end:]
}

// insert adds a member that isn't there to an object that is. In lax mode there is nothing to do for NULL, and where
// the object is missing too.
func (m *modification) insert() (string, error) {
	if m.path.strict {
		return "", fault.New(13608)
	}
	steps := m.path.steps
	if len(steps) == 0 || m.null && !m.path.append || steps[len(steps)-1].index >= 0 {
		return m.s, nil
	}
	parent, found, err := findFrom(m.s, 0, steps[:len(steps)-1])
	if err != nil || !found || parent.kind != jsonObject {
		return m.s, err
	}
	raw := m.raw
	if m.path.append {
		raw = "[" + raw + "]"
	}
	end := parent.to - 1
	text := []byte(m.s[:end])
	if strings.TrimSpace(m.s[parent.from+1:end]) != "" {
		text = append(text, ',')
	}
	text = append(appendQuoted(text, steps[len(steps)-1].key), ':')
	return string(append(append(text, raw...), m.s[end:]...)), nil
}

// remove takes a member out of its object, with one of the commas beside it.
func (m *modification) remove() (string, error) {
	steps := m.path.steps
	parent, _, err := findFrom(m.s, 0, steps[:len(steps)-1])
	if err != nil {
		return "", err
	}
	list := membersOf(m.s, parent.from)
	before := parent.from + 1 // the end of the member before
	for {
		ok, err := list.step()
		if !ok || err != nil {
			return m.s, err
		}
		if steps[len(steps)-1].leadsTo(&list) {
			break
		}
		before = list.value.to
	}
	after := list.value.to
	if list.index == 0 { // the comma behind goes with it
		if i := blank(m.s, after); at(m.s, i) == ',' {
			after = i + 1
		}
	}
	return m.s[:before] + m.s[after:], nil
}
