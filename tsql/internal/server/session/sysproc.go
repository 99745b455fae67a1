package session

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/define"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// systemProcedure executes a procedure of the system and returns its status.
type systemProcedure func(s *Session, args []argument) (int64, error)

// systemProcedures are those of the system's procedures that this server has, by folded name.
var systemProcedures map[string]systemProcedure

func init() { //nolint:gochecknoinits // the table and sp_executesql would refer to each other
	systemProcedures = map[string]systemProcedure{
		"sp_executesql":             executeSQL,
		"sp_prepare":                prepareText,
		"sp_execute":                executePrepared,
		"sp_prepexec":               prepareAndExecute,
		"sp_unprepare":              unprepare,
		"sp_getapplock":             getApplicationLock,
		"sp_releaseapplock":         releaseApplicationLock,
		"sp_set_session_context":    setSessionContext,
		"sp_rename":                 rename,
		"sp_addrolemember":          roleMember("ADD"),
		"sp_droprolemember":         roleMember("DROP"),
		"sp_addtype":                addType,
		"sp_droptype":               dropType,
		"sp_tableoption":            tableOption,
		"sp_recompile":              accepted,
		"sp_updatestats":            accepted,
		"sp_refreshview":            accepted,
		"sp_refreshsqlmodule":       accepted,
		"sp_addextendedproperty":    accepted,
		"sp_updateextendedproperty": accepted,
		"sp_dropextendedproperty":   accepted,
	}
}

// accepted executes procedures that would change what this server doesn't keep: plans are made anew by themselves,
// statistics are exact, extended properties are comments.
func accepted(*Session, []argument) (int64, error) { return 0, nil }

// parameters finds the arguments of a system procedure by the names of its parameters, in their order.
type parameters struct {
	name  string
	names []string
	args  []argument
}

// arg returns an argument; nil if it isn't given.
func (p parameters) arg(name string) *argument {
	for i := range p.args {
		a := &p.args[i]
		if a.fallback {
			continue
		}
		if a.name == "" && i < len(p.names) && p.names[i] == name || strings.EqualFold(a.name, "@"+name) {
			return a
		}
	}
	return nil
}

// text returns an argument as text, or a default.
func (p parameters) text(name, fallback string) (string, error) {
	a := p.arg(name)
	if a == nil || a.value.IsNull() {
		return fallback, nil
	}
	v, err := value.Assign(a.value, a.typ, textType)
	if err != nil {
		return "", err
	}
	return v.Str(), nil
}

// needed returns an argument as text that must be there.
func (p parameters) needed(name string) (string, error) {
	if a := p.arg(name); a == nil || a.value.IsNull() {
		return "", fault.New(201, p.name, "@"+name)
	}
	return p.text(name, "")
}

// number returns an argument as a number, or a default.
func (p parameters) number(name string, fallback int64) (int64, error) {
	a := p.arg(name)
	if a == nil || a.value.IsNull() {
		return fallback, nil
	}
	v, err := value.Assign(a.value, a.typ, bigintType)
	if err != nil {
		return 0, err
	}
	return v.Int(), nil
}

// checkText refuses the text of a statement that is not Unicode, as the server does.
func checkText(name string, a *argument) error {
	if a == nil {
		return fault.New(201, "sp_executesql", "@"+name)
	}
	if !a.typ.IsNational() && a.typ.Kind != sqltype.Null {
		return fault.New(214, "@"+name, "ntext/nchar/nvarchar")
	}
	return nil
}

// executeSQL is sp_executesql.
func executeSQL(s *Session, args []argument) (int64, error) {
	p := parameters{"sp_executesql", []string{"statement", "params"}, args}
	first := p.arg("statement")
	if first == nil {
		first = p.arg("stmt")
	}
	if err := checkText("statement", first); err != nil {
		return 0, err
	}
	if first.value.IsNull() {
		return 0, nil
	}
	key := unitKey{text: first.value.Str(), dynamic: true}
	rest := args[1:]
	if len(rest) > 0 {
		if err := checkText("params", &rest[0]); err != nil {
			return 0, err
		}
		if !rest[0].value.IsNull() {
			key.params = rest[0].value.Str()
		}
		rest = rest[1:]
	}
	return 0, s.executeText(key, rest)
}

// executeText executes a text with parameters.
func (s *Session) executeText(key unitKey, args []argument) error {
	params, err := readParams(key.params)
	if err != nil {
		return s.dynamicError(err)
	}
	return s.dynamic(key, params, args)
}

// prepared is a text with parameters that has a number.
type prepared struct{ key unitKey }

// prepareText is sp_prepare.
func prepareText(s *Session, args []argument) (int64, error) {
	_, err := s.prepare(parameters{"sp_prepare", []string{"handle", "params", "stmt", "options"}, args})
	return 0, err
}

func (s *Session) prepare(p parameters) (*prepared, error) {
	text, err := p.needed("stmt")
	if err != nil {
		return nil, err
	}
	declaration, err := p.text("params", "")
	if err != nil {
		return nil, err
	}
	s.lastHandle++
	ready := &prepared{unitKey{text: text, params: declaration, dynamic: true}}
	s.prepared[s.lastHandle] = ready
	if h := p.arg("handle"); h != nil && h.output != nil {
		return ready, h.output(value.OfInt(int64(s.lastHandle)), intType)
	}
	return ready, nil
}

// executePrepared is sp_execute.
func executePrepared(s *Session, args []argument) (int64, error) {
	handle, err := parameters{"sp_execute", []string{"handle"}, args}.number("handle", 0)
	if err != nil {
		return 0, err
	}
	ready := s.prepared[int32(handle)]
	if ready == nil {
		return 0, fault.New(8179, handle)
	}
	return 0, s.executeText(ready.key, args[1:])
}

