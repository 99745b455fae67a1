package analyze

import (
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// method types a method of xml or of a CLR type. What stands in the path of one of xml is the server's to check.
//
//	@x.value('(/a)[1]', 'int')   @x.query('/a')   @x.exist('/a')   @node.GetLevel()   hierarchyid::GetRoot()
func (a *analyzer) method(s *scope, m *syntax.Method) typed {
	if m.Type != nil {
		return a.typeMethod(s, m)
	}
	x := a.expr(s, m.X)
	isSpatial := x.Type.Kind == sqltype.Geography || x.Type.Kind == sqltype.Geometry
	switch {
	case x.bad():
		return typed{}
	case m.Property:
		if t, known := spatialProperties[m.Name.Value]; known && isSpatial {
			return typed{Type: t, Nullable: true}
		}
		return a.fail(s.env, m.Name.Span, "", "%s has no property %s", x.Type, m.Name.Value)
	case x.Type.Kind == sqltype.HierarchyID:
		return a.hierarchyMethod(s, m, x)
	case isSpatial:
		return a.spatialMethod(s, m, x)
	case !a.isXMLMethod(s, m, x):
		return typed{}
	}
	switch m.Name.Value {
	case "value":
		return a.xmlValue(s, m)
	case "exist":
		return typed{Type: sqltype.Type{Kind: sqltype.Bit}, Nullable: x.Nullable}
	default:
		return typed{Type: typeXML, Nullable: x.Nullable}
	}
}

// isXMLMethod checks that what a method belongs to is xml and has it, and its arguments.
func (a *analyzer) isXMLMethod(s *scope, m *syntax.Method, x typed) bool {
	want, known := map[string]int{"value": 2, "query": 1, "exist": 1, "nodes": 1, "modify": 1}[m.Name.Value]
	switch {
	case x.Type.IsCharacter() && known:
		a.fail(s.env, m.X.Range(), "CAST it to xml", "%s has no method %s", x.Type, m.Name.Value)
	case x.Type.Kind != sqltype.XML || !known:
		a.fail(s.env, m.Name.Span, "", "%s has no method %s", x.Type, m.Name.Value)
	case len(m.Args) != want:
		a.fail(s.env, m.Span, "", "%s takes %s", m.Name.Value, diag.Count(want, "argument"))
	default:
		return a.areConstants(s, m)
	}
	return false
}

// areConstants checks that the arguments of a method are strings as they stand.
func (a *analyzer) areConstants(s *scope, m *syntax.Method) bool {
	for _, arg := range m.Args {
		if l, ok := syntax.Unparen(arg).(*syntax.Literal); !ok || l.Kind != syntax.StringLiteral && l.Kind != syntax.NStringLiteral {
			a.fail(s.env, arg.Range(), "write it as a string", "the arguments of %s are constants", m.Name.Value)
			return false
		}
	}
	return true
}

// xmlValue types x.value(path, type): NULL where the path finds nothing.
func (a *analyzer) xmlValue(s *scope, m *syntax.Method) typed {
	text, ok := syntax.Unparen(m.Args[1]).(*syntax.Literal)
	if !ok {
		return typed{}
	}
	file := diag.NewFile("", text.Value)
	name, rest, found := syntax.ParseType(file, diag.Span{To: diag.Pos(len(text.Value))})
	if len(found) > 0 || rest.From != rest.To {
		return a.fail(s.env, text.Span, "", "%s is not a type", text.Value)
	}
	t, err := a.cat.CastType(name)
	if err != nil {
		return a.fail(s.env, text.Span, "", "%v", err)
	}
	return typed{Type: t, Nullable: true}
}

// nodes types x.nodes(path) AS t (c): rows with one column, which only methods read.
func (a *analyzer) nodes(s *scope, n *syntax.NodesTable) *source {
	rel := relation{rows: Many}
	if x := a.expr(s, n.Call.X); !x.bad() && a.isXMLMethod(s, n.Call, x) {
		rel.columns = []Column{{Type: typeXML, Span: n.Span}}
	} else {
		rel.bad = true
	}
	return a.named(s, rel, n.Alias, n.Columns, n.Span)
}
