package define

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// form is what the definitions of all modules have in common.
type form struct {
	name           *syntax.ObjectName
	word, kind     string // "PROCEDURE" and "P"
	orAlter, alter bool
	options        []syntax.Option
	external       bool
}

func formOf(stmt syntax.Stmt) form {
	switch s := stmt.(type) {
	case *syntax.CreateProcedure:
		return form{s.Name, "PROCEDURE", "P", s.OrAlter, s.Alter, s.Options, s.External}
	case *syntax.CreateView:
		return form{s.Name, "VIEW", "V", s.OrAlter, s.Alter, s.Options, false}
	case *syntax.CreateTrigger:
		return form{s.Name, "TRIGGER", "TR", s.OrAlter, s.Alter, s.Options, false}
	case *syntax.CreateFunction:
		kind := "FN"
		if s.Inline != nil {
			kind = "IF"
		} else if s.Table != nil {
			kind = "TF"
		}
		return form{s.Name, "FUNCTION", kind, s.OrAlter, s.Alter, s.Options, s.External}
	default:
		return form{}
	}
}

// createModule executes CREATE, CREATE OR ALTER and ALTER of procedures, functions, views and triggers.
func (d *definer) createModule(stmt syntax.Stmt) error {
	f := formOf(stmt)
	if f.name.IsTemp() && f.kind != "P" {
		return d.unsupported(f.name.Span, "a temporary "+strings.ToLower(f.word))
	}
	if f.external {
		return d.unsupported(f.name.Span, "a "+strings.ToLower(f.word)+" in another language")
	}
	for _, o := range f.options {
		if o.Name == "NATIVE_COMPILATION" || o.Name == "ENCRYPTION" {
			return d.unsupported(o.Span, o.Name)
		}
	}
	if part(f.name, 2) != "" {
		return fault.New(166, "CREATE/ALTER "+f.word)
	}
	if f.alter || f.orAlter {
		old, err := d.present(f)
		if err != nil {
			return err
		}
		if old != nil {
			return d.replace(old, f, stmt)
		}
		if f.alter {
			return fault.New(208, text(f.name))
		}
	}
	return d.createNew(f, stmt)
}

// present finds the module that ALTER changes; nil if there is none.
func (d *definer) present(f form) (*schema.Module, error) {
	o, err := d.claim(f.name)
	if err != nil || o == nil {
		return nil, err
	}
	m, ok := o.(*schema.Module)
	switch {
	case !ok || m.Kind != f.kind:
		return nil, fault.New(2010, text(f.name))
	case !d.mayObject("ALTER", m):
		return nil, fault.New(3704, strings.ToLower(f.word), text(f.name))
	}
	return m, nil
}

// createNew enters a new module.
func (d *definer) createNew(f form, stmt syntax.Stmt) error {
	var in *schema.Schema
	var on schema.Object
	var err error
	if f.name.IsTemp() {
		return d.createTemporary(f, stmt)
	}
	if trigger, ok := stmt.(*syntax.CreateTrigger); ok {
		in, on, err = d.triggerPlace(trigger)
	} else {
		in, err = d.place(f.name, "CREATE "+f.word, "ALTER")
	}
	if err != nil {
		return err
	}
	m := &schema.Module{Header: d.header(f.kind, f.name.Last().Value, in)}
	if on != nil {
		m.Parent = on.Head().ID
	}
	if err := d.lock(m); err != nil {
		return err
	}
	if err := d.fill(m, f, stmt); err != nil {
		return err
	}
	if err := d.checkModule(m); err != nil {
		return err
	}
	d.add(m)
	switch on := on.(type) {
	case *schema.Table:
		set(d, &on.Triggers, append(slices.Clip(on.Triggers), m))
	case *schema.Module:
		set(d, &on.Triggers, append(slices.Clip(on.Triggers), m))
	}
	return nil
}

// createTemporary enters a new temporary procedure. It is its maker's and executes in the database in which it was
// made.
func (d *definer) createTemporary(f form, stmt syntax.Stmt) error {
	name := f.name.Last().Value
	if err := checkName(name); err != nil {
		return err
	}
	if d.TemporaryProcedure(name) != nil {
		return fault.New(2714, name)
	}
	in := &schema.Schema{ID: 1, Name: "dbo", Database: d.db, Owner: d.user()}
	m := &schema.Module{Header: d.header(f.kind, name, in), Temporary: true, Global: d.globalOf(name)}
	if err := d.fill(m, f, stmt); err != nil {
		return err
	}
	if err := d.checkModule(m); err != nil {
		return err
	}
	d.AddTemporaryProcedure(m)
	d.undo(func() { d.RemoveTemporaryProcedure(m) })
	return nil
}