// prepareAndExecute is sp_prepexec.
func prepareAndExecute(s *Session, args []argument) (int64, error) {
	ready, err := s.prepare(parameters{"sp_prepexec", []string{"handle", "params", "stmt"}, args[:min(3, len(args))]})
	if err != nil {
		return 0, err
	}
	return 0, s.executeText(ready.key, args[3:])
}

// unprepare is sp_unprepare.
func unprepare(s *Session, args []argument) (int64, error) {
	handle, err := parameters{"sp_unprepare", []string{"handle"}, args}.number("handle", 0)
	if err != nil {
		return 0, err
	}
	if s.prepared[int32(handle)] == nil {
		return 0, fault.New(8179, handle)
	}
	delete(s.prepared, int32(handle))
	return 0, nil
}

// setSessionContext is sp_set_session_context.
func setSessionContext(s *Session, args []argument) (int64, error) {
	p := parameters{"sp_set_session_context", []string{"key", "value", "read_only"}, args}
	key, err := p.needed("key")
	if err != nil {
		return 0, err
	}
	readOnly, err := p.number("read_only", 0)
	if err != nil {
		return 0, err
	}
	if s.context[fold(key)].readOnly {
		return 0, fault.New(15664, key)
	}
	var v value.Value
	if a := p.arg("value"); a != nil && !a.value.IsNull() {
		v = value.OfVariant(a.value, a.typ)
	}
	s.context[fold(key)] = sessionValue{v, readOnly == 1}
	return 0, nil
}

// rename is sp_rename.
func rename(s *Session, args []argument) (int64, error) {
	p := parameters{"sp_rename", []string{"objname", "newname", "objtype"}, args}
	from, err := p.needed("objname")
	if err != nil {
		return 0, err
	}
	to, err := p.needed("newname")
	if err != nil {
		return 0, err
	}
	kind, err := p.text("objtype", "")
	if err != nil {
		return 0, err
	}
	return 0, s.changing(func(c define.Context) error { return define.Rename(c, splitName(from), to, kind) })
}

// addType is sp_addtype, the old form of CREATE TYPE … FROM. The type is in the schema of the caller.
func addType(s *Session, args []argument) (int64, error) {
	p := parameters{"sp_addtype", []string{"typename", "phystype", "nulltype", "owner"}, args}
	name, err := p.needed("typename")
	if err != nil {
		return 1, err
	}
	from, err := p.needed("phystype")
	if err != nil {
		return 1, err
	}
	nullable, err := p.text("nulltype", "")
	if err != nil {
		return 1, err
	}
	file := diag.NewFile("", from)
	_, behind, found := syntax.ParseType(file, diag.Span{To: diag.Pos(len(file.Text))})
	if len(found) > 0 || strings.TrimSpace(file.Slice(behind)) != "" {
		return 1, fault.New(15036, from)
	}
	switch strings.ToUpper(strings.Join(strings.Fields(nullable), " ")) {
	case "", "NULL":
	case "NOT NULL", "NONULL":
		from += " NOT NULL"
	default:
		return 1, fault.New(15600, "sp_addtype")
	}
	return 0, s.dynamic(unitKey{text: "CREATE TYPE " + quote(name) + " FROM " + from, dynamic: true}, nil, nil)
}

// dropType is sp_droptype, the old form of DROP TYPE.
func dropType(s *Session, args []argument) (int64, error) {
	name, err := parameters{"sp_droptype", []string{"typename"}, args}.needed("typename")
	if err != nil {
		return 1, err
	}
	return 0, s.dynamic(unitKey{text: "DROP TYPE " + quote(name), dynamic: true}, nil, nil)
}

// tableOptions are the options of sp_tableoption. None of them changes what a query means.
var tableOptions = map[string]bool{
	"table lock on bulk load": true, "insert row lock": true, "text in row": true, "large value types out of row": true,
	"vardecimal storage format": true,
}

// tableOption is sp_tableoption.
func tableOption(s *Session, args []argument) (int64, error) {
	p := parameters{"sp_tableoption", []string{"TableNamePattern", "OptionName", "OptionValue"}, args}
	name, err := p.needed("TableNamePattern")
	if err != nil {
		return 1, err
	}
	option, err := p.needed("OptionName")
	if err != nil {
		return 1, err
	}
	val, err := p.needed("OptionValue")
	if err != nil {
		return 1, err
	}
	if !tableOptions[fold(option)] {
		return 1, fault.New(15600, "sp_tableoption")
	}
	t, err := s.tableNamed(s.top().unit, name)
	if err != nil {
		return 1, err
	}
	return 0, s.changing(func(c define.Context) error {
		before, had := t.Options[fold(option)]
		if t.Options == nil {
			t.Options = map[string]string{}
		}
		t.Options[fold(option)] = val
		c.Store().Undo(func() {
			delete(t.Options, fold(option))
			if had {
				t.Options[fold(option)] = before
			}
		})
		return nil
	})
}

// roleMember is sp_addrolemember and sp_droprolemember.
func roleMember(verb string) systemProcedure {
	return func(s *Session, args []argument) (int64, error) {
		p := parameters{"sp_addrolemember", []string{"rolename", "membername"}, args}
		role, err := p.needed("rolename")
		if err != nil {
			return 0, err
		}
		member, err := p.needed("membername")
		if err != nil {
			return 0, err
		}
		text := fmt.Sprintf("ALTER ROLE %s %s MEMBER %s", quote(role), verb, quote(member))
		return 0, s.dynamic(unitKey{text: text, dynamic: true}, nil, nil)
	}
}

// quote writes a name in brackets.
func quote(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }
