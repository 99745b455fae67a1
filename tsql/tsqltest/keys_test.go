package tsqltest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// tasks are 20 rows of which every second one is ready.
const tasks = `
CREATE TABLE dbo.jobs (id INT NOT NULL CONSTRAINT pk_jobs PRIMARY KEY, kind INT NOT NULL, note VARCHAR(20) NOT NULL,
    INDEX ix_kind (kind));
CREATE TABLE dbo.heap (n INT NOT NULL);
DECLARE @n INT = 0;
WHILE @n < 20 BEGIN SET @n += 1; INSERT INTO dbo.jobs VALUES (@n, @n % 2, 'x'); INSERT INTO dbo.heap VALUES (@n); END;
GO
CREATE PROCEDURE dbo.touch AS
DECLARE @t TABLE (id INT PRIMARY KEY);

INSERT INTO @t
SELECT id FROM dbo.jobs WHERE id = 7;
WHILE (SELECT note FROM dbo.jobs WHERE id = 7) = 'x'
    UPDATE dbo.jobs SET note = 'y' WHERE id = 7;
`

// listed are the counts without the statements' texts: "place table.index access mode keys waited skipped ghosts".
func listed(k tsqltest.Keys) string {
	var lines []string
	for _, c := range k {
		lines = append(lines, fmt.Sprintf("%s:%d %s.%s %s %s %d %d %d %d",
			c.Module, c.Line, c.Table, c.Index, c.Access, c.Mode, c.Keys, c.Waited, c.Skipped, c.Ghosts))
	}
	return strings.Join(lines, "\n")
}

// TestKeys checks what the counts of a request say.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, before, batch, want string
		versions                  bool
	}{
		{name: "seek", batch: "SELECT note FROM dbo.jobs WHERE id BETWEEN 3 AND 5", want: ":1 dbo.jobs.pk_jobs seek S 3 0 0 0"},
		{name: "scan", batch: "SELECT id FROM dbo.jobs WHERE note = 'z'", want: ":1 dbo.jobs.pk_jobs scan S 20 0 0 0"},
		{name: "heap", batch: "SELECT n FROM dbo.heap WHERE n = 3", want: ":1 dbo.heap. scan S 20 0 0 0"},
		{
			name: "lookup", batch: "SELECT note FROM dbo.jobs WITH (INDEX (ix_kind)) WHERE kind = 1 AND id < 4",
			want: ":1 dbo.jobs.ix_kind seek S 2 0 0 0\n:1 dbo.jobs.pk_jobs lookup S 2 0 0 0",
		},
		{
			name: "versions", versions: true, batch: "SELECT note FROM dbo.jobs WITH (INDEX (ix_kind)) WHERE kind = 1 AND id < 4",
			want: ":1 dbo.jobs.ix_kind seek  2 0 0 0\n:1 dbo.jobs.pk_jobs lookup  2 0 0 0",
		},
		{
			name: "update of a key", batch: "\nUPDATE dbo.jobs SET kind = 2 WHERE id = 3",
			want: ":2 dbo.jobs.pk_jobs seek U 1 0 0 0\n:2 dbo.jobs.pk_jobs write X 1 0 0 0\n:2 dbo.jobs.ix_kind write X 2 0 0 0",
		},
		{
			name: "insert", batch: "INSERT INTO dbo.jobs VALUES (21, 1, 'x')",
			want: ":1 dbo.jobs.pk_jobs write X 1 0 0 0\n:1 dbo.jobs.ix_kind write X 1 0 0 0",
		},
		{
			name: "skipped", before: "BEGIN TRANSACTION; UPDATE dbo.jobs SET note = 'z' WHERE id IN (1, 2)",
			batch: "SELECT id FROM dbo.jobs WITH (READPAST, UPDLOCK, ROWLOCK) WHERE id < 4", want: ":1 dbo.jobs.pk_jobs seek U 3 0 2 0",
		},
		{
			name: "ghosts", before: "BEGIN TRANSACTION; DELETE FROM dbo.jobs WHERE id < 4", versions: true,
			batch: "SELECT id FROM dbo.jobs WITH (NOLOCK) WHERE id < 5", want: ":1 dbo.jobs.pk_jobs seek  4 0 0 3",
		},
		{name: "locked as a whole", batch: "SELECT COUNT(*) FROM dbo.jobs WITH (TABLOCKX)", want: ":1 dbo.jobs.ix_kind scan  20 0 0 0"},
		{
			name: "an error after it", batch: "SELECT note FROM dbo.jobs WHERE id = 1; THROW 50001, 'no', 1;",
			want: ":1 dbo.jobs.pk_jobs seek S 1 0 0 0",
		},
		{
			name: "statements of a procedure", batch: "EXEC dbo.touch",
			want: "dbo.touch:4 dbo.jobs.pk_jobs seek S 1 0 0 0\ndbo.touch:6 dbo.jobs.pk_jobs seek S 2 0 0 0\n" +
				"dbo.touch:7 dbo.jobs.pk_jobs seek U 1 0 0 0\ndbo.touch:7 dbo.jobs.pk_jobs write X 1 0 0 0",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := tsqltest.New(t, tsqltest.Options{RowVersions: tt.versions})
			script(tasks)(t, server)
			must(t, session(t, server), tt.before)
			result, _ := session(t, server).Exec(t.Context(), tt.batch)
			if got := listed(result.Keys()); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s\n%v", got, tt.want, result.Keys())
			}
		})
	}
}

