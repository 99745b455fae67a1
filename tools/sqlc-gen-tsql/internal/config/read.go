package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/model"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/vet"
)

// A field is one key of the configuration: what is stored under it and what it is good for.
type field struct {
	key  string
	read func(*reader, *yaml.Node, *Config)
	doc  string
}

// fields are the keys in the order in which they are documented.
var fields = []field{
	{"package", text(func(c *Config) *string { return &c.Model.Package }, packageProblem), "name of the Go package; must be set"},
	{
		"out", text(func(c *Config) *string { return &c.Out }, folderProblem),
		"folder for the Go files; must be set, except in sqlc, which has an out of its own for plugins",
	},
	{
		"schema", texts(func(c *Config) *[]string { return &c.Schema }, patternProblem),
		"scripts that define tables, types, views and functions: files, patterns (** is any number of folders) or folders",
	},
	{
		"procedures", texts(func(c *Config) *[]string { return &c.Procedures }, patternProblem),
		"scripts that define procedures",
	},
	{"queries", texts(func(c *Config) *[]string { return &c.Queries }, patternProblem), "scripts with annotated queries"},
	{
		"default_schema", text(func(c *Config) *string { return &c.DefaultSchema }, anything),
		"schema of names that are written without one; dbo if not set",
	},
	{
		"nulls", text(func(c *Config) *string { return &c.Model.Nulls }, oneOf(model.NullsPointer, model.NullsSQL)),
		"NULL in Go: pointer (the default), or sql for sql.Null[T]",
	},
	{
		"tables", text(func(c *Config) *string { return &c.Model.Tables }, oneOf(model.TablesJSON, model.TablesTVP)),
		"how table arguments travel: json (the default), one document; or tvp, the driver's table-valued parameters",
	},
	{
		"exclude", texts(func(c *Config) *[]string { return &c.Exclude }, anything),
		"procedures to generate nothing for; each must exist",
	},
	{
		"rename", names(func(c *Config) *map[string]string { return &c.Model.Rename }),
		"Go names by SQL name, where the usual one does not suit",
	},
	{
		"schema_in_names", flag(func(c *Config) *bool { return &c.Model.SchemaInNames }),
		"true: the schema is part of every method's name, not only where two schemas share one; false if not set",
	},
	{
		"sequences", flag(func(c *Config) *bool { return &c.Model.Sequences }),
		"true: every :many query gets a second method that yields its rows one by one; false if not set",
	},
	{
		"portability", texts(func(c *Config) *[]string { return &c.Vet.Portability }, oneOf(vet.Babelfish)),
		"other servers that the scripts must run on: babelfish; none if not set",
	},
	{"vet", section("vet.", vetFields), "options of the lint rules, see below"},
}

// vetFields are the keys below vet.
var vetFields = []field{
	vetList("enable", "rules or families (P6, or all) that are off unless asked for",
		func(v *vet.Options) *[]string { return &v.Enable }),
	vetList("disable", "rules or families not to apply; wins over enable", func(v *vet.Options) *[]string { return &v.Disable }),
	vetText("schema", "the schema that every object is in", func(v *vet.Options) *string { return &v.Schema }),
	vetNumber("error_min", "the lowest number that THROW may raise; 50001 if not set",
		func(v *vet.Options) *int64 { return &v.ErrorMin }),
	vetNumber("error_max", "the highest; 2147483647 if not set", func(v *vet.Options) *int64 { return &v.ErrorMax }),
	vetList("lock_tokens", "columns that hold the token of a lease", func(v *vet.Options) *[]string { return &v.LockTokens }),
	vetList("locked_until", "columns that hold the end of a lease", func(v *vet.Options) *[]string { return &v.LockedUntil }),
	vetList("payloads", "members of JSON documents that can be of any length",
		func(v *vet.Options) *[]string { return &v.Payloads }),
	vetList("queue_tables", "tables that are claimed from", func(v *vet.Options) *[]string { return &v.QueueTables }),
	vetList("hot_tables", "tables that must not have foreign keys", func(v *vet.Options) *[]string { return &v.HotTables }),
	vetList("lock_order", "the order in which tables are locked, everywhere",
		func(v *vet.Options) *[]string { return &v.LockOrder }),
	vetList("purge_prefixes", "how the names of procedures that delete in bulk begin; purge_, prune_ and delete_ if not set",
		func(v *vet.Options) *[]string { return &v.PurgePrefixes }),
	vetText("isolation_guard", "the procedure or function that refuses sessions under SNAPSHOT and SERIALIZABLE",
		func(v *vet.Options) *string { return &v.IsolationGuard }),
}

func vetList(key, doc string, where func(*vet.Options) *[]string) field {
	return field{key, texts(func(c *Config) *[]string { return where(&c.Vet) }, anything), doc}
}

func vetText(key, doc string, where func(*vet.Options) *string) field {
	return field{key, text(func(c *Config) *string { return where(&c.Vet) }, anything), doc}
}

func vetNumber(key, doc string, where func(*vet.Options) *int64) field {
	return field{key, number(func(c *Config) *int64 { return where(&c.Vet) }), doc}
}

// A reader collects the findings of one file.
type reader struct {
	file     *diag.File
	findings diag.List
}

