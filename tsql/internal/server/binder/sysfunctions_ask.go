package binder

import (
	"maps"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Facts is what the functions of these files ask a session besides what every statement does. A session that lacks it
// is one without a login, as tests have them.
type Facts interface {
	Login() *schema.Login
	Principal() *schema.Principal
	// UserIn is the user that the session is in a database; nil if it may not enter.
	UserIn(db *schema.Database) *schema.Principal
	// Temporary finds a temporary table of the session; nil if there is none.
	Temporary(name string) *schema.Table
	// TemporaryProcedure finds a temporary procedure that the session may call; nil if there is none.
	TemporaryProcedure(name string) *schema.Module
	// SessionContext is the value of a key, a sql_variant.
	SessionContext(key string) execute.Value
	// ApplicationMode is how the session holds an application lock ("NoLock", "Exclusive", …), and ApplicationFree
	// whether it could have it in a mode at once. ok is false for an owner or a mode that is none.
	ApplicationMode(principal, resource, owner string) (mode string, ok bool)
	ApplicationFree(principal, resource, mode, owner string) (free, ok bool)
	// TriggerLevel is how many triggers are being executed, or how often the one with an id is.
	TriggerLevel(id int32) int64
}

// question is a call of a function that asks the catalog or the session.
type question struct {
	run  *execute.Run
	args []execute.Value
}

// answer evaluates such a call.
type answer func(q *question) (execute.Value, error)

// asked is such a function: its answer, and what its arguments are converted to: s text, i int, a as they are.
type asked struct {
	args   string
	answer answer
}

// sessionFunctions are the functions that ask the catalog or the session, by upper-case name.
var sessionFunctions = func() map[string]asked {
	all := map[string]asked{}
	for _, family := range []map[string]asked{
		propertyFunctions, userFunctions, stateFunctions, nameFunctions,
	} {
		maps.Copy(all, family)
	}
	return all
}()

var (
	askedText = value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: 4000}}
	askedInt  = value.Type{Type: sqltype.Type{Kind: sqltype.Int}}
)

// askedCall binds a call of such a function.
func (b *Binder) askedCall(s *scope, name string, f asked, x *syntax.Call) (*Node, error) {
	args, known, err := b.arguments(s, x)
	if err != nil {
		return nil, err
	}
	if err := countArguments(name, x); err != nil {
		return nil, err
	}
	typed := make([]builtin.Argument, len(known))
	for i, a := range known {
		typed[i] = builtin.Argument{Type: a.Type.Type, Nullable: a.Nullable, Literal: a.Literal}
	}
	found, _ := builtin.Lookup(x)
	call := &builtin.Call{Syntax: x, Name: name, Args: typed}
	t, err := found.Type(call)
	if err != nil {
		return nil, fault.New(8116, described(known[0].Type), 1, strings.ToLower(name))
	}
	for i := range args {
		if args[i], err = b.askedArgument(args[i], f.args, i); err != nil {
			return nil, err
		}
	}
	return &Node{
		Name: name + "()", Type: value.Type{Type: t}, Nullable: found.Nullable(call, builtin.Rows{}), Args: args, at: x.Span,
		session: true, Value: func(args []Code) execute.Expr { return askCode(f.answer, Operands(args)) },
	}, nil
}

// askCode evaluates the arguments and asks.
func askCode(answer answer, args []execute.Expr) execute.Expr {
	return func(r *execute.Run) (execute.Value, error) {
		q := &question{run: r, args: make([]execute.Value, len(args))}
		for i, e := range args {
			var err error
			if q.args[i], err = e(r); err != nil {
				return execute.Value{}, err
			}
		}
		return answer(q)
	}
}

// countArguments returns an error if a call has too few or too many arguments.
func countArguments(name string, x *syntax.Call) error {
	f, _ := builtin.Lookup(x)
	if _, ok := f.Kinds(len(x.Args)); ok {
		return nil
	}
	least, most := f.Arity()
	if least == most {
		return fault.New(174, strings.ToLower(name), least)
	}
	return fault.New(189, strings.ToLower(name), least, most)
}