// TestCountKeys checks that requests of all sessions are counted, those before and after are not, and that counts of
// one statement are added up.
func TestCountKeys(t *testing.T) {
	t.Parallel()
	server := tsqltest.New(t, tsqltest.Options{})
	script(tasks)(t, server)
	conn, db := session(t, server), server.DB()
	ask := "SELECT note FROM dbo.jobs WHERE id = 1"
	must(t, conn, ask)
	keys := server.CountKeys(func() {
		must(t, conn, ask)
		must(t, session(t, server), ask)
		if _, err := db.ExecContext(t.Context(), ask); err != nil {
			t.Error(err)
		}
	})
	must(t, conn, ask)
	if got, want := listed(keys), ":1 dbo.jobs.pk_jobs seek S 3 0 0 0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := keys.Executions(); n != 3 {
		t.Errorf("%d statements are counted, want 3", n)
	}
	if keys := server.CountKeys(func() {}); len(keys) > 0 {
		t.Errorf("nothing was executed, and this is counted: %v", keys)
	}
}

// TestKeysInSchedules checks that counts are there for the sessions of a schedule and for its check, and that they tell
// of waits.
func TestKeysInSchedules(t *testing.T) {
	t.Parallel()
	waited := 0
	tsqltest.Explore(t, tsqltest.Scenario{
		Setup: script(tasks),
		Sessions: []tsqltest.Session{
			{Name: "ada", Run: func(p *tsqltest.Player) error {
				r, err := p.Exec("UPDATE dbo.jobs SET note = 'a' WHERE id = 3")
				p.Note(r.Keys().Total())
				return err
			}},
			{Name: "bob", Steps: []string{
				"BEGIN TRANSACTION; UPDATE dbo.jobs SET note = 'b' WHERE id = 3", "COMMIT", "SELECT note FROM dbo.jobs WHERE id = 3",
			}},
		},
		Check: func(e *tsqltest.End) error {
			for _, c := range e.Keys("ada") {
				waited += c.Waited
			}
			if ada, bob := e.Notes()[0], e.Keys("bob").Total(); ada != 2 || bob != 3 {
				return fmt.Errorf("Ada has touched %v keys and Bob %d:\n%v", ada, bob, e.Keys("bob"))
			}
			return nil
		},
	}, tsqltest.Exploration{Every: true})
	if waited == 0 {
		t.Error("Ada has never waited")
	}
}