// yamlLine finds the line number in the message of a YAML error, which is all that tells where it is.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// parse returns the outermost mapping, or nil if there is none.
func (r *reader) parse() *yaml.Node {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(r.file.Text), &document); err != nil {
		message, at := err.Error(), diag.Span{}
		if m := yamlLine.FindStringSubmatch(message); m != nil {
			message = message[len(m[0]):]
			if line, err := strconv.Atoi(m[1]); err == nil {
				at = r.span(line, 1, 1)
			}
		}
		r.findings.Add(r.file, at, rule, "", "this is not YAML: %s", message)
		return nil
	}
	if document.Kind == 0 { // an empty file: what is missing is reported by check
		return nil
	}
	return document.Content[0]
}

// span turns a line and a column, both from 1, into a span of so many bytes.
func (r *reader) span(line, column, length int) diag.Span {
	rest := r.file.Text
	for range line - 1 {
		_, after, found := strings.Cut(rest, "\n")
		if !found {
			break
		}
		rest = after
	}
	from := len(r.file.Text) - len(rest)
	for range column - 1 {
		_, size := utf8.DecodeRuneInString(r.file.Text[from:])
		from += size
	}
	return diag.Span{From: diag.Pos(from), To: diag.Pos(min(from+length, len(r.file.Text)))}
}

// add records a finding about a node.
func (r *reader) add(n *yaml.Node, fix, format string, args ...any) {
	length := len(n.Value)
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		length += 2
	}
	r.findings.Add(r.file, r.span(n.Line, n.Column, max(1, length)), rule, fix, format, args...)
}

// mapping reads the keys of a mapping; prefix is what stands before its keys in a message.
func (r *reader) mapping(n *yaml.Node, prefix string, known []field, c *Config) {
	if n.Kind != yaml.MappingNode {
		r.add(n, "", "this has to be keys and their values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f := find(known, key.Value)
		switch {
		case f == nil:
			r.add(key, suggestion(known, key.Value), "unknown key %s%s", prefix, key.Value)
		case seen[key.Value]:
			r.add(key, "", "%s%s is there twice", prefix, key.Value)
		default:
			f.read(r, value, c)
		}
		seen[key.Value] = true
	}
}

func find(known []field, key string) *field {
	for i := range known {
		if known[i].key == key {
			return &known[i]
		}
	}
	return nil
}

// suggestion names the known key nearest to one that is not known, or all of them if none is near.
func suggestion(known []field, key string) string {
	keys := make([]string, len(known))
	for i, f := range known {
		keys[i] = f.key
	}
	if near := directive.Nearest(key, keys); near != "" {
		return "did you mean " + near + "?"
	}
	return "the keys are " + strings.Join(keys, ", ")
}

// A valueCheck returns what is wrong with a value, and "" if nothing is.
type valueCheck func(string) string

func anything(string) string { return "" }

func oneOf(allowed ...string) valueCheck {
	return func(s string) string {
		if slices.Contains(allowed, s) {
			return ""
		}
		return s + " is not " + strings.Join(allowed, " or ")
	}
}

// scalar returns the text of a node, checked; ok is false if it was refused.
func (r *reader) scalar(n *yaml.Node, check valueCheck) (text string, ok bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		r.add(n, "", "this has to be a single value")
	case n.Value == "":
		r.add(n, "", "the value is empty")
	default:
		if problem := check(n.Value); problem != "" {
			r.add(n, "", "%s", problem)
			return "", false
		}
		return n.Value, true
	}
	return "", false
}

// text reads a single value.
func text(where func(*Config) *string, check valueCheck) func(*reader, *yaml.Node, *Config) {
	return func(r *reader, n *yaml.Node, c *Config) {
		if value, ok := r.scalar(n, check); ok {
			*where(c) = value
		}
	}
}

// texts reads a list, or a single value, which is a list of one.
func texts(where func(*Config) *[]string, check valueCheck) func(*reader, *yaml.Node, *Config) {
	return func(r *reader, n *yaml.Node, c *Config) {
		items := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			items = n.Content
		}
		for _, item := range items {
			if value, ok := r.scalar(item, check); ok {
				*where(c) = append(*where(c), value)
			}
		}
	}
}

// names reads a mapping of names to names.
func names(where func(*Config) *map[string]string) func(*reader, *yaml.Node, *Config) {
	return func(r *reader, n *yaml.Node, c *Config) {
		if n.Kind != yaml.MappingNode {
			r.add(n, "", "this has to be names and their Go names")
			return
		}
		result := map[string]string{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if _, twice := result[key.Value]; twice {
				r.add(key, "", "%s is there twice", key.Value)
			}
			if value, ok := r.scalar(n.Content[i+1], goName); ok {
				result[key.Value] = value
			}
		}
		*where(c) = result
	}
}

// goName checks a name that is to be exported.
func goName(s string) string {
	if packageProblem(s) != "" || s[0] < 'A' || s[0] > 'Z' {
		return s + " is not an exported Go name"
	}
	return ""
}

// section reads the keys below a key; prefix is what stands before them in a message.
func section(prefix string, known []field) func(*reader, *yaml.Node, *Config) {
	return func(r *reader, n *yaml.Node, c *Config) { r.mapping(n, prefix, known, c) }
}

// number reads a whole number.
func number(where func(*Config) *int64) func(*reader, *yaml.Node, *Config) {
	return func(r *reader, n *yaml.Node, c *Config) {
		value, ok := r.scalar(n, anything)
		if !ok {
			return
		}
		parsed, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			r.add(n, "", "%s is not a whole number", value)
		}
		*where(c) = parsed
	}
}

// flag reads true or false.
func flag(where func(*Config) *bool) func(*reader, *yaml.Node, *Config) {
	return func(r *reader, n *yaml.Node, c *Config) {
		if value, ok := r.scalar(n, oneOf("true", "false")); ok {
			*where(c) = value == "true"
		}
	}
}
