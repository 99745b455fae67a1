package session

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// cursorArgument is a variable of a caller that a cursor parameter hands its cursor to.
type cursorArgument struct {
	from *activation
	name string
}

// setCursor executes SET @c = @d and SET @c = name: both refer to one cursor from then on.
func (s *Session) setCursor(a *activation, st *syntax.SetVariable) error {
	if st.Op != "=" {
		return fault.New(16949, st.Variable.Name)
	}
	var name syntax.CursorName
	switch x := st.X.(type) {
	case *syntax.Variable:
		name.Name = x.Name
	case *syntax.ColumnRef:
		if len(x.Parts) > 1 {
			return fault.New(16949, st.Variable.Name)
		}
		name.Name = x.Parts[0].Value
	default:
		return fault.New(16949, st.Variable.Name)
	}
	c, err := s.findCursor(a, name)
	if err != nil {
		return err
	}
	a.refer(st.Variable.Name, c)
	return nil
}

// refer makes a variable refer to a cursor.
func (a *activation) refer(name string, c *cursor) {
	c.refs++
	key := fold(name)
	release(a.variables[key])
	a.cursorVariables()[key] = c
}

// bindCursor checks the argument of a cursor parameter, which the procedure gives a cursor to.
func bindCursor(arg *argument) error {
	switch c := arg.cursor; {
	case c == nil:
		return fault.New(206, arg.typ.String(), "cursor")
	case arg.output == nil:
		return fault.New(16949, c.name)
	case c.from.variables[fold(c.name)] != nil:
		return fault.New(16951, c.name)
	default:
		return nil
	}
}

// handCursors gives the cursors of cursor parameters to the caller's variables.
func (s *Session) handCursors(a *activation, args []argument) {
	for i := range args {
		to := args[i].cursor
		if to == nil {
			continue
		}
		at := i
		if args[i].name != "" {
			at = a.unit.paramIndex(args[i].name)
		}
		if c := a.variables[fold(a.unit.params[at].name)]; c != nil {
			to.from.refer(to.name, c)
		}
	}
}
