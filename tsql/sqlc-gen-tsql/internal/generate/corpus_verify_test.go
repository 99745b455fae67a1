package generate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/live"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// TestCorpusVerify deploys each project to a database of its own and does what the command verify does: it compares
// what the generator says of tables, parameters and texts with the server's metadata, and executes every procedure with
// made-up arguments to see the result sets. Whatever it finds is a mistake on one of the two sides. What tsqltest
// doesn't have, and what depends on that or on something that no script defines, is counted.
func TestCorpusVerify(t *testing.T) { //nolint:tparallel // one project at a time: each takes much memory
	t.Parallel()
	var all verified
	causes := map[string]int{}
	eachProject(t, func(t *testing.T, p project) {
		one := verifyProject(t, p, causes)
		t.Logf("%+v", one)
		all.Typed, all.Deployed, all.Sets, all.Unseen = all.Typed+one.Typed, all.Deployed+one.Deployed, all.Sets+one.Sets, all.Unseen+one.Unseen
		all.Seen, all.Lacking, all.Differences = all.Seen+one.Seen, all.Lacking+one.Lacking, all.Differences+one.Differences
	})
	t.Logf("all: %+v", all)
	for _, cause := range frequent(causes, 60) {
		t.Logf("%6d  %s", causes[cause], cause)
	}
}

// verified counts procedures and result sets of a project.
type verified struct {
	Typed    int // procedures of which the generator makes code
	Deployed int // those of them that the server has
	Lacking  int // those of them whose executions end for want of something that isn't deployed
	Sets     int // the result sets of those that are deployed
	Seen     int // those that came, and were compared
	Unseen   int // those that no made-up arguments led to
	// Differences counts what the server has otherwise than the generator says.
	Differences int
}

func verifyProject(t *testing.T, p project, causes map[string]int) verified {
	t.Helper()
	p, result := p.settle(t)
	server := tsqltest.New(t, tsqltest.Options{Database: p.database()})
	deploy(t, server, p, result, causes)
	conn, err := server.DB().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	options := live.Options{Timeout: 5 * time.Second, Reconnect: server.DB().Conn}
	report, err := live.Verify(t.Context(), conn, result.Program, result.Catalog, options)
	if err != nil {
		t.Fatal(err)
	}
	absent := absentFrom(report)
	out := verified{Typed: len(result.Program.Procedures), Seen: report.Counts.ResultSets, Unseen: len(report.Unseen)}
	for _, proc := range result.Program.Procedures {
		if !absent["procedure "+proc.Name.String()] {
			out.Deployed++
			out.Sets += len(proc.Results)
		}
	}
	lacking := map[string]bool{}
	report.Drift = slices.DeleteFunc(report.Drift, func(d live.Difference) bool {
		if d.Part == "execution" && lacks(d.Have, absent, result.Catalog) {
			lacking[d.Object] = true
			return true
		}
		return d.Part == "" && d.Have == "missing"
	})
	for _, note := range report.Unseen {
		_, ends, _ := strings.Cut(note.Text, "executions ended with: ")
		causes["not seen: "+withoutNames(ends)]++
	}
	out.Lacking, out.Differences = len(lacking), len(report.Drift)
	if len(report.Drift) > 0 {
		var text strings.Builder
		report.Unseen, report.Unchecked = nil, nil
		report.Print(&text)
		t.Errorf("%s", text.String())
	}
	return out
}

// used finds the database that a script is for.
var used = regexp.MustCompile(`(?im)^\s*use\s+\[?(\w+)`)

// database returns the name of the database that the scripts say they are for.
func (p *project) database() string {
	for _, s := range p.sources {
		for _, m := range used.FindAllStringSubmatch(s.Text, -1) {
			if !strings.EqualFold(m[1], "master") {
				return m[1]
			}
		}
	}
	return ""
}

// absentFrom returns what of the scripts the server doesn't have.
func absentFrom(r *live.Report) map[string]bool {
	absent := map[string]bool{}
	for _, d := range r.Drift {
		if d.Part == "" && d.Have == "missing" {
			absent[d.Object] = true
		}
	}
	return absent
}

// lacks reports whether an error says that something is missing which isn't deployed, or which no script defines.
func lacks(message string, absent map[string]bool, c *catalog.Catalog) bool {
	quoted := strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune("'\".", r) })
	name := func(n catalog.Name) bool {
		return slices.ContainsFunc(quoted, func(word string) bool { return catalog.Fold(word) == catalog.Fold(n.Name) })
	}
	defined := false
	for _, o := range c.Order {
		if _, away := o.(*catalog.Synonym); away && name(o.ObjectName()) {
			return true // of an object in another database, or one that is not there
		}
		defined = defined || name(o.ObjectName())
		for _, kind := range []string{"table ", "view ", "function ", "procedure ", "synonym ", "type ", "sequence "} {
			if name(o.ObjectName()) && absent[kind+o.ObjectName().String()] {
				return true
			}
		}
	}
	return !defined && strings.Contains(message, "nvalid object name")
}

