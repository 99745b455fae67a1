package sqlite

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/gen/sqlitedb"
)

// planned are the statements of every turn and activity, and what is asked of each
// instance before a purge deletes it. They must not become slower as the database grows.
var planned = []struct{ name, query string }{
	{"RefreshInbox", sqlitedb.RefreshInbox},
	{"ReceiveMessage", sqlitedb.ReceiveMessage},
	{"CountDueInboxes", sqlitedb.CountDueInboxes},
	{"RefreshDueInboxes", sqlitedb.RefreshDueInboxes},
	{"ResetDueInboxes", sqlitedb.ResetDueInboxes},
	{"NextInstance", sqlitedb.NextInstance},
	{"ListInstanceHeads", sqlitedb.ListInstanceHeads},
	{"OldestInstances", sqlitedb.OldestInstances},
	{"UnknownInstanceCodes", sqlitedb.UnknownInstanceCodes},
	{"NextWaitingInstance", sqlitedb.NextWaitingInstance},
	{"CountWaitingInstances", sqlitedb.CountWaitingInstances},
	{"LockInstance", sqlitedb.LockInstance},
	{"NextInboxWake", sqlitedb.NextInboxWake},
	{"GetLock", sqlitedb.GetLock},
	{"EndLock", sqlitedb.EndLock},
	{"EndLastLock", sqlitedb.EndLastLock},
	{"PassLock", sqlitedb.PassLock},
	{"UnlockInbox", sqlitedb.UnlockInbox},
	{"DeleteEmptyInbox", sqlitedb.DeleteEmptyInbox},
	{"LockMessages", sqlitedb.LockMessages},
	{"LockVisibleMessages", sqlitedb.LockVisibleMessages},
	{"UnlockMessages", sqlitedb.UnlockMessages},
	{"DeleteBatch", sqlitedb.DeleteBatch},
	{"ReadExecution", sqlitedb.ReadExecution},
	{"LatestExecution", sqlitedb.LatestExecution},
	{"GetInstanceContext", sqlitedb.GetInstanceContext},
	{"ReadProgress", sqlitedb.ReadProgress},
	{"TouchInstance", sqlitedb.TouchInstance},
	{"EndExecution", sqlitedb.EndExecution},
	{"SetExecutionStatus", sqlitedb.SetExecutionStatus},
	{"ReadyDueWork", sqlitedb.ReadyDueWork},
	{"NextPlainWork", sqlitedb.NextPlainWork},
	{"SessionWorkCodes", sqlitedb.SessionWorkCodes},
	{"NextSessionWork", sqlitedb.NextSessionWork},
	{"ListWorkHeads", sqlitedb.ListWorkHeads},
	{"OldestPlainWork", sqlitedb.OldestPlainWork},
	{"UnknownWorkCodes", sqlitedb.UnknownWorkCodes},
	{"NextWaitingWork", sqlitedb.NextWaitingWork},
	{"CountWaitingWork", sqlitedb.CountWaitingWork},
	{"ReadyTags", sqlitedb.ReadyTags},
	{"NextWorkWake", sqlitedb.NextWorkWake},
	{"NextSessionWake", sqlitedb.NextSessionWake},
	{"AddStartInbox", sqlitedb.AddStartInbox},
	{"LockWork", sqlitedb.LockWork},
	{"EndWork", sqlitedb.EndWork},
	{"FinishWork", sqlitedb.FinishWork},
	{"RenewWork", sqlitedb.RenewWork},
	{"UnlockWork", sqlitedb.UnlockWork},
	{"CancelWork", sqlitedb.CancelWork},
	{"CleanupSessions", sqlitedb.CleanupSessions},
	{"GetCode", sqlitedb.GetCode},
	{"SeeKnownCode", sqlitedb.SeeKnownCode},
	{"PutKnownCode", sqlitedb.PutKnownCode},
	{"DeleteKnownCode", sqlitedb.DeleteKnownCode},
	{"ListKnownVersions", sqlitedb.ListKnownVersions},
	{"IsFinishedRoot", sqlitedb.IsFinishedRoot},
}

// update rewrites the golden file: go test ./provider/sqlite -run QueryPlans -update.
var update = flag.Bool("update", false, "rewrite golden files")

