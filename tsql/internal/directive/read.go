package directive

import (
	"regexp"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// ruleDirective is the id of every finding of this package.
const ruleDirective = "directive"

// Commands of directives, as sqlc writes them.
var (
	queryCommands  = []string{":one", ":many", ":exec", ":execrows", ":batch"}
	resultCommands = []string{":one", ":optional", ":many", ":stream"}
)

// words are the directives whose prefix says that they can be nothing else. "name:" is not among them: behind code,
// "name: of the customer" is a remark.
var words = []string{
	string(Null), string(Param), string(Result), string(Columns), string(Changes), string(Internal), string(Embed), string(Allow),
}

// A prefix is the beginning of a comment that is a directive, or is meant to be one. "gen" and "vet" are taken in any
// case and with space behind the colon, so that a near miss is an error rather than a remark that nobody follows.
// "name:" is taken as written only, since "Name:" is a field of many a header. Space is whatever looks like it, such as
// the non-breaking one that comes with a text from elsewhere.
var prefix = regexp.MustCompile(`^` + space + `(name:|(?i:gen|vet):` + space + `[A-Za-z]*)`)

const space = `[\s\v\x{85}\p{Z}]*`

// Forms of what directives contain.
var (
	identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	variable   = regexp.MustCompile(`^@[\pL_@#$][\pL\pN_@#$]*$`)
	ruleName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/-]*$`)
)

// Read finds and reads the directives among a script's comments, line comments and block comments alike. A comment is a
// directive if it begins with "name:", "gen:" or "vet:"; behind code, "name:" is a remark about that code. A comment
// that is one but can't be read is a finding and is not in the set.
func Read(script *syntax.Script) (*Set, diag.List) {
	set := &Set{File: script.File, script: script, used: map[*Directive]bool{}}
	var found diag.List
	for i, c := range script.Comments {
		behind := trailing(script, i)
		word, ok := begins(c, behind)
		if !ok {
			continue
		}
		// A comment's text begins behind its two delimiting characters.
		r := reader{file: script.File, comment: c, found: &found}
		r.rest = diag.Span{From: c.From + 2 + diag.Pos(len(word)), To: c.From + 2 + diag.Pos(len(c.Text))}
		d := &Directive{Span: c.Span, Kind: kindOf(word), Trailing: behind}
		if r.read(d) {
			set.All = append(set.All, d)
		} else {
			set.misread = append(set.misread, c.Span)
		}
	}
	return set, found
}

// begins returns the word with which a comment begins, blanks before it included, if that makes it a directive.
func begins(c syntax.Comment, behind bool) (word string, ok bool) {
	word = prefix.FindString(c.Text)
	return word, word != "" && (!behind || kindOf(word) != Query)
}

// kindOf returns the kind that a word is, which may be one that doesn't exist. The kinds are spelt as in the comment
// but for the colon of "name:".
func kindOf(word string) Kind {
	word = strings.TrimSpace(word)
	if word == string(Query)+":" {
		return Query
	}
	return Kind(word)
}

// isDirective reports whether a comment is a directive, readable or not.
func isDirective(script *syntax.Script, c syntax.Comment) bool {
	_, ok := begins(c, trailing(script, before(script, c.From)))
	return ok
}

// reader reads one directive. It takes words from the front of the comment's text and keeps their places, so that a
// finding points at the word that is wrong; what is missing is reported at the whole comment.
type reader struct {
	file    *diag.File
	comment syntax.Comment
	rest    diag.Span // what has not been read
	found   *diag.List
}

// fail reports what is wrong with the directive. Its result is false, so that a caller can return it.
func (r *reader) fail(at diag.Span, fix, format string, args ...any) bool {
	r.found.Add(r.file, at, ruleDirective, fix, format, args...)
	return false
}

// read reads what follows the word, which d.Kind is; it reports whether that could be read.
func (r *reader) read(d *Directive) bool {
	at := r.comment.Span
	switch d.Kind {
	case Query:
		return r.query(d)
	case Null:
		return r.null(d)
	case Param:
		return r.param(d)
	case Result:
		return r.result(d)
	case Columns:
		return r.columns(d)
	case Changes:
		return r.changes()
	case Internal:
		return r.end("-- gen:internal")
	case Embed:
		return r.embed(d)
	case Allow:
		return r.allow(d)
	}
	// No directive. It may be one but for its case or a blank, or be misspelt.
	word := string(d.Kind)
	joined := strings.ToLower(strings.Join(strings.Fields(word), ""))
	if slices.Contains(words, joined) {
		return r.fail(at, "write "+joined, "%s is not how the directive is written", word)
	}
	fix := "the directives are " + strings.Join(words, ", ")
	if near := diag.Nearest(joined, words); near != "" {
		fix = "did you mean " + near + "?"
	}
	return r.fail(at, fix, "unknown directive %s", word)
}

// word takes the next word, which may be empty, with its place.
func (r *reader) word() (string, diag.Span) {
	text := r.file.Slice(r.rest)
	skipped := len(text) - len(strings.TrimLeft(text, blanks))
	text = text[skipped:]
	n := strings.IndexAny(text, blanks)
	if n < 0 {
		n = len(text)
	}
	from := r.rest.From + diag.Pos(skipped)
	r.rest.From = from + diag.Pos(n)
	return text[:n], diag.Span{From: from, To: r.rest.From}
}

// blanks separate words. Line ends are among them for the sake of block comments.
const blanks = " \t\r\n"

// end reports an error unless everything has been read. A directive takes no remark behind it: what looks like one is
// more often a second name, or a command with a blank in it.
func (r *reader) end(form string) bool {
	if extra, at := r.word(); extra != "" {
		return r.fail(at, "the form is "+form, "nothing is expected after this, found %s", extra)
	}
	return true
}

// query reads "GetOrder :one". It is sqlc's form, so that its users find what they know; :batch is this generator's.
func (r *reader) query(d *Directive) bool {
	const form = "-- name: GetOrder :one"
	name, at := r.word()
	if !r.name(name, at, form, `if this is no annotation of a query, write it "Name:"`) {
		return false
	}
	d.Name = name
	command, at := r.word()
	if command == "" {
		return r.fail(r.comment.Span, "add one of "+strings.Join(queryCommands, ", "), "the query %s has no command", name)
	}
	d.Command = command
	return r.command(command, at, queryCommands) && r.end(form)
}

// name checks a name that Go code is to have.
func (r *reader) name(name string, at diag.Span, form, otherwise string) bool {
	switch {
	case name == "":
		return r.fail(r.comment.Span, "the form is "+form, "the name is missing")
	case !identifier.MatchString(name):
		fix := "use letters, digits and underscores, a letter first"
		if otherwise != "" {
			fix += "; " + otherwise
		}
		return r.fail(at, fix, "%s is not a name", name)
	default:
		return true
	}
}

// command checks a command such as ":one", of those that the directive has. Case counts, as it does in sqlc.
func (r *reader) command(command string, at diag.Span, known []string) bool {
	if slices.Contains(known, command) {
		return true
	}
	fix := "the commands are " + strings.Join(known, ", ")
	if near := diag.Nearest(command, known); near != "" {
		fix = "did you mean " + near + "?"
	}
	return r.fail(at, fix, "unknown command %s", command)
}

// null reads "@a @b". Commas between the names are allowed, because people write them.
func (r *reader) null(d *Directive) bool {
	for {
		name, at := r.word()
		name = strings.TrimSuffix(name, ",")
		switch {
		case name == "" && len(d.Params) == 0:
			return r.fail(r.comment.Span, "the form is -- gen:null @a @b", "gen:null names no parameter")
		case name == "":
			return true
		case !variable.MatchString(name):
			return r.fail(at, "write the names of parameters with their @", "%s is not a parameter", name)
		case slices.ContainsFunc(d.Params, func(p string) bool { return strings.EqualFold(p, name) }):
			return r.fail(at, "name it once", "%s is named twice", name)
		}
		d.Params = append(d.Params, name)
	}
}

// embed reads names of procedures.
func (r *reader) embed(d *Directive) bool {
	for {
		name, at := r.word()
		name = strings.TrimSuffix(name, ",")
		switch {
		case name == "" && len(d.Names) == 0:
			return r.fail(r.comment.Span, "the form is -- gen:embed dbo.first dbo.second", "gen:embed names no procedure")
		case name == "":
			return true
		case slices.ContainsFunc(d.Names, func(n string) bool { return strings.EqualFold(n, name) }):
			return r.fail(at, "name it once", "%s is named twice", name)
		}
		d.Names = append(d.Names, name)
	}
}

// param reads "@x nvarchar(20) null".
func (r *reader) param(d *Directive) bool {
	const form = "-- gen:param @x nvarchar(20) null"
	name, at := r.word()
	if !variable.MatchString(name) {
		if name == "" {
			at = r.comment.Span
		}
		return r.fail(at, "the form is "+form, "gen:param needs the name of a parameter with its @")
	}
	if blank(r.file.Slice(r.rest)) {
		return r.fail(r.comment.Span, "the form is "+form, "gen:param gives %s no type", name)
	}
	// The type ends where the grammar says so: "double precision", "decimal (10, 2)".
	t, rest, found := syntax.ParseType(r.file, r.rest)
	if t == nil || len(found) > 0 {
		*r.found = append(*r.found, found...)
		return false
	}
	r.rest = rest
	d.Param = &ParamDef{Name: name, Type: t}
	switch word := strings.ToLower(strings.Join(strings.Fields(r.file.Slice(rest)), " ")); word {
	case "", "not null":
		return true
	case "null":
		d.Param.Null = true
		return true
	default:
		return r.fail(rest, "the form is "+form, "expected null, not null or nothing after the type, found %s", word)
	}
}

// result reads "Header :optional". Without a command, the number of rows is what inference finds.
func (r *reader) result(d *Directive) bool {
	const form = "-- gen:result Header :optional"
	name, at := r.word()
	if !r.name(name, at, form, "") {
		return false
	}
	d.Name = name
	command, at := r.word()
	if command == "" {
		return true
	}
	d.Command = command
	return r.command(command, at, resultCommands) && r.end(form)
}

// columns reads "(id bigint not null, name nvarchar(50))", or "none".
func (r *reader) columns(d *Directive) bool {
	const form = "-- gen:columns (id bigint not null, name nvarchar(50) null)"
	text := strings.TrimSpace(r.file.Slice(r.rest))
	switch {
	case strings.EqualFold(text, "none"):
		d.None = true
		return true
	case !strings.HasPrefix(text, "("):
		return r.fail(r.comment.Span, "the form is "+form+", or -- gen:columns none", "gen:columns needs a list of columns in parentheses")
	case r.comment.Line && strings.Count(text, "(") > strings.Count(text, ")"):
		return r.fail(r.comment.Span, "close it, or write several lines as one /* gen:columns (…) */",
			"the list of columns has no end on this line")
	}
	columns, found := syntax.ParseColumns(r.file, r.rest)
	if len(found) > 0 {
		*r.found = append(*r.found, found...)
		return false
	}
	for i := range columns {
		if c := &columns[i]; c.Collation != "" {
			return r.fail(c.Span, "leave COLLATE out", "column %s: a result has no use for a collation", c.Name.Value)
		}
	}
	d.Columns = columns
	return true
}

// changes reads "none". What does change is written as a statement.
func (r *reader) changes() bool {
	const form = "-- gen:changes none"
	if word, _ := r.word(); !strings.EqualFold(word, "none") {
		return r.fail(r.comment.Span, "the form is "+form, "gen:changes says none, or nothing")
	}
	return r.end(form)
}

// allow reads "P4: reason". Several rules need several comments, each with its own reason.
func (r *reader) allow(d *Directive) bool {
	const form = "-- vet:allow P4: why it is right here"
	// The reason may contain colons, and in a block comment go over several lines.
	rule, reason, found := strings.Cut(r.file.Slice(r.rest), ":")
	d.Rule, d.Reason = strings.TrimSpace(rule), strings.Join(strings.Fields(reason), " ")
	switch {
	case !found && ruleName.MatchString(d.Rule), found && d.Reason == "" && d.Rule != "":
		return r.fail(r.comment.Span, "the form is "+form, "vet:allow %s gives no reason", d.Rule)
	case !found:
		return r.fail(r.comment.Span, "the form is "+form, "vet:allow names a rule, a colon, and a reason")
	case !ruleName.MatchString(d.Rule):
		return r.fail(r.comment.Span, "name one rule in each comment: "+form, "%q is not the name of a rule", d.Rule)
	default:
		return true
	}
}