// replace gives a module another definition.
func (d *definer) replace(m *schema.Module, f form, stmt syntax.Stmt) error {
	if trigger, ok := stmt.(*syntax.CreateTrigger); ok {
		on, err := d.triggerTable(trigger)
		if err != nil {
			return err
		}
		if on.Head().ID != m.Parent {
			return fault.New(2110, text(f.name), text(trigger.Table))
		}
	}
	next := *m
	next.Compiled = nil
	if err := d.fill(&next, f, stmt); err != nil {
		return err
	}
	if err := d.checkModule(&next); err != nil {
		return err
	}
	old := *m
	d.undo(func() {
		*m = old
		m.Compiled = nil
	})
	next.Compiled = nil
	next.Modified = datetime(d.Now())
	*m = next
	d.db.Bump()
	return nil
}

// fill gives a module its text and tree. The text is the batch as it was sent, with CREATE in the place of ALTER and of
// CREATE OR ALTER, which SQL Server does too.
func (d *definer) fill(m *schema.Module, f form, stmt syntax.Stmt) error {
	if err := d.executeAs(m, f.options); err != nil {
		return err
	}
	m.Text = asCreate(d.File(), stmt)
	m.File = diag.NewFile(schema.QualifiedName(m), m.Text)
	m.Stmt = stmt
	m.QuotedIdentifier = d.Option("QUOTED_IDENTIFIER") != "OFF"
	m.AnsiNulls = d.Option("ANSI_NULLS") != "OFF"
	script, found := syntax.Parse(m.File)
	if len(found) == 0 && len(script.Batches) == 1 && len(script.Batches[0].Stmts) == 1 {
		m.Stmt = script.Batches[0].Stmts[0]
		return nil
	}
	m.File = d.File() // the positions of the tree are those of what was sent
	return nil
}

// executeAs notes in whose name a module runs. Whoever defines it needs IMPERSONATE on a user that it names.
func (d *definer) executeAs(m *schema.Module, options []syntax.Option) error {
	m.AsOwner, m.As = false, nil
	for _, o := range options {
		if o.Name != "EXECUTE AS" {
			continue
		}
		word := strings.ToUpper(o.Value)
		if strings.HasSuffix(d.File().Slice(o.Span), "'") {
			word = "USER"
		}
		switch word {
		case "OWNER":
			m.AsOwner = true
		case "SELF":
			m.As = d.user()
		case "USER":
			if m.As = d.db.Principal(o.Value); m.As == nil || !d.db.MayImpersonate(d.user(), m.As) {
				return fault.New(15151, "execute as", "user", o.Value)
			}
		}
	}
	return nil
}

// asCreate returns the text of a batch that defines a module, as a CREATE.
func asCreate(file *diag.File, stmt syntax.Stmt) string {
	f := formOf(stmt)
	start := int(stmt.Range().From)
	before, rest := file.Text[:start], file.Text[start:]
	header := rest[:max(0, int(f.name.From)-start)]
	switch {
	case f.alter:
		return before + "CREATE" + rest[len("ALTER"):]
	case f.orAlter:
		return before + withoutWords(header, "OR", "ALTER") + rest[len(header):]
	default:
		return file.Text
	}
}

// withoutWords takes words out of a text, in their order; the blanks around them stay. Comments are passed over.
func withoutWords(s string, words ...string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		n := tokenLength(s[i:])
		token := s[i : i+n]
		if len(words) > 0 && strings.EqualFold(token, words[0]) {
			words = words[1:]
		} else {
			out.WriteString(token)
		}
		i += n
	}
	return out.String()
}

// tokenLength is the length of the word, the comment or the other character that a text begins with.
func tokenLength(s string) int {
	isLetter := func(c byte) bool { return c == '_' || c >= '0' && c <= '9' || c|32 >= 'a' && c|32 <= 'z' }
	switch {
	case strings.HasPrefix(s, "--"):
		if end := strings.IndexByte(s, '\n'); end >= 0 {
			return end
		}
		return len(s)
	case strings.HasPrefix(s, "/*"):
		depth, i := 0, 0
		for i < len(s) {
			switch {
			case strings.HasPrefix(s[i:], "/*"):
				depth, i = depth+1, i+2
			case strings.HasPrefix(s[i:], "*/"):
				depth, i = depth-1, i+2
			default:
				i++
			}
			if depth == 0 {
				break
			}
		}
		return i
	case isLetter(s[0]):
		n := 1
		for n < len(s) && isLetter(s[n]) {
			n++
		}
		return n
	default:
		return 1
	}
}

