package syntax_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// nodeTypes holds every node type; TestNodeTypesAreAllKnown compares it with the declarations in ast.go and ast_*.go.
var nodeTypes = []syntax.Node{
	&syntax.Script{}, &syntax.Batch{}, &syntax.Comment{}, &syntax.Ident{}, &syntax.ObjectName{}, &syntax.TypeName{}, &syntax.Option{},
	// Expressions.
	&syntax.Literal{}, &syntax.Variable{}, &syntax.SystemVariable{}, &syntax.ColumnRef{}, &syntax.Star{}, &syntax.Call{}, &syntax.Cast{}, &syntax.Method{}, &syntax.Unary{}, &syntax.Binary{}, &syntax.Paren{},
	&syntax.Case{}, &syntax.CaseWhen{}, &syntax.Subquery{}, &syntax.NextValue{}, &syntax.AtTimeZone{}, &syntax.Collate{}, &syntax.Compare{}, &syntax.Quantified{}, &syntax.Logical{},
	&syntax.Not{}, &syntax.Between{}, &syntax.In{}, &syntax.Like{}, &syntax.IsNull{}, &syntax.Exists{}, &syntax.UpdateTest{}, &syntax.Window{}, &syntax.OrderItem{},
	// Queries.
	&syntax.Query{}, &syntax.CTE{}, &syntax.ForClause{}, &syntax.Select{}, &syntax.SetOperation{}, &syntax.ParenQuery{}, &syntax.SelectItem{}, &syntax.NamedWindow{}, &syntax.Top{},
	&syntax.GroupBy{}, &syntax.TableRef{}, &syntax.VariableTable{}, &syntax.DerivedTable{}, &syntax.ValuesTable{}, &syntax.FunctionTable{}, &syntax.NodesTable{}, &syntax.Join{}, &syntax.ParenSource{},
	&syntax.Pivot{}, &syntax.JSONColumn{},
	// Statements.
	&syntax.SelectStmt{}, &syntax.Insert{}, &syntax.Update{}, &syntax.Delete{}, &syntax.Merge{}, &syntax.Truncate{}, &syntax.MergeAction{}, &syntax.Assignment{}, &syntax.Output{},
	&syntax.Declare{}, &syntax.SetVariable{}, &syntax.SetOption{}, &syntax.If{}, &syntax.While{}, &syntax.Block{}, &syntax.TryCatch{}, &syntax.Return{}, &syntax.Break{}, &syntax.Continue{},
	&syntax.Goto{}, &syntax.Label{}, &syntax.Throw{}, &syntax.Raiserror{}, &syntax.Print{}, &syntax.Waitfor{}, &syntax.Transaction{}, &syntax.Exec{}, &syntax.CursorStmt{}, &syntax.Use{},
	&syntax.Other{}, &syntax.ExecArg{}, &syntax.ResultSets{}, &syntax.CursorDefinition{}, &syntax.ResultSetDef{}, &syntax.VarDecl{},
	// Definitions.
	&syntax.CreateTable{}, &syntax.AlterTable{}, &syntax.CreateIndex{}, &syntax.CreateType{}, &syntax.CreateView{}, &syntax.CreateFunction{}, &syntax.CreateProcedure{},
	&syntax.CreateTrigger{}, &syntax.CreateSequence{}, &syntax.CreateSynonym{}, &syntax.CreateSchema{}, &syntax.CreatePrincipal{}, &syntax.Permission{}, &syntax.Drop{},
	&syntax.PrincipalDetail{}, &syntax.SpecialIndex{}, &syntax.FullTextIndex{}, &syntax.AlterIndex{}, &syntax.AlterSequence{}, &syntax.AlterSchema{}, &syntax.AlterAuthorization{}, &syntax.CreateDatabase{},
	&syntax.AlterDatabase{}, &syntax.SwitchTrigger{}, &syntax.DBCC{}, &syntax.AlterServerRole{}, &syntax.ExecuteAs{},
	&syntax.Revert{}, &syntax.Kill{}, &syntax.UpdateStatistics{},
	&syntax.Param{}, &syntax.TableDef{}, &syntax.ColumnDef{}, &syntax.Constraint{}, &syntax.IndexDef{}, &syntax.IndexColumn{},
}

// TestNodeTypesAreAllKnown fails when a struct with a span is added to the tree's files and not to nodeTypes.
func TestNodeTypesAreAllKnown(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, n := range nodeTypes {
		known[reflect.TypeOf(n).Elem().Name()] = true
	}
	files, err := filepath.Glob("ast*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if structure, ok := spec.Type.(*ast.StructType); ok && embedsSpan(structure) {
				declared++
				if !known[spec.Name.Name] {
					t.Errorf("%s is missing in nodeTypes", spec.Name.Name)
				}
			}
			return false
		})
	}
	if declared+1 != len(nodeTypes) { // a Script says its span itself
		t.Errorf("%d node types with a span are declared in %v, nodeTypes has %d", declared, files, len(nodeTypes))
	}
}

