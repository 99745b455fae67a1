package placeholder_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/placeholder"
)

// TestFile shows what becomes of texts; a text that is to stay as it is has no want.
func TestFile(t *testing.T) {
	t.Parallel()
	values := map[string]string{"owner": "dbo.", "none": "", "Name with blanks": "x"}
	for text, want := range map[string]string{
		"{owner}t {OWNER}u":                "dbo.t dbo.u",
		"{none}{none}t{none}":              "t",
		"[{owner}]":                        "[dbo.]",
		"'{owner}' N'it''s {owner}'":       "'dbo.' N'it''s dbo.'",
		"-- {owner}\n/* {owner} /* */ */":  "-- dbo.\n/* dbo. /* */ */",
		"$(Owner)t '$(owner)'":             "dbo.t 'dbo.'",
		"<owner, sysname, x>t":             "dbo.t",
		"<Name with blanks, varchar(3), >": "x",
		"<a, , >'<a, , >'--<a, , >":        "a''--",
		"<a,,(1)> <@b,decimal(9, 2),'x'>":  "(1) 'x'",

		// What has no value in a text, or is none, stays.
		"'{other}' '{0}' /* {other} */ -- $(other)":  "",
		"'$(document).ready()'":                      "",
		"{fn NOW()} {d '2000-01-01'} {0}":            "",
		"$5 $(1)":                                    "",
		"IIF(a <b, 1, 2) IIF(c> d, 1, 2)":            "",
		"IIF(a <b, date, CASE WHEN c> d THEN 1 END)": "",
		"IIF(a <b, 1, (SELECT c> d))":                "",
		"WHERE a <b\nAND c> d":                       "",
		"a <b, c, d":                                 "",
		"[<Name of Missing Index, sysname,>]":        "",
		"[<owner, sysname,>] [<a, sysname, b>]":      "[dbo.] [b]",

		// Strings and comments begin and end where they do for the parser.
		"'a--b' {owner}":              "'a--b' dbo.",
		"'a /* b' {owner} */":         "'a /* b' dbo. */",
		"-- it's\n{owner}":            "-- it's\ndbo.",
		"/* it's */ {owner} [it's] ":  "/* it's */ dbo. [it's] ",
		"'no end {owner}\nor {owner}": "'no end dbo.\nor dbo.",
		"[a]]'b] {owner} 'c'":         "[a]]'b] dbo. 'c'",
		"\ufeff{owner}":               "dbo.",
		"/*":                          "",
		"'":                           "",
		"[":                           "",

		// Lines of sqlcmd.
		":setvar v 1\n$(v)":                              "\n1",
		" :SETVAR v \"a \"\"b\"\"\"  \n'$(V)' '$(v)'":    " \n'a \"b\"' 'a \"b\"'",
		":setvar v 1\n:setvar v \"\"\nx$(v)y":            "\n\nxy",
		":setvar v 1\n:setvar v\n'$(v)'":                 "\n\n'$(v)'",
		":setvar owner x.\n$(owner)t":                    "\ndbo.t",
		":setvar other x\n'{other}'":                     "\n'{other}'",
		":on error exit\n:out x.log\n:ON ERROR ignore\n": "\n\n\n",
		"':setvar v 1\n$(w)'":                            "",
		"/*\n:setvar v 1\n*/ '$(v)'":                     "",
		":r other.sql\n:connect x":                       "",
		"label:\nx :on error exit":                       "",
	} {
		if want == "" && text != "" {
			want = text
		}
		file, gaps := placeholder.New(values).File("a.sql", text)
		if file.Text != want {
			t.Errorf("%q\n got %q\nwant %q", text, file.Text, want)
		}
		if len(gaps) > 0 && text != "<a, , >'<a, , >'--<a, , >" {
			t.Errorf("%q: %d placeholders have no value", text, len(gaps))
		}
	}
}

// TestVariablesLast checks that a variable of sqlcmd holds in the scripts that follow, as when sqlcmd runs them in one
// call.
func TestVariablesLast(t *testing.T) {
	t.Parallel()
	filler := placeholder.New(nil)
	filler.File("1.sql", ":setvar v x\n")
	if file, _ := filler.File("2.sql", "$(v)"); file.Text != "x" || len(filler.Findings()) > 0 {
		t.Errorf("got %q and %s", file.Text, filler.Findings().Format())
	}
}

// TestStopgaps checks that a text can be read on where a value is missing, and that each is reported once.
func TestStopgaps(t *testing.T) {
	t.Parallel()
	filler := placeholder.New(map[string]string{"unused": "x"})
	const text = "{owner}[{prefix}t] {owner}{prefix}t {owner}.t [{owner}] $(db).t <a name, sysname, > <@p, , >"
	file, gaps := filler.File("a.sql", text)
	const want = "[t] t owner.t [owner] db.t a_name @p"
	if file.Text != want || len(gaps) != 9 {
		t.Errorf("got %q with %d gaps, want %q with 9", file.Text, len(gaps), want)
	}
	var got []string
	for _, d := range filler.Findings() {
		got = append(got, d.Error()+": "+d.Advice())
	}
	wanted := []string{
		"no script has the placeholder unused (placeholder): remove it from placeholders",
		"a.sql:1:1: the placeholder {owner} has no value (at 4 places) (placeholder): set it in the configuration, as in placeholders: {owner: value}",
		"a.sql:1:9: the placeholder {prefix} has no value (at 2 places) (placeholder): set it in the configuration, as in placeholders: {prefix: value}",
		"a.sql:1:57: the placeholder $(db) has no value (at 1 place) (placeholder): set it in the configuration, as in placeholders: {db: value}",
		"a.sql:1:65: the placeholder <a name, sysname, > has no value (at 1 place) (placeholder): set it in the configuration, as in placeholders: {a name: value}",
		`a.sql:1:85: the placeholder <@p, , > has no value (at 1 place) (placeholder): set it in the configuration, as in placeholders: {"@p": value}`,
	}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if carets := strings.Count(strings.Split(filler.Findings().Format(), "\n")[4], "^"); carets != len("{owner}") {
		t.Errorf("%d carets below {owner}", carets)
	}
}