// checkModule compiles a module that is being created.
func (d *definer) checkModule(m *schema.Module) error {
	switch s := m.Stmt.(type) {
	case *syntax.CreateView:
		if err := d.checkColumns(m, s.Query, s.Columns, nil); err != nil {
			return err
		}
	case *syntax.CreateFunction:
		if s.Inline != nil {
			return d.checkColumns(m, s.Inline, nil, s.Params)
		}
	}
	return d.Check(m)
}

// checkColumns checks that each column of a view or an inline function has a name of its own.
func (d *definer) checkColumns(m *schema.Module, q *syntax.Query, names []syntax.Ident, params []*syntax.Param) error {
	env := d.env(m.File, m.Schema.Name)
	env.Module = m
	env.Variables, env.Tables = map[string]*binder.Variable{}, map[string]*binder.TableVariable{}
	for i, p := range params {
		t, user, err := ResolveType(d.db, p.Type, m.Schema.Name)
		if err != nil {
			return err
		}
		if user != nil && user.Table != nil {
			env.Tables[strings.ToLower(p.Name)] = &binder.TableVariable{Slot: i, Table: user.Table, ReadOnly: true}
		} else {
			env.Variables[strings.ToLower(p.Name)] = &binder.Variable{Slot: i, Type: t}
		}
	}
	compiled, err := planner.Query(env, q)
	if err != nil {
		return err
	}
	switch {
	case names != nil && len(names) < len(compiled.Columns):
		return fault.New(8158, m.Name)
	case names != nil && len(names) > len(compiled.Columns):
		return fault.New(8159, m.Name)
	}
	seen := map[string]bool{}
	for i, c := range compiled.Columns {
		name := c.Name
		if names != nil {
			name = names[i].Value
		}
		if name == "" {
			return fault.New(4511, i+1)
		}
		if seen[d.fold(name)] {
			return fault.New(4506, name, m.Name)
		}
		seen[d.fold(name)] = true
	}
	return nil
}

// triggerTable finds the table or view of a trigger.
func (d *definer) triggerTable(s *syntax.CreateTrigger) (schema.Object, error) {
	if s.Table == nil {
		return nil, d.unsupported(s.Span, "a trigger of the database or the server")
	}
	on := s.Table
	if on.Schema() == "" && s.Name.Schema() != "" { // it is looked for in the trigger's schema
		on = &syntax.ObjectName{Span: on.Span, Parts: []syntax.Ident{s.Name.Parts[len(s.Name.Parts)-2], on.Last()}}
	}
	o, err := d.claim(on)
	if err != nil {
		return nil, err
	}
	if o == nil && on != s.Table {
		if o, err = d.claim(s.Table); err != nil {
			return nil, err
		}
	}
	t, isTable := o.(*schema.Table)
	isView := o != nil && o.Head().Kind == "V"
	switch {
	case isTable && t.Temporary, !isTable && (!isView || !s.InsteadOf), !d.mayObject("ALTER", o):
		return nil, fault.New(8197, text(s.Table))
	}
	return o, nil
}

// triggerPlace finds the schema of a new trigger, which is that of its table.
func (d *definer) triggerPlace(s *syntax.CreateTrigger) (*schema.Schema, schema.Object, error) {
	on, err := d.triggerTable(s)
	if err != nil {
		return nil, nil, err
	}
	if t, ok := on.(*schema.Table); ok && (t.HistoryOf != nil || t.History != nil && s.InsteadOf) {
		return nil, nil, fault.New(13569, t.FullName())
	}
	in := on.Head().Schema
	if written := s.Name.Schema(); written != "" && d.db.Schema(written) != in {
		return nil, nil, fault.New(2103, "create", text(s.Name))
	}
	if s.InsteadOf {
		if err := d.insteadOf(on, s); err != nil {
			return nil, nil, err
		}
	}
	return in, on, d.free(in, s.Name.Last().Value)
}

// insteadOf checks that a table or a view has one INSTEAD OF trigger at most for each event.
func (d *definer) insteadOf(on schema.Object, s *syntax.CreateTrigger) error {
	triggers, what := []*schema.Module(nil), "view"
	switch on := on.(type) {
	case *schema.Table:
		triggers, what = on.Triggers, "table"
	case *schema.Module:
		triggers = on.Triggers
	}
	for _, m := range triggers {
		other, ok := m.Stmt.(*syntax.CreateTrigger)
		if !ok || !other.InsteadOf {
			continue
		}
		for _, event := range s.Events {
			if slices.Contains(other.Events, event) {
				return fault.New(2111, "create", text(s.Name), what, on.Head().Name, event)
			}
		}
	}
	return nil
}
