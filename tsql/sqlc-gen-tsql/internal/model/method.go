package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// procedure builds the method that calls a procedure.
func (b *builder) procedure(p *analyze.Procedure, goName string) *Method {
	m := &Method{Name: goName, SQLName: p.Name.String(), Status: p.Status, Stream: -1}
	b.claim(b.methods, p.Place, goName, "procedure "+m.SQLName)
	results := scope{} // the fields of the result struct, which sets and outputs share
	m.Params, m.Args = b.params(m, p.Place, p.Params)
	for i, set := range p.Results {
		m.Sets = append(m.Sets, b.set(m, p, i, results))
		if !set.Stream {
			continue
		}
		if m.Stream >= 0 {
			b.found.Add(set.File, set.Span, "shape", "read the other one as a slice (:many)",
				"procedure %s streams two result sets, and only one can be", m.SQLName)
		}
		m.Stream = i
	}
	b.flow(m, p)
	b.result(m, p.Place, results)
	m.Doc = b.doc(m, p.Doc, "calls procedure "+m.SQLName, p.Errors)
	m.Statement = b.call(p, m.Args)
	return m
}

// query builds the method that runs an annotated query. It has no result struct: what a query yields is one thing.
func (b *builder) query(q *analyze.Query, goName string) *Method {
	m := &Method{Name: goName, SQLName: q.Name, Command: q.Command, Stream: -1}
	b.claim(b.methods, q.Place, goName, "query "+q.Name)
	m.Params, m.Args = b.params(m, q.Place, q.Params)
	switch q.Command {
	case analyze.CommandOne, analyze.CommandMany:
		m.Sets = []Set{b.rows(q, m)}
	case analyze.CommandBatch:
		b.checkBatch(q, m)
	default:
	}
	if m.Sequence = b.options.Sequences && q.Command == analyze.CommandMany; m.Sequence {
		b.claim(b.methods, q.Place, goName+"Seq", "the sequence of query "+q.Name)
	}
	m.Doc = b.doc(m, q.Doc, purpose(q), q.Errors)
	m.Statement = b.text(q, m.Args)
	return m
}

// checkBatch refuses a :batch without parameters to repeat it for, or with some that can't be repeated.
func (b *builder) checkBatch(q *analyze.Query, m *Method) {
	if m.Params == nil {
		b.found.Add(q.File, q.Span, "type", "use :exec", "query %s is a :batch without parameters", q.Name)
	}
	for _, a := range m.Args {
		if a.Table != nil { // its rows are the elements already
			b.found.Add(q.File, q.Span, "type", "use :exec, the table already holds many rows",
				"query %s is a :batch with the table @%s", q.Name, a.Name)
		}
	}
}

// params builds the params struct. There is one however few parameters there are, so that another one, with a default,
// changes no caller.
func (b *builder) params(m *Method, at catalog.Place, params []analyze.Param) (*Struct, []Arg) {
	if len(params) == 0 {
		return nil, nil
	}
	s := &Struct{Name: m.Name + "Params", Doc: "holds the arguments of [Queries." + m.Name + "]."}
	b.claim(b.exported, at, s.Name, "the params of "+m.SQLName)
	fields := scope{}
	args := make([]Arg, 0, len(params))
	for _, p := range params {
		place := catalog.Place{File: at.File, Span: p.Span}
		arg, field, ok := b.param(m, place, p)
		if !ok {
			continue
		}
		b.claim(fields, place, arg.Field, "parameter "+p.Name)
		s.Fields = append(s.Fields, field)
		args = append(args, arg)
	}
	b.documents(args)
	return s, args
}

