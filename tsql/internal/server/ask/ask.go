// Package ask answers the functions that ask the catalog or the session, such as OBJECT_ID, HAS_PERMS_BY_NAME and
// XACT_STATE, and the @@variables that the session's methods do not answer. Package binder binds calls of them.
//
// In reading order: ask.go has the questions; state.go asks about the session, and variable.go answers @@variables;
// object.go and property.go ask the catalog, and user.go asks who may do what.
package ask

import (
	"maps"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// Facts is what the functions ask a session besides what every statement does. A session that lacks it is one without a
// login, as tests have them.
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

// Catalog is what a session is too if queries may read the views of the system: it says who asks.
type Catalog interface {
	Catalog() *sysview.Context
}

// Context is who asks for rows of the system's views.
func Context(x *execute.Frame) *sysview.Context {
	if c, ok := x.Session.(Catalog); ok {
		return c.Catalog()
	}
	db := x.Session.Database()
	return &sysview.Context{Server: db.Server(), Database: db, Now: x.Session.Now()}
}

// question is a call of a function that asks the catalog or the session.
type question struct {
	run  *execute.Run
	args []execute.Value
}

// answer evaluates such a call.
type answer func(q *question) (execute.Value, error)

// Function is one of the functions: its answer, and what its arguments are converted to: s text, i int, a as they are.
type Function struct {
	args   string
	answer answer
}

// Takes returns what an argument is converted to; ok is false if it is taken as it is.
func (f Function) Takes(i int) (t value.Type, ok bool) {
	switch {
	case i >= len(f.args):
		return t, false
	case f.args[i] == 's':
		return askedText, true
	case f.args[i] == 'i':
		return askedInt, true
	default:
		return t, false
	}
}

// Functions are all of them, by upper-case name.
var Functions = func() map[string]Function {
	all := map[string]Function{}
	for _, family := range []map[string]Function{
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

// Code evaluates the arguments and asks.
func (f Function) Code(args []execute.Expr) execute.Expr {
	return func(r *execute.Run) (execute.Value, error) {
		q := &question{run: r, args: make([]execute.Value, len(args))}
		for i, e := range args {
			var err error
			if q.args[i], err = e(r); err != nil {
				return execute.Value{}, err
			}
		}
		return f.answer(q)
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