// deploy executes the scripts of a project, in their order. What fails for want of something is tried again as long as
// that helps: a tool that publishes such projects finds the order by itself.
func deploy(t *testing.T, server *tsqltest.Server, p project, result Result, causes map[string]int) {
	t.Helper()
	conn := connect(t, server)
	defer func() { conn.Close() }()
	made := map[string]bool{"dbo": true}
	for _, object := range result.Catalog.Order {
		if schema := object.ObjectName().Schema; !made[catalog.Fold(schema)] {
			made[catalog.Fold(schema)] = true
			_, _ = conn.Exec(t.Context(), "CREATE SCHEMA ["+schema+"]") // the project may do so itself, and then fails
		}
	}
	steps := stepsOf(p)
	for {
		var left []step
		said := map[string]int{}
		for at := 0; at < len(steps); at++ {
			one := steps[at]
			err := execute(t.Context(), conn, one.text)
			for err != nil {
				plain := withoutStorage(one.text, err)
				if plain == one.text {
					break
				}
				one.text = plain
				err = execute(t.Context(), conn, plain)
			}
			if err == nil {
				continue
			}
			// A batch ends where it fails; the rest of it doesn't depend on that.
			steps = slices.Insert(steps, at+1, one.parts...)
			e, ok := errors.AsType[*tsqltest.Error](err)
			if ok && slices.Contains(wanting, e.Number) && len(one.parts) == 0 && !alters.MatchString(one.text) {
				left = append(left, one)
				said[one.kind+why(err)]++
				continue
			}
			causes[one.kind+why(err)]++
			if !ok || e.Class >= 20 { // the session has ended
				conn.Close()
				conn = connect(t, server)
			}
		}
		stuck := len(left) == len(steps) && !withoutForeignKeys(left)
		if stuck || len(left) == 0 {
			for cause, n := range said {
				causes[cause] += n
			}
			return
		}
		steps = left
	}
}

// storage finds the name in error 1921: of a filegroup or a partition scheme.
var storage = regexp.MustCompile(`Invalid (?:filegroup|partition scheme) '([^']*)' specified`)

// withoutStorage takes out of a definition where its rows are to be kept, if the server doesn't know that. It decides
// nothing about what is compared.
func withoutStorage(text string, err error) string {
	name := storage.FindStringSubmatch(err.Error())
	if name == nil {
		return text
	}
	return regexp.MustCompile(`(?i)\b(?:TEXTIMAGE_)?ON\s+\[?`+regexp.QuoteMeta(name[1])+`\]?(?:\s*\([^)]*\))?`).ReplaceAllString(text, " ")
}

// foreignKey finds a foreign key of a CREATE TABLE with the comma before it.
var foreignKey = regexp.MustCompile(`(?i),\s*(?:CONSTRAINT\s+\S+\s+)?FOREIGN\s+KEY\s*\([^)]*\)\s*REFERENCES\s+[\w\[\].]+\s*(?:\([^)]*\))?` +
	`(?:\s+ON\s+(?:DELETE|UPDATE)\s+(?:CASCADE|NO\s+ACTION|SET\s+\w+))*(?:\s+NOT\s+FOR\s+REPLICATION)?`)

// withoutForeignKeys takes foreign keys out of what is left, where tables refer to each other in a circle. A tool that
// publishes such projects adds them at the end. It reports whether there were any.
func withoutForeignKeys(steps []step) bool {
	found := false
	for i := range steps {
		if text := foreignKey.ReplaceAllString(steps[i].text, ""); text != steps[i].text && createTable.MatchString(text) {
			steps[i].text, found = text, true
		}
	}
	return found
}

var createTable = regexp.MustCompile(`(?i)^create\s+table\b`)

func connect(t *testing.T, server *tsqltest.Server) *tsqltest.Conn {
	t.Helper()
	conn, err := server.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// alters finds what changes a module. It isn't tried again: by then a later definition may be there.
var alters = regexp.MustCompile(`(?i)^alter\s+(?:proc|view|func|trig)`)

// wanting are the errors that say that something is not there yet.
var wanting = []int32{207, 208, 1088, 1767, 1769, 2715, 2760, 2812, 4121, 4902, 8197, 15151}

// why returns what is said of an error, without names.
func why(err error) string {
	e, ok := errors.AsType[*tsqltest.Error](err)
	if !ok {
		return generic(err.Error())
	}
	first, _, _ := strings.Cut(e.Message, "\n")
	return withoutNames(fmt.Sprintf("%d %s", e.Number, first))
}

// particular finds what makes messages of a kind differ: names and places.
var particular = regexp.MustCompile(`'[^']*'|"[^"]*"|\([^()]*:\d+:\d+\)|#\d+`)

func withoutNames(message string) string { return particular.ReplaceAllString(message, "…") }

// execute executes one step.
func execute(ctx context.Context, conn *tsqltest.Conn, step string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_, err := conn.Exec(ctx, step)
	return err
}

// A step is a text that is executed at once. If it fails, its parts are executed one after the other.
type step struct {
	kind  string // what the cause of a failure begins with
	text  string
	parts []step
}

// stepsOf returns what a project executes: batches that define a module or declare variables, and the statements of
// the others.
func stepsOf(p project) []step {
	var steps []step
	for _, s := range p.sources {
		file := diag.NewFile(s.Name, s.Text)
		script, _ := syntax.Parse(file)
		for _, batch := range script.Batches {
			if batch.Module != nil {
				steps = append(steps, step{kind: "module: ", text: file.Slice(batch.Span)})
				continue
			}
			var parts []step
			declares := false
			for _, stmt := range batch.Stmts {
				_, declare := stmt.(*syntax.Declare)
				declares = declares || declare
				if _, use := stmt.(*syntax.Use); !use { // there is one database
					parts = append(parts, step{text: file.Slice(stmt.Range())})
				}
			}
			if declares {
				steps = append(steps, step{text: file.Slice(batch.Span), parts: parts})
			} else {
				steps = append(steps, parts...)
			}
		}
	}
	return steps
}
