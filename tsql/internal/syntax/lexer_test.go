package syntax

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// tokenNames are the prefixes with which lexed prints tokens.
var tokenNames = map[tokenKind]string{
	tokenEOF: "EOF", tokenWord: "", tokenQuoted: "quoted", tokenVariable: "", tokenSystem: "", tokenString: "str",
	tokenNString: "nstr", tokenInt: "int", tokenDecimal: "dec", tokenFloat: "float", tokenMoney: "money",
	tokenBinary: "bin", tokenPunct: "", tokenGo: "GO:",
}

// lexed prints the tokens of a text, then its comments, then the errors.
func lexed(text string) string {
	var found diag.List
	tokens, comments := lex(diag.NewFile("t.sql", text), &found)
	var out []string
	for _, t := range tokens[:len(tokens)-1] {
		s := tokenNames[t.kind]
		switch {
		case t.kind == tokenGo:
			s += t.value
		case s != "":
			s += fmt.Sprintf("<%s>", t.value)
		default:
			s += t.value
		}
		out = append(out, s)
	}
	for _, c := range comments {
		mark := "/*"
		if c.Line {
			mark = "--"
		}
		out = append(out, fmt.Sprintf("%s<%s>", mark, c.Text))
	}
	if len(found) > 0 {
		out = append(out, "! "+strings.ReplaceAll(errorsOf(found), "\n", " ! "))
	}
	return strings.Join(out, " ")
}

