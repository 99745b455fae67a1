package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// migrated is the state of a schema after all of the scripts.
func migrated(s *release) *state {
	st := &state{
		exists: true, recorded: true, revision: s.revision, oldest: s.oldest, complete: s.revision,
		scripts: map[int]recordedScript{}, modules: map[string]recordedModule{}, stored: map[string]storedModule{},
	}
	for _, one := range s.numbered {
		st.scripts[one.version] = recordedScript{one.name, one.checksum}
	}
	for _, one := range s.modules {
		onServer := []byte("stored " + one.name)
		st.modules[one.name] = recordedModule{one.kind, one.checksum, onServer}
		st.stored[one.name] = storedModule{one.kind, onServer, true}
	}
	return st
}

// outline writes a plan's steps, one a line.
func outline(plan *Plan) []string {
	var lines []string
	for _, step := range plan.Steps {
		lines = append(lines, fmt.Sprintf("%s %s: %s", step.Action, step.Name, step.Reason))
	}
	return lines
}

func TestPlan(t *testing.T) {
	t.Parallel()
	one, three := releaseOne.load(t), releaseThree.load(t)
	for _, c := range []struct {
		name    string
		scripts *release
		state   *state
		want    []string
	}{
		{"nothing there", three, &state{}, []string{
			"create schema [x]: it does not exist, or this login may not see it",
			"record revision 3: not applied yet",
			"apply schema/0001_things.sql: not applied yet",
			"apply schema/0002_storage.sql: not applied yet",
			"apply schema/0003_role.sql: not applied yet",
			"apply schema/0004_sizes.sql: not applied yet",
			"apply schema/functions/things_of.sql: not applied yet",
			"apply schema/views/red_things.sql: not applied yet",
			"apply procedures/add_thing.sql: not applied yet",
			"apply schema/0005_tidy.sql: not applied yet",
			"record revision 3: all of it is applied",
		}},
		{"up to date", three, migrated(three), nil},
		{"from one to three", three, migrated(one), []string{
			"record revision 3: not applied yet",
			"apply schema/0004_sizes.sql: not applied yet",
			"apply schema/functions/things_of.sql: its text has changed",
			"apply procedures/add_thing.sql: its text has changed",
			"drop procedure count_red_things: the scripts no longer have it",
			"apply schema/0005_tidy.sql: not applied yet",
			"record revision 3: all of it is applied",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, outline(makePlan("x", c.scripts, c.state))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlanRepairsModules(t *testing.T) {
	t.Parallel()
	s := releaseOne.load(t)
	for reason, damage := range map[string]func(*state){
		reasonEdited:  func(st *state) { st.stored["add_thing"] = storedModule{kindProcedure, []byte("edited"), true} },
		reasonMissing: func(st *state) { delete(st.stored, "add_thing") },
		reasonSetOptions: func(st *state) {
			st.stored["add_thing"] = storedModule{kindProcedure, []byte("stored add_thing"), false}
		},
	} {
		st := migrated(s)
		damage(st)
		want := []string{"apply procedures/add_thing.sql: " + reason}
		if diff := cmp.Diff(want, outline(makePlan("x", s, st))); diff != "" {
			t.Error(diff)
		}
	}
}

// TestPlanDropsInOrder covers what a server refuses otherwise: to drop a function that
// a view reads, and to turn one kind of module into another.
func TestPlanDropsInOrder(t *testing.T) {
	t.Parallel()
	before := releaseOne.load(t)
	after := releaseOne.with(tree{
		"schema/functions/things_of.sql":  "",
		"schema/views/red_things.sql":     "",
		"procedures/count_red_things.sql": "",
		"procedures/red_things.sql":       "CREATE OR ALTER PROCEDURE duroxide.red_things AS SELECT 1 AS a;",
	}).load(t)
	want := []string{"DROP VIEW IF EXISTS [x].[red_things];", "DROP PROCEDURE IF EXISTS [x].[count_red_things];", "DROP FUNCTION IF EXISTS [x].[things_of];"}
	var drops []string
	for _, step := range makePlan("x", after, migrated(before)).Steps {
		for _, batch := range step.Batches {
			if strings.HasPrefix(batch.Text, "DROP") {
				drops = append(drops, batch.Text)
			}
		}
	}
	if diff := cmp.Diff(want, drops); diff != "" {
		t.Error(diff)
	}
}

func TestPlanText(t *testing.T) {
	t.Parallel()
	s := releaseOne.load(t)
	var script, again bytes.Buffer
	plan := makePlan("te'n]ant", s, &state{})
	_, err := plan.WriteTo(&script)
	must(t, err)
	text := script.String()
	for _, want := range []string{
		"SET QUOTED_IDENTIFIER ON;\nSET ANSI_NULLS ON;\nSET XACT_ABORT ON;",
		"@Resource = N'duroxide migration of te''n]ant'",
		"CREATE SCHEMA [te'n]]ant] AUTHORIZATION dbo;\nGO\n",
		"INSERT INTO [te'n]]ant].revisions (revision, oldest, complete, applied_at)\nVALUES (1, 1, 0,",
		"-- 3 of 10: apply schema/0001_things.sql (not applied yet)\nBEGIN TRANSACTION;\nGO\n",
		"CREATE TABLE [te'n]]ant].things (",
		fmt.Sprintf("VALUES (1, N'schema/0001_things.sql', 0x%x,", s.numbered[0].checksum),
		"SCHEMA_ID(N'te''n]ant') AND o.name = N'add_thing'",
		"GRANT EXECUTE ON SCHEMA::[te'n]]ant] TO [te'n]]ant_runtime];",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan does not contain %q", want)
		}
	}
	if strings.Contains(text, "duroxide.") {
		t.Error("the plan still names the schema duroxide")
	}
	_, err = plan.WriteTo(&again)
	must(t, err)
	if again.String() != text {
		t.Error("the plan is not the same twice")
	}
}

func TestPlanTextOfNothing(t *testing.T) {
	t.Parallel()
	for want, plan := range map[string]*Plan{
		"Schema [x] is up to date":               {Schema: "x"},
		"Schema [x] is newer than this release,": {Schema: "x", Newer: true},
	} {
		var script bytes.Buffer
		_, err := plan.WriteTo(&script)
		must(t, err)
		if len(split(script.String())) != 0 || !strings.Contains(script.String(), want) {
			t.Errorf("an empty plan says %q, want %q", script.String(), want)
		}
	}
}

func TestWriteRepeated(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	writeRepeated(&out, Batch{Text: "\nSELECT 1\n", Repeat: 3})
	if out.String() != "SELECT 1\nGO 3\n\n" {
		t.Errorf("written as %q", out.String())
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	must(t, releaseOne.load(t).export(&out, "x"))
	for _, want := range []string{"EXEC (N'CREATE SCHEMA [x] AUTHORIZATION dbo;')", "CREATE OR ALTER VIEW [x].red_things", "INSERT INTO [x].migrations"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the export does not contain %q", want)
		}
	}
	for _, not := range []string{"TRANSACTION", "NOEXEC", "applock"} {
		if strings.Contains(out.String(), not) {
			t.Errorf("the export contains %q, which is for the other tool to do", not)
		}
	}
}

func TestExportOfThisRelease(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{"tenant": "[tenant].inboxes", "": "duroxide.inboxes"} {
		var script bytes.Buffer
		must(t, Export(&script, schema))
		if !strings.Contains(script.String(), "CREATE TABLE "+want) || schema != "" && strings.Contains(script.String(), "TABLE duroxide.") {
			t.Errorf("the script for %q does not make %s", schema, want)
		}
	}
	if Export(io.Discard, "a\nb") == nil {
		t.Error("a bad name was accepted")
	}
}

// TestWithoutDB: a field that was forgotten is an error and no panic.
func TestWithoutDB(t *testing.T) {
	t.Parallel()
	m := &Migration{}
	_, up := m.Up(t.Context())
	_, plan := m.Plan(t.Context())
	_, status := m.Status(t.Context())
	_, verify := m.Verify(t.Context())
	_, drop := m.Drop(t.Context())
	for _, err := range []error{up, plan, status, verify, m.Check(t.Context()), drop} {
		if err == nil || !strings.Contains(err.Error(), "DB is nil") {
			t.Errorf("error %v", err)
		}
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	one, two, three := releaseOne.load(t), releaseTwo.load(t), releaseThree.load(t)
	laterModules := releaseOne.with(tree{"schema/revision.txt": "revision: 2\noldest: 2\n"}).load(t)
	changed := releaseOne.with(tree{"schema/0003_role.sql": "SELECT 1;\n"}).load(t)
	for _, c := range []struct {
		name    string
		scripts *release
		state   *state
		want    error
	}{
		{"older", two, migrated(one), nil},
		{"the same", one, migrated(one), nil},
		{"newer, and serves it", one, migrated(two), nil},
		{"two releases newer", one, migrated(three), ErrNewerSchema},
		{"the one before", two, migrated(three), nil},
		{"newer modules only", one, migrated(laterModules), ErrNewerSchema},
		{"another history", changed, migrated(one), ErrChangedScript},
		{"another history, newer", changed, migrated(two), ErrChangedScript},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := (&Migration{release: c.scripts}).refuse(c.state); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// TestUsable has a newer release stop on its way from what programs of this one need, and
// from less.
func TestUsable(t *testing.T) {
	t.Parallel()
	one, two := releaseOne.load(t), releaseTwo.load(t)
	for _, c := range []struct {
		name   string
		damage func(*state)
		want   error
	}{
		{"all of it", func(*state) {}, nil},
		{"begun with ours", func(st *state) { st.complete = 1 }, nil},
		{"a module gone", func(st *state) { delete(st.modules, "count_red_things") }, nil},
		{"begun with nothing", func(st *state) { st.complete = 0 }, ErrOldSchema},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := migrated(two)
			c.damage(st)
			m := &Migration{release: one}
			err := m.usable(st)
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), "of that release") {
				t.Errorf("error %v, want %v", err, c.want)
			}
			plan, err := m.planFor(st)
			if !errors.Is(err, c.want) || err == nil && (!plan.Newer || !plan.Empty()) {
				t.Errorf("plan %+v, error %v, want no steps or %v", plan, err, c.want)
			}
		})
	}
}

func TestBadSchemaNameIsRefusedFirst(t *testing.T) {
	t.Parallel()
	// There is no database to ask.
	m := &Migration{Schema: "a\nb", release: releaseOne.load(t)}
	ctx := t.Context()
	_, upErr := m.Up(ctx)
	_, planErr := m.Plan(ctx)
	_, statusErr := m.Status(ctx)
	_, dropErr := m.Drop(ctx)
	for _, err := range []error{upErr, planErr, statusErr, m.Check(ctx), dropErr} {
		if err == nil || !strings.Contains(err.Error(), "control characters") {
			t.Errorf("error %v", err)
		}
	}
}

// serverError is an error as the driver's.
type serverError struct{ number, line int32 }

func (e serverError) Error() string         { return fmt.Sprintf("error %d", e.number) }
func (e serverError) SQLErrorNumber() int32 { return e.number }
func (e serverError) SQLErrorLineNo() int32 { return e.line }

func TestBatchError(t *testing.T) {
	t.Parallel()
	batch := Batch{Text: "a\nb\nc", File: "f.sql", Line: 10}
	for _, c := range []struct {
		batch Batch
		err   error
		want  string
	}{
		{batch, serverError{2714, 3}, "f.sql:12: error 2714"},
		{batch, serverError{2714, 4}, "f.sql:10: error 2714"},
		{batch, serverError{2714, 0}, "f.sql:10: error 2714"},
		{batch, errors.New("cut off"), "f.sql:10: cut off"},
		{Batch{Text: "a"}, serverError{2714, 1}, "step: error 2714"},
	} {
		err := batchError("step", c.batch, c.err)
		if err.Error() != c.want || !errors.Is(err, c.err) {
			t.Errorf("error %q, want %q", err, c.want)
		}
	}
}

func TestIsLockConflict(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		serverError{number: 1205}:                             true,
		batchError("s", Batch{}, serverError{number: 1222}):   true,
		serverError{number: 2714}:                             false,
		errors.New("cut off"):                                 false,
		fmt.Errorf("x: %w", serverError{number: 1205}):        true,
		fmt.Errorf("x: %w", serverError{number: 1205 + 1000}): false,
	} {
		if isLockConflict(err) != want {
			t.Errorf("%v: want %v", err, want)
		}
	}
}