// param builds an argument and its field. How it is passed follows from the declaration: an output can't be left out,
// since its value has to go somewhere, which puts its default out of reach; a default of NULL makes NULL and "not
// passed" the same, so that a pointer does.
func (b *builder) param(m *Method, at catalog.Place, p analyze.Param) (Arg, Field, bool) {
	b.checkParamName(at, p.Name)
	arg := Arg{Name: strings.TrimPrefix(p.Name, "@"), Field: b.name(at, m.SQLName, p.Name)}
	if strings.HasPrefix(strings.ToLower(arg.Name), "gen_") {
		b.found.Add(at.File, at.Span, "name", "name it otherwise", "names like %s are for parameters of generated calls", p.Name)
	}
	if p.Table != nil {
		arg.Mode, arg.Table = TableArg, b.table(p.Table)
		return arg, Field{Name: arg.Field, Type: "[]" + arg.Table.Name}, true
	}
	g, ok := b.typeOf(at, "parameter "+p.Name+" of "+m.SQLName, p)
	if !ok {
		return arg, Field{}, false
	}
	arg.Type, arg.SQLNull = g, b.pkg.Nulls == NullsSQL
	field := Field{Name: arg.Field}
	nullDefault := strings.EqualFold(p.Default, "null")
	switch {
	case p.Output:
		b.checkOutput(at, m, p)
		arg.Mode, field.Type = Output, b.pkg.nullable(g)
		arg.NotNull = p.NotNull && !g.Bytes()
		field.Doc = "in and out"
		if p.Optional && !nullDefault {
			field.Doc += "; nil is NULL, not the default, " + oneLine(p.Default)
		}
	case p.Optional && p.Nullable && !nullDefault: // three states: not passed, NULL, a value
		arg.Mode, field.Type = OptionalNull, "*sql.Null["+g.Name+"]"
		field.Doc = "nil: the default, " + oneLine(p.Default)
	case p.Optional:
		arg.Mode, field.Type = OptionalArg, "*"+g.Name
		if g.Bytes() {
			field.Type = g.Name
		}
		field.Doc = "nil: the default, " + oneLine(p.Default)
	case p.Nullable:
		arg.Mode, field.Type = Nullable, b.pkg.nullable(g)
	default:
		arg.Mode, field.Type = Required, g.Name
	}
	return arg, field, true
}

// checkOutput refuses what a parameter can't bring back: T-SQL has no output of text, ntext and image, and the driver
// no form of xml.
func (b *builder) checkOutput(at catalog.Place, m *Method, p analyze.Param) {
	switch p.Type.Kind {
	case "xml", "text", "ntext", "image":
		b.found.Add(at.File, at.Span, "type", "return it in a result set",
			"the driver can't receive the output parameter %s of %s, of type %s", p.Name, m.SQLName, p.Type.Kind)
	default:
	}
}

// oneLine makes a text fit behind a field.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// documents names the parameters that carry the JSON of tables, apart from all others.
func (b *builder) documents(args []Arg) {
	for i, a := range args {
		if a.Mode == TableArg && b.pkg.Tables == TablesJSON {
			args[i].Document = unused(args, a.Name+"_json")
		}
	}
}

// unused returns a name that no argument has.
func unused(args []Arg, name string) string {
	for slices.ContainsFunc(args, func(a Arg) bool { return strings.EqualFold(a.Name, name) }) {
		name += "_"
	}
	return name
}

// set builds a result set of a procedure. Its field has the name that the script gives it, or else its number if there
// are several.
func (b *builder) set(m *Method, p *analyze.Procedure, i int, results scope) Set {
	r := p.Results[i]
	at := catalog.Place{File: r.File, Span: r.Span}
	s := Set{Rows: r.Rows, Maybe: r.Maybe, Repeated: r.Repeated, place: at}
	infix, value := "", isValue(r)
	switch {
	case r.Name != "":
		s.Field = b.name(at, m.SQLName, r.Name)
		infix = s.Field
	case len(p.Results) > 1:
		s.Field = fmt.Sprintf("Set%d", i+1)
		infix = s.Field
	case r.Repeated && r.Rows == analyze.Many:
		s.Field = "Sets"
	case value && (r.Rows == analyze.Many || r.Repeated):
		s.Field = "Values"
	case value:
		s.Field = "Value"
	case r.Rows == analyze.Many || r.Repeated:
		s.Field = "Rows"
	default:
		s.Field = "Row"
	}
	if !r.Stream && !b.claim(results, at, s.Field, fmt.Sprintf("result set %d of %s", i+1, m.SQLName)) {
		return s // its row would meet the other one's
	}
	if r.Maybe && !r.Repeated {
		s.Returned = s.Field + "Returned"
		b.claim(results, at, s.Returned, "whether there is a "+s.Field)
	}
	b.row(m, at, &s, m.Name+infix+"Row", r.Columns)
	if value && len(s.Values) == 1 {
		b.single(&s)
	}
	return s
}

