package live

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
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
	// Whether to trust the options is asked before any module is compared, for the note to be there only once.
	if err := v.probeOptions(ctx); err != nil {
		return err
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
	if want, got := moduleText(definition(object)), moduleText(have.text.String); want != got {
		line, a, b := firstDifference(want, got)
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

// probeOptions finds out whether the server remembers the options at all, from a procedure that is created under the
// wrong ones and taken back. Who may not create one can't find out, and then what the server says is believed. Some
// servers accept the settings, ignore them, and report every module as created under ON: no difference there says
// nothing.
func (v *verifier) probeOptions(ctx context.Context) error {
	// Deferred first and so executed last: ROLLBACK doesn't restore settings.
	defer v.conn.ExecContext(ctx, "SET ANSI_NULLS ON; SET QUOTED_IDENTIFIER ON;") //nolint:errcheck // as it was
	if _, err := v.conn.ExecContext(ctx, "SET ANSI_NULLS OFF; SET QUOTED_IDENTIFIER OFF; BEGIN TRANSACTION;"); err != nil {
		return dead(ctx, err)
	}
	defer v.conn.ExecContext(ctx, undo) //nolint:errcheck // as it was
	if _, err := v.conn.ExecContext(ctx, "CREATE PROCEDURE sqlc_gen_tsql_probe AS RETURN 0"); err != nil {
		return dead(ctx, err)
	}
	var ansiNulls, quotedIdentifier sql.NullBool
	err := v.conn.QueryRowContext(ctx, `SELECT m.uses_ansi_nulls, m.uses_quoted_identifier
FROM sys.sql_modules AS m
INNER JOIN sys.objects AS o ON o.object_id = m.object_id
WHERE o.name = 'sqlc_gen_tsql_probe'`).Scan(&ansiNulls, &quotedIdentifier)
	if err != nil {
		return dead(ctx, err)
	}
	for _, option := range []struct {
		name string
		on   sql.NullBool
	}{{"ANSI_NULLS", ansiNulls}, {"QUOTED_IDENTIFIER", quotedIdentifier}} {
		if !option.on.Valid || option.on.Bool {
			v.report.unchecked("", "SET %s of modules: the server reports it ON for a procedure created under OFF", option.name)
		}
	}
	return nil
}

// firstDifference returns the number of the first line in which two texts differ, and what they have there. The first
// is enough for people, and it is shown without its indentation; that the texts differ is known.
func firstDifference(a, b string) (line int, x, y string) {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	at := func(lines []string, i int) string {
		switch {
		case i >= len(lines):
			return "(the end)"
		case strings.TrimSpace(lines[i]) == "":
			return "(an empty line)"
		default:
			return strings.TrimSpace(lines[i])
		}
	}
	// It ends, because the texts differ somewhere.
	for i := 0; ; i++ {
		if i >= len(left) || i >= len(right) || left[i] != right[i] {
			return i + 1, at(left, i), at(right, i)
		}
	}
}

// moduleVerb is how a definition begins. Servers store CREATE for all of these, some with the blanks of what was there.
var moduleVerb = regexp.MustCompile(`(?i)^(?:create(?:\s+or\s+alter)?|alter)\s+(proc(?:edure)?|view|function)\s+`)

// moduleText cuts a definition down to what counts: from CREATE to the end of its last statement, which leaves out
// comments around it, with the same verb however it was deployed, and with plain line ends. What the parser refuses
// is compared whole: a server may have taken what it doesn't understand. Blanks and comments inside count as text,
// since sys.sql_modules keeps them and a script that is applied again leaves none of them different.
func moduleText(text string) string {
	file := diag.NewFile("", strings.ReplaceAll(text, "\r\n", "\n"))
	cut := file.Text
	if script, bad := syntax.Parse(file); len(bad) == 0 && len(script.Batches) == 1 {
		cut = file.Slice(script.Batches[0].Span)
	}
	cut = strings.TrimRight(cut, "; \t\r\n")
	if m := moduleVerb.FindStringSubmatch(cut); m != nil {
		kind := strings.ToUpper(m[1])
		if kind == "PROC" {
			kind = "PROCEDURE"
		}
		cut = "CREATE " + kind + " " + cut[len(m[0]):]
	}
	return cut
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