// askedArgument converts an argument to what the function takes.
func (b *Binder) askedArgument(n *Node, kinds string, i int) (*Node, error) {
	if i >= len(kinds) || n.Type.Kind == sqltype.Null {
		return n, nil
	}
	switch kinds[i] {
	case 's':
		return b.implicitly(n, askedText)
	case 'i':
		return b.implicitly(n, askedInt)
	default:
		return n, nil
	}
}

// session is who is asked.
func (q *question) session() execute.Session { return q.run.Frame.Session }

// db is the current database.
func (q *question) db() *schema.Database { return q.session().Database() }

// server is all databases.
func (q *question) server() *schema.Server { return q.db().Server() }

// facts are those of the session.
func (q *question) facts() Facts {
	if f, ok := q.session().(Facts); ok {
		return f
	}
	return noFacts{q.db()}
}

// user is whose metadata is visible.
func (q *question) user() *schema.Principal { return q.facts().Principal() }

// text is an argument; ok is false if it is NULL or missing.
func (q *question) text(i int) (s string, ok bool) {
	if i >= len(q.args) || q.args[i].IsNull() {
		return "", false
	}
	return q.args[i].Str(), true
}

// word is an argument that is a word of the system: in upper case and without blanks around it.
func (q *question) word(i int) string {
	s, _ := q.text(i)
	return strings.ToUpper(strings.TrimSpace(s))
}

// number is an argument; ok is false if it is NULL or missing.
func (q *question) number(i int) (n int32, ok bool) {
	if i >= len(q.args) || q.args[i].IsNull() {
		return 0, false
	}
	return int32(q.args[i].Int()), true
}

// missing reports whether an argument is left out.
func (q *question) missing(i int) bool { return i >= len(q.args) }

// noFacts answers for a session without a login.
type noFacts struct{ db *schema.Database }

func (noFacts) Login() *schema.Login                              { return nil }
func (n noFacts) Principal() *schema.Principal                    { return n.db.Dbo() }
func (noFacts) UserIn(db *schema.Database) *schema.Principal      { return db.Dbo() }
func (noFacts) TemporaryProcedure(string) *schema.Module          { return nil }
func (noFacts) Temporary(string) *schema.Table                    { return nil }
func (noFacts) SessionContext(string) execute.Value               { return execute.Value{} }
func (noFacts) ApplicationMode(_, _, _ string) (string, bool)     { return "NoLock", true }
func (noFacts) TriggerLevel(int32) int64                          { return 0 }
func (noFacts) ApplicationFree(_, _, _, _ string) (free, ok bool) { return true, true }

// null is the answer when there is none.
var null = execute.Value{}

func textOrNull(s string, ok bool) (execute.Value, error) {
	if !ok {
		return null, nil
	}
	return value.OfString(s), nil
}

func intValue[N ~int | ~int32 | ~int64](n N) (execute.Value, error) {
	return value.OfInt(int64(n)), nil
}

func boolValue(b bool) (execute.Value, error) {
	if b {
		return value.OfInt(1), nil
	}
	return value.OfInt(0), nil
}

// variant is a value of sql_variant.
func variant(v execute.Value, t value.Type) (execute.Value, error) {
	if v.IsNull() {
		return null, nil
	}
	return value.OfVariant(v, t), nil
}

// variantText and variantInt are the values that properties usually have.
func variantText(s string) (execute.Value, error) {
	return variant(value.OfString(s), value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: 128}})
}

func variantInt[N ~int | ~int32 | ~int64](n N) (execute.Value, error) {
	return variant(value.OfInt(int64(n)), askedInt)
}

func variantBool(b bool) (execute.Value, error) {
	if b {
		return variantInt(1)
	}
	return variantInt(0)
}
