package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// A reader collects the findings of one file. It goes on behind each of them, so that all are reported together.
type reader struct {
	file     *diag.File
	findings diag.List
}

// yamlLine finds the line number in the message of a YAML error, which is all that tells where it is.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// parse returns the outermost mapping, or nil if there is none. A file of several documents is read up to the end of
// the first.
func (r *reader) parse() *yaml.Node {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(r.file.Text), &document); err != nil {
		message, at := err.Error(), diag.Span{}
		// The library tells a line in its text only, and no column.
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

// span turns a line and a column, both from 1, into a span of so many bytes. That is how YAML tells places. One that
// isn't in the text, for the YAML library knows more line ends than LF, becomes the end of it.
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
	// Columns are characters, spans are bytes.
	for range column - 1 {
		_, size := utf8.DecodeRuneInString(r.file.Text[from:])
		from += size
	}
	return diag.Span{From: diag.Pos(from), To: diag.Pos(min(from+length, len(r.file.Text)))}
}

// add records a finding about a node. The finding covers the value as it is written if it is written on one line
// without escapes; else its beginning is right, which is what counts.
func (r *reader) add(n *yaml.Node, fix, format string, args ...any) {
	length := len(n.Value)
	// The value is without its quotes, the text has them.
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		length += 2
	}
	r.findings.Add(r.file, r.span(n.Line, n.Column, max(1, length)), rule, fix, format, args...)
}

// mapping reads the keys of a mapping; prefix is what stands before its keys in a message. A key that is there twice
// is read once: which one the author means nobody knows.
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

// find returns the field of a key, nil if there is none.
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
	if near := diag.Nearest(key, keys); near != "" {
		return "did you mean " + near + "?"
	}
	return "the keys are " + strings.Join(keys, ", ")
}

// A valueCheck returns what is wrong with a value, and "" if nothing is. The text becomes a finding at the value.
type valueCheck func(string) string

// anything takes every value; that it isn't empty is checked for all.
func anything(string) string { return "" }

// oneOf takes the values that are listed. They are few and documented, so that the message can name them all.
func oneOf(allowed ...string) valueCheck {
	return func(s string) string {
		if slices.Contains(allowed, s) {
			return ""
		}
		return "expected " + strings.Join(allowed, " or ") + ", not " + s
	}
}

// scalar returns the text of a node, checked; ok is false if it was refused. Neither is null a value: a key that is
// written down and says nothing is a mistake, and ~ as a name would be worse. Whether YAML took the value for a
// number or a truth doesn't matter, since its text is what counts.
func (r *reader) scalar(n *yaml.Node, check valueCheck) (text string, ok bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		r.add(n, "", "this has to be a single value")
	case n.Value == "", n.Tag == "!!null":
		r.add(n, "", "the value is empty")
	default:
		problem := check(n.Value)
		if problem == "" {
			return n.Value, true
		}
		r.add(n, "", "%s", problem)
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
		// schema: a.sql is a list of one, as it is read by people.
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

// names reads a mapping of names to names. The names of SQL are not checked against the scripts here; package model
// reports those that nothing is called.
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

// values reads a mapping of names to texts, which may be empty if they are written so. Case doesn't count in the names.
func values(where func(*Config) *map[string]string) func(*reader, *yaml.Node, *Config) {
	return func(r *reader, n *yaml.Node, c *Config) {
		if n.Kind != yaml.MappingNode {
			r.add(n, "", "this has to be names and their values")
			return
		}
		result, seen := map[string]string{}, map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			switch folded := strings.ToLower(key.Value); {
			case seen[folded]:
				r.add(key, "", "%s is there twice", key.Value)
			case value.Kind == yaml.ScalarNode && value.Value == "" && value.Style != 0:
				result[key.Value] = ""
			default:
				if text, ok := r.scalar(value, anything); ok {
					result[key.Value] = text
				}
			}
			seen[strings.ToLower(key.Value)] = true
		}
		*where(c) = result
	}
}

// goName checks a name that is to be exported. Sentinels, methods and types are all for other packages to use.
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

// number reads a whole number. Decimal only: 0x10 is a misprint here.
func number(where func(*Config) *int64) func(*reader, *yaml.Node, *Config) {
	return func(r *reader, n *yaml.Node, c *Config) {
		value, ok := r.scalar(n, anything)
		if !ok {
			return
		}
		parsed, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			r.add(n, "", "%s is not a whole number", value)
			return
		}
		*where(c) = parsed
	}
}

// flag reads true or false. YAML 1.1 also had yes and on; the library doesn't take them for truths, and neither does
// this.
func flag(where func(*Config) *bool) func(*reader, *yaml.Node, *Config) {
	return func(r *reader, n *yaml.Node, c *Config) {
		if value, ok := r.scalar(n, oneOf("true", "false")); ok {
			*where(c) = value == "true"
		}
	}
}