// isValue reports whether a row is just a value: it has one column, and that has no name. A value that may be NULL in a
// row that may be absent is none: it would be a pointer to a pointer.
func isValue(r analyze.ResultSet) bool {
	return len(r.Columns) == 1 && cmp.Or(r.Columns[0].As, r.Columns[0].Name) == "" && (r.Rows != analyze.Optional || !r.Columns[0].Nullable)
}

// rows builds the result set of a query. A row of one column is just that value.
func (b *builder) rows(q *analyze.Query, m *Method) Set {
	s := Set{Rows: analyze.Many}
	if q.Command == analyze.CommandOne {
		s.Rows = analyze.One
	}
	b.row(m, q.Place, &s, m.Name+"Row", q.Columns)
	if len(s.Values) == 1 {
		b.single(&s)
	}
	return s
}

// single makes a row of one column just that value. What row claimed for its struct is free again.
func (b *builder) single(s *Set) {
	v := s.Values[0]
	delete(b.exported, s.Row.Name)
	s.Type = v.Type.Name
	if v.Nullable {
		s.Type = b.pkg.nullable(v.Type)
	}
	s.Row, s.Values = nil, []Value{{Type: v.Type, Nullable: v.Nullable}}
}

// row builds the struct of a row. Columns that can't be are left out, for the finding keeps the method out as well.
func (b *builder) row(m *Method, at catalog.Place, s *Set, goName string, columns []analyze.Column) {
	s.Type = goName
	s.Row = &Struct{Name: goName, Doc: "is a row that [Queries." + m.Name + "] returns."}
	b.claim(b.exported, at, goName, "a row of "+m.SQLName)
	fields := b.columnFields(m, at, columns)
	for i, c := range columns {
		g, ok := b.typeOf(columnPlace(at, c), "column "+cmp.Or(c.Name, fields[i].Name)+" of "+m.SQLName, analyze.Param{Type: c.Type})
		if !ok {
			continue
		}
		goType := g.Name
		if c.Nullable {
			goType = b.pkg.nullable(g)
		}
		s.Columns = append(s.Columns, c.Name)
		fields[i].Type = goType
		s.Row.Fields = append(s.Row.Fields, fields[i])
		s.Values = append(s.Values, Value{Field: fields[i].Name, Type: g, Nullable: c.Nullable})
	}
}

// columnFields names the fields of a row. Two columns that would have one name in Go are numbered, and a column without
// a name goes by its place: neither keeps a name from a column that comes later and has it by itself.
func (b *builder) columnFields(m *Method, at catalog.Place, columns []analyze.Column) []Field {
	fields := make([]Field, len(columns))
	bases := make([]string, len(columns))
	taken := map[string]bool{}
	for i, c := range columns {
		name := cmp.Or(c.As, c.Name)
		if name == "" {
			continue
		}
		bases[i] = b.name(columnPlace(at, c), m.SQLName, name)
		if !taken[bases[i]] {
			fields[i].Name, taken[bases[i]] = bases[i], true
		}
	}
	for i, c := range columns {
		if fields[i].Name != "" {
			continue
		}
		base, n := bases[i], 2
		fields[i].Doc = fmt.Sprintf("column %d, another %s", i+1, oneLine(cmp.Or(c.As, c.Name)))
		if base == "" {
			base, n = "Column", i+1
			fields[i].Doc = fmt.Sprintf("column %d, which has no name", i+1)
		}
		for taken[fmt.Sprint(base, n)] {
			n++
		}
		fields[i].Name = fmt.Sprint(base, n)
		taken[fields[i].Name] = true
	}
	return fields
}

