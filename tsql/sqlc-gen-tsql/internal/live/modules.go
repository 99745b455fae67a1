package live

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// moduleQuery reads the text of every module with the options that were in force when it was created.
const moduleQuery = `SELECT s.name, o.name, m.definition, m.uses_ansi_nulls, m.uses_quoted_identifier
FROM sys.sql_modules AS m
INNER JOIN sys.objects AS o ON o.object_id = m.object_id
INNER JOIN sys.schemas AS s ON s.schema_id = o.schema_id`

// module is a row of moduleQuery.
type module struct {
	text                        sql.NullString
	ansiNulls, quotedIdentifier sql.NullBool
}

// modules compares the texts of procedures, views and functions. Triggers are left out, since no generated code
// depends on one.
func (v *verifier) modules(ctx context.Context) error {
	have := map[string]module{}
	err := v.each(ctx, moduleQuery, nil, func(scan func(...any) error) error {
		var n catalog.Name
		var m module
		if err := scan(&n.Schema, &n.Name, &m.text, &m.ansiNulls, &m.quotedIdentifier); err != nil {
			return err
		}
		have[n.Key()] = m
		return nil
	})
	if err != nil {
		v.report.unchecked("", "texts of modules and their SET options: %s", brief(err))
		return dead(ctx, err)
	}
	for _, object := range v.cat.Order {
		switch object.(type) {
		case *catalog.Procedure, *catalog.View, *catalog.Function:
			if !v.isMissing(kindOf(object), object.ObjectName()) {
				v.module(object, have[object.ObjectName().Key()])
			}
		}
	}
	return nil
}

// module compares one of them.
func (v *verifier) module(object catalog.Object, have module) {
	what, place := kindOf(object)+" "+object.ObjectName().String(), object.Where()
	if !have.text.Valid {
		v.report.unchecked(what, "its text: the server doesn't show it (encrypted, or VIEW DEFINITION is not granted)")
		return
	}
	v.report.Counts.Modules++
	if line, a, b, differ := firstDifference(moduleText(definition(object)), moduleText(have.text.String)); differ {
		v.report.drift(what, place, fmt.Sprintf("text, from line %d of it", line), a, b)
	}
	// Whatever the connection that deploys has set is frozen into the module, and a wrong one shows much later, as a
	// filtered index that can't be used.
	for _, option := range []struct {
		name string
		on   sql.NullBool
	}{{"ANSI_NULLS", have.ansiNulls}, {"QUOTED_IDENTIFIER", have.quotedIdentifier}} {
		if option.on.Valid && !option.on.Bool {
			v.report.drift(what, place, "created under", option.name+" ON", option.name+" OFF")
		}
	}
}

// A textLine is one line of a module, by its number in the definition.
type textLine struct {
	number int
	text   string
}

// firstDifference returns the first line in which two texts differ, by its number in the first, and what they have
// there. The first is enough for people, and it is shown without its indentation; that the texts differ is known.
func firstDifference(a, b []textLine) (line int, x, y string, differ bool) {
	at := func(lines []textLine, i int) string {
		switch {
		case i >= len(lines):
			return "(the end)"
		case strings.TrimSpace(lines[i].text) == "":
			return "(an empty line)"
		default:
			return strings.TrimSpace(lines[i].text)
		}
	}
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && a[i].text == b[i].text {
			continue
		}
		// A text that ends early differs on the line behind its last.
		line = 1
		if i < len(a) {
			line = a[i].number
		} else if len(a) > 0 {
			line = a[len(a)-1].number + 1
		}
		return line, at(a, i), at(b, i), true
	}
	return 0, "", "", false
}

// moduleVerb is how a definition begins. Servers store CREATE for all of these, some with the blanks of what was there.
var moduleVerb = regexp.MustCompile(`(?i)^(?:create(?:\s+or\s+alter)?|alter)\s+(proc(?:edure)?|view|function)\s+`)

// moduleText cuts a definition down to what counts: from CREATE to the end of its last statement, with the same verb
// however it was deployed, with plain line ends, and without comments. Whoever annotates a procedure for the generator
// doesn't have to deploy it again, and what the server runs is the same. What the parser refuses is compared from its
// first line to its last: a server may have taken what it doesn't understand. Blanks inside count as text, since
// sys.sql_modules keeps them and a script that is applied again leaves none of them different.
func moduleText(text string) []textLine {
	file := diag.NewFile("", strings.ReplaceAll(text, "\r\n", "\n"))
	span := diag.Span{To: diag.Pos(len(file.Text))}
	script, bad := syntax.Parse(file)
	if len(bad) == 0 && len(script.Batches) == 1 {
		span = script.Batches[0].Span
	}
	cut := strings.TrimRight(masked(script, span), "; \t\r\n"+mask)
	if m := moduleVerb.FindStringSubmatch(cut); m != nil {
		kind := strings.ToUpper(m[1])
		if kind == "PROC" {
			kind = "PROCEDURE"
		}
		cut = "CREATE " + kind + " " + cut[len(m[0]):]
	}
	var lines []textLine
	for i, line := range strings.Split(cut, "\n") {
		// A line without code isn't there, unless it has no comment either.
		if !strings.Contains(line, mask) || strings.Trim(line, mask+" \t") != "" {
			line = besideMask.ReplaceAllString(apart.ReplaceAllString(line, "$1 $2"), "")
			lines = append(lines, textLine{i + 1, line})
		}
	}
	return lines
}

// mask stands for a comment, or for a line of one. No script has it elsewhere.
const mask = "\x00"

// apart finds two words that only a comment keeps apart, and besideMask any comment with the blanks before it.
var (
	apart      = regexp.MustCompile(`(\S)\x00+(\S)`)
	besideMask = regexp.MustCompile(`[ \t]*\x00+`)
)

// masked returns a part of a script with its comments masked. The lines remain, so that they keep their numbers.
func masked(script *syntax.Script, part diag.Span) string {
	var out strings.Builder
	at := part.From
	for _, c := range script.Comments {
		if at <= c.From && c.To <= part.To {
			out.WriteString(script.File.Text[at:c.From] + mask + strings.Repeat("\n"+mask, strings.Count(c.Text, "\n")))
			at = c.To
		}
	}
	out.WriteString(script.File.Text[at:part.To])
	return out.String()
}

// definition returns the text of a module in its script.
func definition(object catalog.Object) string {
	var node syntax.Node
	switch o := object.(type) {
	case *catalog.Procedure:
		node = o.Def
	case *catalog.View:
		node = o.Def
	case *catalog.Function:
		node = o.Def
	default:
		return ""
	}
	return object.Where().File.Slice(node.Range())
}
