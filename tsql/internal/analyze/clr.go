package analyze

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// A hierarchyMethod is a method of hierarchyid, by its reference. It is NULL if the value or an argument is, and some
// can be NULL besides.
type hierarchyMethod struct {
	args     int
	result   sqltype.Type
	nullable bool // GetAncestor has none above the root
}

var hierarchyMethods = map[string]hierarchyMethod{
	"GetAncestor":        {1, typeHierarchy, true},
	"GetDescendant":      {2, typeHierarchy, true},
	"GetLevel":           {0, sqltype.Type{Kind: sqltype.SmallInt}, false},
	"GetReparentedValue": {2, typeHierarchy, true},
	"IsDescendantOf":     {1, sqltype.Type{Kind: sqltype.Bit}, false},
	"ToString":           {0, sqltype.Type{Kind: sqltype.NVarChar, Length: 4000}, false},
}

var typeHierarchy = sqltype.Type{Kind: sqltype.HierarchyID}

// hierarchyMethod types a method of a value of hierarchyid. Names of methods are compared with case.
func (a *analyzer) hierarchyMethod(s *scope, m *syntax.Method, x typed) typed {
	method, known := hierarchyMethods[m.Name.Value]
	switch {
	case !known:
		return a.fail(s.env, m.Name.Span, "", "hierarchyid has no method %s", m.Name.Value)
	case len(m.Args) != method.args:
		return a.fail(s.env, m.Span, "", "%s takes %s", m.Name.Value, diag.Count(method.args, "argument"))
	}
	nullable := x.Nullable || method.nullable
	for _, arg := range m.Args {
		t := a.expr(s, arg)
		nullable = nullable || t.Nullable
	}
	return typed{Type: method.result, Nullable: nullable}
}

// typeMethod types a method of a CLR type itself: hierarchyid::GetRoot(), geography::Point(47.6, -122.3, 4326).
func (a *analyzer) typeMethod(s *scope, m *syntax.Method) typed {
	args, ofHierarchy := map[string]int{"GetRoot": 0, "Parse": 1}[m.Name.Value]
	name := strings.ToLower(m.Type.Value)
	own, isSpatial := spatial[name]
	switch {
	case isSpatial && slices.Contains(strings.Fields(spatialMakers), m.Name.Value):
		a.spatialArguments(s, m)
		return typed{Type: own, Nullable: true}
	case name != "hierarchyid" || !ofHierarchy:
		return a.failServer(s.env, m.Span, "", "%s::%s is not known to the generator", m.Type.Value, m.Name.Value)
	case len(m.Args) != args:
		return a.fail(s.env, m.Span, "", "%s takes %s", m.Name.Value, diag.Count(args, "argument"))
	}
	out := typed{Type: typeHierarchy}
	for _, arg := range m.Args {
		out.Nullable = a.expr(s, arg).Nullable
	}
	return out
}

// spatial are geography and geometry by their names.
var spatial = map[string]sqltype.Type{
	"geography": {Kind: sqltype.Geography}, "geometry": {Kind: sqltype.Geometry},
}

// What the methods of geography and geometry return, by their reference: a value of the same type, or another one.
// Those that only one of the two has are here as well.
const spatialMakers = `GeomFromGml Parse Point STGeomCollFromText STGeomCollFromWKB STGeomFromText STGeomFromWKB
	STLineFromText STLineFromWKB STMLineFromText STMLineFromWKB STMPointFromText STMPointFromWKB STMPolyFromText
	STMPolyFromWKB STPointFromText STPointFromWKB STPolyFromText STPolyFromWKB`

const spatialOwn = `BufferWithCurves BufferWithTolerance CurveToLineWithTolerance EnvelopeCenter MakeValid Reduce
	ReorientObject RingN ShortestLineTo STBoundary STBuffer STCentroid STConvexHull STCurveN STCurveToLine STDifference
	STEndPoint STEnvelope STExteriorRing STGeometryN STInteriorRingN STIntersection STPointN STPointOnSurface STStartPoint
	STSymDifference STUnion`

var spatialOthers = map[string]sqltype.Type{
	`Filter InstanceOf STContains STCrosses STDisjoint STEquals STIntersects STIsClosed STIsEmpty STIsRing STIsSimple
	STIsValid STOverlaps STRelate STTouches STWithin`: {Kind: sqltype.Bit},
	`EnvelopeAngle STArea STDistance STLength`:                                       {Kind: sqltype.Float},
	`NumRings STDimension STNumCurves STNumGeometries STNumInteriorRing STNumPoints`: {Kind: sqltype.Int},
	`AsTextZM IsValidDetailed STAsText ToString`:                                     {Kind: sqltype.NVarChar, Length: sqltype.Max},
	`STGeometryType`:        {Kind: sqltype.NVarChar, Length: 4000},
	`AsBinaryZM STAsBinary`: {Kind: sqltype.VarBinary, Length: sqltype.Max},
	`AsGml`:                 {Kind: sqltype.XML},
}

var spatialProperties = map[string]sqltype.Type{
	"HasM": {Kind: sqltype.Bit}, "HasZ": {Kind: sqltype.Bit}, "Lat": {Kind: sqltype.Float}, "Long": {Kind: sqltype.Float},
	"M": {Kind: sqltype.Float}, "STSrid": {Kind: sqltype.Int}, "STX": {Kind: sqltype.Float}, "STY": {Kind: sqltype.Float},
	"Z": {Kind: sqltype.Float},
}

// spatialMethod types a method of geography or geometry. Each can be NULL.
func (a *analyzer) spatialMethod(s *scope, m *syntax.Method, x typed) typed {
	a.spatialArguments(s, m)
	if slices.Contains(strings.Fields(spatialOwn), m.Name.Value) {
		return typed{Type: x.Type, Nullable: true}
	}
	for names, t := range spatialOthers {
		if slices.Contains(strings.Fields(names), m.Name.Value) {
			return typed{Type: t, Nullable: true}
		}
	}
	return a.failServer(s.env, m.Span, "", "the method %s of %s is not known to the generator", m.Name.Value, x.Type)
}

// spatialArguments checks the arguments by themselves.
func (a *analyzer) spatialArguments(s *scope, m *syntax.Method) {
	for _, arg := range m.Args {
		a.expr(s, arg)
	}
}

// property types a property of a column of geography or geometry: p.place.Lat. It is false if it is none.
func (a *analyzer) property(s *scope, ref *syntax.ColumnRef) (typed, bool) {
	n := len(ref.Parts) - 1
	t, known := spatialProperties[ref.Parts[n].Value]
	if n == 0 || !known || !a.isColumn(s, ref.Parts[:n]) {
		return typed{}, false
	}
	if _, isColumn := a.local(s, ref); isColumn {
		return typed{}, false // of a table that is called like a column
	}
	column := &syntax.ColumnRef{Span: ref.Parts[0].Span.Until(ref.Parts[n-1].Span), Parts: ref.Parts[:n]}
	if kind := a.expr(s, column).Type.Kind; kind != sqltype.Geography && kind != sqltype.Geometry {
		return typed{}, false
	}
	return typed{Type: t, Nullable: true}, true
}