// columnPlace is where a column stands: at its statement if it comes from a declaration.
func columnPlace(at catalog.Place, c analyze.Column) catalog.Place {
	if c.Span == (diag.Span{}) {
		return at
	}
	return catalog.Place{File: at.File, Span: c.Span}
}

// result builds the result struct of a procedure. The set that is streamed isn't in it.
func (b *builder) result(m *Method, at catalog.Place, fields scope) {
	s := &Struct{Name: m.Name + "Result", Doc: "is what [Queries." + m.Name + "] returns."}
	for i, set := range m.Sets {
		if i != m.Stream {
			field := Field{Name: set.Field, Type: set.GoType()}
			if set.Repeated {
				field.Doc = "of each round of a loop"
			}
			s.Fields = append(s.Fields, field)
		}
		if set.Returned != "" {
			s.Fields = append(s.Fields, Field{Name: set.Returned, Type: "bool", Doc: "false: the call yielded no " + set.Field})
		}
	}
	for _, a := range m.Args {
		if a.Mode == Output {
			b.claim(fields, at, a.Field, "output parameter @"+a.Name)
			goType := b.pkg.nullable(a.Type)
			if a.NotNull {
				goType = a.Type.Name
			}
			s.Fields = append(s.Fields, Field{Name: a.Field, Type: goType})
		}
	}
	if m.Status {
		b.claim(fields, at, "ReturnStatus", "the return status")
		s.Fields = append(s.Fields, Field{Name: "ReturnStatus", Type: "int32"})
	}
	if len(s.Fields) > 0 {
		b.claim(b.exported, at, s.Name, "the result of "+m.SQLName)
		m.Result = s
	}
}

// GoType is the type of its field in the result struct.
func (s Set) GoType() string {
	if s.Repeated {
		return "[]" + s.OneType()
	}
	return s.OneType()
}

// OneType is the type of one set in Go.
func (s Set) OneType() string {
	return map[analyze.Cardinality]string{analyze.Many: "[]", analyze.Optional: "*"}[s.Rows] + s.Type
}

// flow keeps the order of the result sets unless it is that of the text: most procedures yield the same sets each time,
// and need no automaton in their generated code.
func (b *builder) flow(m *Method, p *analyze.Procedure) {
	f := p.Flow
	if len(f.States) == 0 {
		return
	}
	// State i is behind i sets, has one way on, and only the last is an end.
	linear := len(f.States) == len(p.Results)+1
	for i, s := range f.States {
		last := i == len(p.Results)
		linear = linear && s.Final == last && (last && len(s.Edges) == 0 || len(s.Edges) == 1 && s.Edges[0] == analyze.Edge{Set: i, To: i + 1})
		b.checkState(m, p, i)
	}
	if !linear {
		m.Flow = &f
	}
}

// checkState refuses result sets that can't be told apart, or that would come twice. A client sees names of columns,
// and their case depends on nothing that it knows.
func (b *builder) checkState(m *Method, p *analyze.Procedure, state int) {
	seen := map[string]bool{}
	for _, e := range p.Flow.States[state].Edges {
		r := p.Results[e.Set]
		var key strings.Builder
		for _, c := range r.Columns {
			key.WriteString(catalog.Fold(c.Name) + "\x00")
		}
		if seen[key.String()] {
			b.found.Add(r.File, r.Span, "shape", "name a column differently",
				"procedure %s can yield this result set or another with the same columns, and a client can't tell which", m.SQLName)
		}
		seen[key.String()] = true
		if !r.Repeated && comesAgain(p.Flow, e.To, e.Set) {
			b.found.Add(r.File, r.Span, "shape", "collect the rows in a table variable and return them once",
				"procedure %s can yield this result set more than once", m.SQLName)
		}
	}
}

// comesAgain says whether a set can come in or behind a state.
func comesAgain(f analyze.Flow, state, set int) bool {
	visited := make([]bool, len(f.States))
	for todo := []int{state}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if visited[at] {
			continue
		}
		visited[at] = true
		for _, e := range f.States[at].Edges {
			if e.Set == set {
				return true
			}
			todo = append(todo, e.To)
		}
	}
	return false
}
