package migrate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRewrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, source, want string }{
		{"qualifier", "x", "SELECT a FROM duroxide.t", "SELECT a FROM [x].t"},
		{"delimited", "x", `[duroxide].t "duroxide".u`, "[x].t [x].u"},
		{"role", "x", "GRANT EXECUTE ON SCHEMA::duroxide TO duroxide_runtime", "GRANT EXECUTE ON SCHEMA::[x] TO [x_runtime]"},
		{"literals", "x", "N'duroxide' 'duroxide_runtime'", "N'x' N'x_runtime'"},
		{"other literals", "x", "N'duroxide.t' 'a duroxide' N''", "N'duroxide.t' 'a duroxide' N''"},
		{"comments", "x", "-- duroxide.t\n/* duroxide */", "-- duroxide.t\n/* duroxide */"},
		{"other words", "x", "@duroxide #duroxide duroxide1 DUROXIDE", "@duroxide #duroxide duroxide1 DUROXIDE"},
		{"brackets and quotes in the name", "a]b'c", "duroxide.t N'duroxide'", "[a]]b'c].t N'a]b''c'"},
		{"the scripts' own", DefaultSchema, "duroxide.t [duroxide] N'duroxide'", "duroxide.t [duroxide] N'duroxide'"},
		{"what does not end", "x", "'duroxide", "'duroxide"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, rewrite(c.source, c.schema)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckSchemaName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"duroxide", "a", "dbo", "tenant-1 a'ü", "'; DROP TABLE x --", strings.Repeat("ü", 100), strings.Repeat("😀", 50),
	} {
		if err := CheckSchemaName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", " a", "a ", "a\u00a0", "a\nb", "a\x00", "\u0085", "\xff", strings.Repeat("a", 101), strings.Repeat("😀", 51), "a]b", "a[b", "a.b",
	} {
		if CheckSchemaName(name) == nil {
			t.Errorf("%q was accepted", name)
		}
	}
}

// FuzzRewrite states what the lexer, splitting and rewriting never do: lose text.
func FuzzRewrite(f *testing.F) {
	for _, seed := range []string{
		"SELECT a FROM duroxide.t WHERE b = N'duroxide'\nGO 2\nGO", "/* /* */ */ [a]]b] \"c\"", "'a\nGO\n'", "-- '\nGO", "\xff duroxide", "LIKE'duroxide' duroxide] xN'duroxide'",
	} {
		f.Add(seed, "x]y'z")
	}
	f.Fuzz(func(t *testing.T, source, schema string) {
		list := tokens(source)
		var all, kept, split strings.Builder
		for _, one := range list {
			all.WriteString(one.text)
			if one.kind != tokenGo {
				kept.WriteString(one.text)
			}
		}
		if all.String() != source {
			t.Fatalf("tokens of %q are %q", source, all.String())
		}
		for _, piece := range cut(list) {
			split.WriteString(piece.Text)
		}
		if split.String() != kept.String() {
			t.Errorf("batches of %q hold %q, want %q", source, split.String(), kept.String())
		}
		if same := rewrite(source, DefaultSchema); same != source {
			t.Errorf("for its own schema %q becomes %q", source, same)
		}
		if CheckSchemaName(schema) != nil {
			return
		}
		checkRewritten(t, source, schema)
	})
}

// checkRewritten compares a script with its rewriting token by token.
func checkRewritten(t *testing.T, source, schema string) {
	t.Helper()
	names := map[string]string{DefaultSchema: schema, RoleName(DefaultSchema): RoleName(schema)}
	before, after := significant(tokens(source)), significant(tokens(rewrite(source, schema)))
	if len(before) != len(after) {
		t.Fatalf("%q has %d tokens and %d for %q", source, len(before), len(after), schema)
	}
	for i, was := range before {
		is := after[i]
		want, renamed := names[was.name()]
		if was.kind == tokenText {
			want, renamed = names[was.literal()]
		}
		switch {
		case was.line != is.line:
			t.Errorf("%q moved from line %d to %d", was.text, was.line, is.line)
		case was.open || !renamed:
			if was.text != is.text {
				t.Errorf("%q became %q", was.text, is.text)
			}
		case was.kind == tokenText && is.literal() != want, was.kind != tokenText && is.name() != want:
			t.Errorf("%q became %q, want the name %q", was.text, is.text, want)
		}
	}
}

// significant leaves out white space, which delimiters may make superfluous or cut.
func significant(list []token) []token {
	var rest []token
	for _, t := range list {
		if t.kind != tokenSpace {
			rest = append(rest, t)
		}
	}
	return rest
}
