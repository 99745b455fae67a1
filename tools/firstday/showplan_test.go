package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The plans of a database that was young when they were made: what the report objects to, and what it leaves alone.
func TestObjections(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/young.sqlplan")
	if err != nil {
		t.Fatal(err)
	}
	list, err := parsePlan(string(text))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"Merge Join (Left Anti Semi Join) over inboxes", "Clustered Index Scan of inboxes.pk_inboxes"},
		nil, // a condition can't be pinned
		nil, // the first row of an index
		{
			"an index is built for each call over worker_queue", "Index Scan of worker_queue.ix_worker_queue_ready",
			"a conversion keeps it from a seek: CONVERT_IMPLICIT(nvarchar(400),[q].[tag],0)=[@tag]",
		},
		nil, nil,
	}
	if len(list) != len(want) {
		t.Fatalf("%d statements, want %d", len(list), len(want))
	}
	for i, s := range list {
		if got := s.objections(false); !slices.Equal(got, want[i]) {
			t.Errorf("%s:\n%q, want\n%q", excerpt(s.text), got, want[i])
		}
	}
	if got := list[0].objections(true); !slices.Equal(got, want[0][:1]) {
		t.Errorf("of a procedure that may scan: %q", got)
	}
	if s := list[5]; s.text != "SELECT 1" || !strings.HasSuffix(bare(s.procedure), "helper") {
		t.Errorf("the statement of what is called is %+v", s)
	}
}

// The plan of a procedure becomes a file, and what is wrong with it a row that leads there.
func TestJudgement(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/young.sqlplan")
	if err != nil {
		t.Fatal(err)
	}
	at := &site{server: &server{options: options{out: t.TempDir()}}, config: config{level: 160, rowVersions: true}}
	j := judgement{folder: at.folderOf("cached")}
	if err := at.judge(&j, "500", procedure{name: "lock_inboxes"}, string(text)); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(at.out, "plans", "160-RCSI", "cached", "500", "lock_inboxes.sqlplan"))
	if err != nil || !bytes.Equal(written, text) {
		t.Errorf("%v: the file has %d bytes", err, len(written))
	}
	r := j.result()
	if r.outcome != failed || r.why != "5 objections to pinned statements in 1 plan with 5 statements." {
		t.Errorf("%+v", r)
	}
	want := "| `lock_inboxes` | `INSERT INTO duroxide.inboxes (instance_id) SELECT o.instance_id FROM @ordered AS o WHERE N…` | " +
		"Merge Join (Left Anti Semi Join) over inboxes | [plan](plans/160-RCSI/cached/500/lock_inboxes.sqlplan) |"
	if !slices.Contains(r.details, want) {
		t.Errorf("the details are\n%s\nwithout\n%s", strings.Join(r.details, "\n"), want)
	}
}

func TestPlansThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "<ShowPlanXML/>", "<ShowPlanXML><StmtSimple>"} {
		if _, err := parsePlan(text); err == nil {
			t.Errorf("%q is a plan", text)
		}
	}
}

// What the optimizer was asked is counted by statement, with the names of the procedures.
func TestRecompiled(t *testing.T) {
	t.Parallel()
	event := `<event name="sql_statement_recompile"><data name="recompile_cause"><value>2</value><text>Statistics changed</text></data>
		<data name="object_id"><value>7</value></data><data name="object_name"><value/></data><data name="line_number"><value>12</value></data></event>`
	r := recompiled("<RingBufferTarget>"+event+event+"</RingBufferTarget>", [][]string{{"7", "take"}})
	if r.outcome != held || !slices.Contains(r.details, "| take | 12 | Statistics changed | 2 |") {
		t.Errorf("%+v", r)
	}
	if r := recompiled("<RingBufferTarget>"+strings.Repeat(event, mostRecompiles+1)+"</RingBufferTarget>", nil); r.outcome != failed {
		t.Errorf("%+v", r)
	}
	if r := recompiled("<RingBufferTarget/>", nil); r.outcome != held || r.details != nil {
		t.Errorf("%+v", r)
	}
}