// SQLite's plans are kept in a file for people to read: which index each step uses.
// Whatever grows is searched, never scanned.
func TestQueryPlans(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	var plans strings.Builder
	for _, p := range planned {
		fmt.Fprintf(&plans, "%s\n", p.name)
		if strings.Contains(p.query, "LIMIT ?") {
			t.Errorf("%s has a parameter for a limit: SQLite plans it anew each time", p.name)
		}
		for _, step := range s.explain(t, p.query) {
			fmt.Fprintf(&plans, "\t%s\n", step)
			if scansTable(step) {
				t.Errorf("%s: %s", p.name, step)
			}
		}
	}
	const golden = "testdata/query_plans.txt"
	if *update {
		must(t, os.WriteFile(golden, []byte(plans.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if diff := cmp.Diff(string(want), plans.String()); diff != "" {
		t.Errorf("plans have changed; look whether they are as good, then use -update (-want +got):\n%s", diff)
	}
}

// What a purge asks for is sought too, though its limit is a parameter: a page, and the instances
// that it names.
func TestPurgePlans(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	for name, query := range map[string]string{
		"ListInstancePage": sqlitedb.ListInstancePage, "ListFinishedRootsOf": sqlitedb.ListFinishedRootsOf, "ListPrunableOf": sqlitedb.ListPrunableOf,
	} {
		steps := s.explain(t, query)
		if !strings.HasPrefix(steps[0], "SEARCH i USING ") {
			t.Errorf("%s begins with %q", name, steps[0])
		}
		for _, step := range steps {
			if scansTable(step) {
				t.Errorf("%s: %s", name, step)
			}
		}
	}
}

// scansTable reports whether a step reads a table or index from end to end. Reading
// an index in order for its first entry (LIMIT 1) is shown as a scan, too.
func scansTable(step string) bool {
	scanned, isScan := strings.CutPrefix(step, "SCAN ")
	if !isScan || scanned == "worker_queue USING INDEX worker_queue_by_wake" {
		return false
	}
	switch name, _, _ := strings.Cut(scanned, " "); name {
	case "CONSTANT", "j", "k", "n", "p", "b", "t", "v", "c", "w": // lists and steps of the statement's own
		return false
	case "f": // framework_versions, a handful
		return false
	}
	return true
}

// explain returns the steps of a statement's plan.
func (s *Store) explain(t *testing.T, query string) []string {
	t.Helper()
	var steps []string
	must(t, s.bare(t, func(ctx context.Context) error {
		args := make([]any, parameters(query))
		rows, err := s.writer.conn.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			steps = append(steps, detail)
		}
		return rows.Err()
	}))
	return steps
}

// parameters counts a statement's parameters: the highest number after a question
// mark.
func parameters(query string) int {
	most := 0
	for _, match := range regexp.MustCompile(`\?(\d+)`).FindAllStringSubmatch(query, -1) {
		var n int
		_, _ = fmt.Sscan(match[1], &n)
		most = max(most, n)
	}
	return most
}

// sqlc leaves a parameter that it overlooks in the text as it is; SQLite takes it for
// one of its own and binds NULL. So no generated statement may hold what is the
// input's way to write one, nor a question mark without a number.
func TestNoParameterWasOverlooked(t *testing.T) {
	t.Parallel()
	overlooked := regexp.MustCompile(`@\w+|:\w+|\$\w+|sqlc\.|\?(\D|$)`)
	for name, statement := range generated(t) {
		for line := range strings.SplitSeq(statement, "\n") {
			line, _, _ = strings.Cut(line, "--")
			if found := overlooked.FindString(line); found != "" {
				t.Errorf("%s holds %q", name, found)
			}
		}
	}
}

// Every write of a table pays for its indexes, so each of them has a statement that uses it.
// With -v the test lists them.
func TestEveryIndexIsUsed(t *testing.T) {
	t.Parallel()
	s := openMemory(t, Options{})
	users := map[string][]string{}
	used := regexp.MustCompile(`USING (?:COVERING )?INDEX (\w+)`)
	for name, statement := range generated(t) {
		for _, step := range s.explain(t, statement) {
			if match := used.FindStringSubmatch(step); len(match) == 2 && !slices.Contains(users[match[1]], name) {
				users[match[1]] = append(users[match[1]], name)
			}
		}
	}
	schema, err := os.ReadFile("../../sql/sqlite/schema/0001_tables.sql")
	must(t, err)
	indexes := regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX (\w+)`).FindAllSubmatch(schema, -1)
	if len(indexes) == 0 {
		t.Fatal("found no index")
	}
	for _, match := range indexes {
		index := string(match[1])
		t.Logf("%s: %s", index, strings.Join(users[index], ", "))
		if len(users[index]) == 0 {
			t.Errorf("no statement uses %s", index)
		}
	}
}

// generated returns the generated statements by name.
func generated(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../gen/sqlitedb/*.sql.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no generated files: %v", err)
	}
	statements := map[string]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		must(t, err)
		for i, text := range strings.Split(string(source), "`") {
			if i%2 == 1 { // the others are between the statements
				header, statement, _ := strings.Cut(text, "\n")
				statements[strings.Fields(header)[2]] = statement // -- name: Name :kind
			}
		}
	}
	return statements
}