func embedsSpan(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
		name, ok := f.Type.(*ast.SelectorExpr)
		return ok && len(f.Names) == 0 && name.Sel.Name == "Span"
	})
}

// TestWalkVisitsEveryField fills every field of every node type that can hold nodes and asks for each of them.
func TestWalkVisitsEveryField(t *testing.T) {
	t.Parallel()
	for _, prototype := range nodeTypes {
		kind := reflect.TypeOf(prototype).Elem()
		t.Run(kind.Name(), func(t *testing.T) {
			t.Parallel()
			direct(prototype, func(n syntax.Node) { // nothing is missing in it but may be nil
				if v := reflect.ValueOf(n); v.IsNil() {
					t.Errorf("a nil %T was visited", n)
				}
			})
			value := reflect.New(kind)
			want := map[syntax.Node]string{}
			for i := range kind.NumField() {
				fill(value.Elem().Field(i), kind.Field(i).Name, want)
			}
			direct(value.Interface().(syntax.Node), func(n syntax.Node) {
				if _, ok := want[n]; !ok {
					t.Errorf("visited %T, which is not a direct child, or twice", n)
				}
				delete(want, n)
			})
			for n, field := range want {
				t.Errorf("%T in field %s was not visited", n, field)
			}
		})
	}
}

// direct calls visit for the direct children of a node.
func direct(node syntax.Node, visit func(syntax.Node)) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if n != node {
			visit(n)
		}
		return n == node
	})
}

var (
	nodeType = reflect.TypeFor[syntax.Node]()
	spanType = reflect.TypeFor[diag.Span]()
)

// fill puts something into a field and records the nodes that a walk must find there.
func fill(field reflect.Value, name string, want map[syntax.Node]string) {
	kind := field.Type()
	if kind == spanType || kind == reflect.TypeFor[syntax.Comment]() {
		return // where something stands is no node, and comments are not walked
	}
	samples := map[reflect.Type]syntax.Node{
		reflect.TypeFor[syntax.Expr]():        &syntax.Variable{Name: name},
		reflect.TypeFor[syntax.Stmt]():        &syntax.Print{},
		reflect.TypeFor[syntax.QueryBody]():   &syntax.Select{},
		reflect.TypeFor[syntax.TableSource](): &syntax.VariableTable{},
		reflect.TypeFor[syntax.Detail]():      &syntax.AlterIndex{},
	}
	switch {
	case samples[kind] != nil:
		field.Set(reflect.ValueOf(samples[kind]))
		want[samples[kind]] = name
	case kind.Kind() == reflect.Pointer && kind.Implements(nodeType):
		field.Set(reflect.New(kind.Elem()))
		want[field.Interface().(syntax.Node)] = name
	case kind.Kind() == reflect.Struct && reflect.PointerTo(kind).Implements(nodeType):
		want[field.Addr().Interface().(syntax.Node)] = name
	case kind.Kind() == reflect.Slice:
		field.Set(reflect.MakeSlice(kind, 2, 2))
		fill(field.Index(0), name, want)
		fill(field.Index(1), name, want)
	}
}

func TestUnparen(t *testing.T) {
	t.Parallel()
	one := &syntax.Literal{}
	for name, x := range map[string]syntax.Expr{"bare": one, "once": &syntax.Paren{X: one}, "twice": &syntax.Paren{X: &syntax.Paren{X: one}}} {
		if got := syntax.Unparen(x); got != one {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if got := syntax.Unparen(nil); got != nil {
		t.Errorf("of nothing: got %v", got)
	}
}

func TestWalkCanSkipAndStop(t *testing.T) {
	t.Parallel()
	inner := &syntax.Variable{Name: "@inner"}
	tree := &syntax.Not{X: &syntax.Logical{X: &syntax.Paren{X: inner}, Y: &syntax.Variable{Name: "@outer"}}}

	var seen []string
	syntax.Walk(tree, func(n syntax.Node) bool {
		if v, ok := n.(*syntax.Variable); ok {
			seen = append(seen, v.Name)
		}
		_, paren := n.(*syntax.Paren)
		return !paren
	})
	if !slices.Equal(seen, []string{"@outer"}) {
		t.Errorf("what is below a refused node was visited: %v", seen)
	}

	for v := range syntax.All[*syntax.Variable](tree) {
		if v != inner {
			t.Errorf("%s came first", v.Name)
		}
		break // a second call of yield would panic
	}

	depth, deepest := 0, 0
	syntax.Inspect(tree, func(syntax.Node) bool {
		depth++
		deepest = max(deepest, depth)
		return true
	}, func(syntax.Node) { depth-- })
	if depth != 0 || deepest != 4 {
		t.Errorf("depth %d after the walk, at most %d in it; want 0 and 4", depth, deepest)
	}
}