// TestLex checks what is a token, what is a comment and what is wrong.
func TestLex(t *testing.T) {
	t.Parallel()
	for _, c := range []parseCase{
		// Words and names.
		{`select Foo_1 #t ##u a$b`, `select Foo_1 #t ##u a$b`},
		{`größe 名前 ñ`, `größe 名前 ñ`},
		{`[a]]b] [x y] "q""r" [[]`, `quoted<a]b> quoted<x y> quoted<q"r> quoted<[>`},
		{"[a\nb]", "quoted<a\nb>"},
		{`@v @@rowcount @a#b`, `@v @@rowcount @a#b`},
		{`$action $IDENTITY $rowguid $partition.f`, `$action $IDENTITY $rowguid $partition . f`},
		// Literals.
		{`'a' 'it''s' '' ''''`, `str<a> str<it's> str<> str<'>`},
		{`N'a' n'b' N 'c'`, `nstr<a> nstr<b> N str<c>`},
		{"'a\nb' 'c\\\nd' 'e\\\r\nf' 'g\\h'", "str<a\nb> str<cd> str<ef> str<g\\h>"},
		{`1 1. .5 1.5 1e5 1.5E-3 1.e+2 .5e1 1e`, `int<1> dec<1.> dec<.5> dec<1.5> float<1e5> float<1.5E-3> float<1.e+2> float<.5e1> float<1e>`},
		{`0x 0xFF 0Xab 0`, `bin<0x> bin<0xFF> bin<0Xab> int<0>`},
		{`$1.50 $5 $.5 £2 €3.1 ¥4`, `money<$1.50> money<$5> money<$.5> money<£2> money<€3.1> money<¥4>`},
		{`t.a 1.5.b`, `t . a dec<1.5> . b`},
		// Operators.
		{`< = > = < > ! = ! < ! > > > = = >`, `<= >= <> != !< !> > >= = >`},
		{`<= >= <> != !< !> += -= *= /= %= &= |= ^= ||= || << >> ::`, `<= >= <> != !< !> += -= *= /= %= &= |= ^= ||= || << >> ::`},
		{`a=-1 b*-c (*) a.* ; , ~x {}`, `a = - int<1> b * - c ( * ) a . * ; , ~ x { }`},
		{`a-b a/b a--b`, `a - b a / b a --<b>`},
		// Comments.
		{"a -- b\nc", "a c --< b>"},
		{"a -- b\r\nc", "a c --< b>"},
		{`--`, `--<>`},
		{"a /* b -- c\n */ d", "a d /*< b -- c\n >"},
		{`/* a /* b */ c */ d`, `d /*< a /* b */ c >`},
		{`/**/ /***/ /*/ x */ a`, `a /*<> /*<*> /*</ x >`},
		{`'-- no' [/* no]`, `str<-- no> quoted</* no>`},
		// White space of all kinds.
		{"a\u00a0b\u3000c\td\ve", "a b c d e"},

		// GO.
		{"a\nGO\nb", "a GO: b"},
		{"GO", "GO:"},
		{"a\r\n  go 5 \r\nb", "a GO:5 b"},
		{"a\nGo -- done\nb", "a GO: b --< done>"},
		{"a\nGO 2 /* x */\nb", "a GO:2 b /*< x >"},
		{"GOTO l", "GOTO l"},
		{"a\nGOTO l\n[GO]\n'GO'\nGOx", "a GOTO l quoted<GO> str<GO> GOx"},
		{"'\nGO\n' [\nGO\n] /*\nGO\n*/ a", "str<\nGO\n> quoted<\nGO\n> a /*<\nGO\n>"},
		{"SELECT 1 GO", "SELECT int<1> GO"},
		{"GO SELECT 1\nb", "GO: b ! 1:4: only a count and a comment may follow GO in its line"},
		{"GO;\nb", "GO: b ! 1:3: only a count and a comment may follow GO in its line"},
		{"a\nGO 1 2", "a GO:1 ! 2:6: only a count and a comment may follow GO in its line"},
		{"a\nGO 1x", "a GO:1 ! 2:5: only a count and a comment may follow GO in its line"},
		{"a\nGO5", "a GO5"},
		{"a\n/* b */ GO\nc", "a GO: c /*< b > ! 2:9: GO must be the first in its line; a comment stands before it"},

		// Faults.
		{`a 'b`, `a str<b> ! 1:3: the string that begins here has no end`},
		{"N'a\nb", "nstr<a> b ! 1:1: the string that begins here has no end"},
		{"a [b\r\nc [d", "a quoted<b> c quoted<d> ! 1:3: the bracketed name that begins here has no end ! 2:3: the bracketed name that begins here has no end"},
		{"a \"b\nc", "a quoted<b> c ! 1:3: the quoted name that begins here has no end"},
		{"a\n /* b /* c */ d", "a ! 2:2: the comment that begins here has no end"},
		{`a [] b ""`, `a quoted<> b quoted<> ! 1:3: a name in quotes or brackets is empty ! 1:8: a name in quotes or brackets is empty`},
		{`1a 0xZ 1.5é`, `int<1> a bin<0x> Z dec<1.5> é ! 1:2: a number must not run into a word ! 1:6: a number must not run into a word ! 1:11: a number must not run into a word`},
		{`1AND 2.5then 0x1fFrom 5MB 1e5or 1else`, `int<1> AND dec<2.5> then bin<0x1fF> rom int<5> MB float<1e5> or float<1e> lse ! 1:19: a number must not run into a word ! 1:35: a number must not run into a word`},
		{`@ @@ a`, `@ @@ a ! 1:1: a variable's name must follow the @ ! 1:3: a variable's name must follow the @`},
		{`$ $foo`, `$ $foo ! 1:1: $ is neither an amount of money nor one of $action, $identity, $rowguid and $partition ! 1:3: $foo is neither an amount of money nor one of $action, $identity, $rowguid and $partition`},
		{"a ` b ? c \\ d", "a b c d ! 1:3: the character \"`\" has no meaning in T-SQL ! 1:7: the character \"?\" has no meaning in T-SQL ! 1:11: the character \"\\\\\" has no meaning in T-SQL"},
		{`a = ‘b’`, `a = b ! 1:5: the character '‘' has no meaning in T-SQL ! 1:7: the character '’' has no meaning in T-SQL`},
		{"a \xff b \x00", "a b ! 1:3: the character '�' has no meaning in T-SQL ! 1:7: the character \"\\x00\" has no meaning in T-SQL"},
		{":setvar x 1\na", "a ! 1:1: commands of sqlcmd are not T-SQL"},
		{"a\n  :r file.sql\r\nb", "a b ! 2:3: commands of sqlcmd are not T-SQL"},
		{"!!dir\na : b", "a : b ! 1:1: commands of sqlcmd are not T-SQL"},
		{"x\n: y", "x : y"},
		{`$(db).t [$(db)]`, `quoted<$(db)> . t quoted<$(db)> ! 1:1: variables of sqlcmd, $(…), are not T-SQL ! 1:9: variables of sqlcmd, $(…), are not T-SQL`},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			if got := lexed(c.text); got != c.want {
				t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

// TestTokenPositions checks spans and the mark of the first token of a line, which recovery after errors relies on.
func TestTokenPositions(t *testing.T) {
	t.Parallel()
	text := "a /* x\n*/ [b]\n\n N'c'"
	var found diag.List
	tokens, comments := lex(diag.NewFile("t.sql", text), &found)
	var got []string
	for _, tok := range tokens {
		got = append(got, fmt.Sprintf("%q %v", text[tok.From:tok.To], tok.line))
	}
	want := `"a" true, "[b]" true, "N'c'" true, "" false`
	if s := strings.Join(got, ", "); s != want || len(found) > 0 {
		t.Errorf("got %s\nwant %s", s, want)
	}
	if c := comments[0]; text[c.From:c.To] != "/* x\n*/" {
		t.Errorf("the comment's span holds %q", text[c.From:c.To])
	}
}

// TestLexIsLinear lexes a long script, and long texts of the kinds that a careless lexer scans again and again. The
// bound on the time is generous for a busy machine and far below what a quadratic scan takes.
func TestLexIsLinear(t *testing.T) {
	t.Parallel()
	const script = "SELECT a, 'x' FROM [t] WHERE b = 1 -- c\n"
	for _, unit := range []string{
		script, "'", "[\n", "[]]\n", "/*", "/* */", "--\n", "''", "1.", "a", "\"\n", "$(\n",
		"GO\n", "名", "`",
	} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			size := 1 << 20
			if unit == script {
				size *= 5
			}
			text := strings.Repeat(unit, size/len(unit))
			start := time.Now()
			var found diag.List
			lex(diag.NewFile("t.sql", text), &found)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if len(found) > maxLexErrors+1 {
				t.Errorf("%d findings", len(found))
			}
		})
	}
}
