package planner_test

import (
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// TestNoPanic compiles whatever the generator's golden cases have, right or wrong: an error may come of it, but no
// panic.
func TestNoPanic(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../../sqlc-gen-tsql/testdata/golden/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no golden cases", err)
	}
	compiled := 0
	for _, path := range paths {
		l := newLab(t)
		for _, f := range readArchive(t, path) {
			if strings.HasSuffix(f.name, ".sql") {
				compiled += l.compileAll(t, path, f)
			}
		}
	}
	if compiled < 500 {
		t.Errorf("only %d statements", compiled)
	}
}

// compileAll defines what a script defines, and compiles its queries and those of its modules.
func (l *lab) compileAll(t *testing.T, path string, f archive) (compiled int) {
	t.Helper()
	l.file = diag.NewFile(f.name, f.text)
	script, _ := syntax.Parse(l.file)
	for _, b := range script.Batches {
		for _, stmt := range b.Stmts {
			if _, ok := stmt.(*syntax.Insert); !ok {
				safely(t, path, func() { _ = l.execute(stmt) })
			}
		}
	}
	for _, b := range script.Batches {
		for _, stmt := range b.Stmts {
			env, body := l.env(), []syntax.Stmt{stmt}
			if name := moduleOf(stmt); name != "" {
				for _, o := range l.db.Objects {
					if m, ok := o.(*schema.Module); ok && strings.EqualFold(m.Name, name) {
						safely(t, path, func() { env, body = l.tryInside(m) })
					}
				}
			}
			for _, s := range body {
				syntax.Walk(s, func(n syntax.Node) bool {
					if inner, ok := n.(syntax.Stmt); ok {
						compiled++
						safely(t, path+" "+env.File.Slice(n.Range()), func() { _, _ = planner.Compile(env, inner) })
					}
					return true
				})
			}
		}
	}
	return compiled
}

func moduleOf(stmt syntax.Stmt) string {
	switch m := stmt.(type) {
	case *syntax.CreateProcedure:
		return m.Name.Last().Value
	case *syntax.CreateFunction:
		return m.Name.Last().Value
	default:
		return ""
	}
}

// tryInside is inside for modules that may be wrong.
func (l *lab) tryInside(m *schema.Module) (*binder.Env, []syntax.Stmt) {
	quiet := *l
	quiet.tb = lenient{l.tb}
	return quiet.inside(m)
}

// lenient is a test that does not mind errors.
type lenient struct{ testing.TB }

func (lenient) Fatal(...any)          {}
func (lenient) Fatalf(string, ...any) {}

func safely(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: %v\n%s", what, r, fmt.Sprintf("%.1500s", debug.Stack()))
		}
	}()
	f()
}
