package server

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// laboratory is a server of the test's own, whose settings can be made wrong. Its schema is duroxide.
type laboratory struct {
	*testing.T

	server *tsqltest.Server
}

func newLaboratory(t *testing.T) laboratory {
	t.Helper()
	server := tsqltest.New(t, tsqltest.Options{Database: "orders", RowVersions: true, OptimizedLocking: true})
	if _, err := (&migrate.Migration{DB: server.DB()}).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := laboratory{t, server}
	l.execute("ALTER DATABASE CURRENT SET QUERY_STORE = ON")
	return l
}

// connected calls f with a connection of its own: a change of an option ends those of others.
func (l laboratory) connected(f func(d *Database)) {
	l.Helper()
	d, err := Connect(l.Context(), nil, Address(l.server.DSN()))
	if err != nil {
		l.Fatal(err)
	}
	f(d)
	if err := d.Close(); err != nil {
		l.Error(err)
	}
}

func (l laboratory) execute(statement string) {
	l.Helper()
	l.connected(func(d *Database) {
		if _, err := d.db.ExecContext(l.Context(), statement); err != nil {
			l.Fatalf("%s: %v", statement, err)
		}
	})
}

// read reads the lines that a query makes.
func (l laboratory) read(query string) (lines []string) {
	l.Helper()
	l.connected(func(d *Database) {
		rows, err := d.db.QueryContext(l.Context(), query)
		if err != nil {
			l.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				l.Fatal(err)
			}
			lines = append(lines, line)
		}
		if err := rows.Err(); err != nil {
			l.Fatal(err)
		}
	})
	return lines
}

// findings are those of a check; faults only those that find fault.
func (l laboratory) findings(check string) (all, faults []Finding) {
	l.Helper()
	l.connected(func(d *Database) {
		findings, err := d.Examine(l.Context())
		if err != nil {
			l.Fatal(err)
		}
		for _, f := range findings {
			if f.Check == check {
				all = append(all, f)
			}
			if f.Level != OK {
				faults = append(faults, f)
			}
		}
	})
	return all, faults
}

// stored reads how the tables and indexes of the store are stored.
const stored = `
SELECT CONCAT(t.name, N' ', i.name, N' ', t.lock_escalation_desc, N' ', i.allow_page_locks, s.no_recompute, i.optimize_for_sequential_key, p.data_compression)
FROM sys.tables AS t
INNER JOIN sys.indexes AS i ON i.object_id = t.object_id
INNER JOIN sys.stats AS s ON s.object_id = i.object_id AND s.stats_id = i.index_id
INNER JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
WHERE t.schema_id = SCHEMA_ID(N'duroxide')
ORDER BY t.name, i.name`

// TestEachSettingIsFoundAndMended makes each setting wrong wherever the scripts have made it right: the doctor finds
// just that, and its statements, executed as they are, bring back what was there. The manual tells the same.
func TestEachSettingIsFoundAndMended(t *testing.T) {
	t.Parallel()
	l := newLaboratory(t)
	before := l.read(stored)
	const tables = "FROM sys.tables AS t INNER JOIN sys.indexes AS i ON i.object_id = t.object_id " +
		"INNER JOIN sys.stats AS s ON s.object_id = i.object_id AND s.stats_id = i.index_id WHERE t.schema_id = SCHEMA_ID(N'duroxide') AND "
	for _, test := range []struct {
		check string
		level Level
		// spoil is a statement, or a query for statements, one for each that has to be found.
		spoil string
	}{
		{"row versioning", Warning, "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK IMMEDIATE"},
		{"durability", Problem, "ALTER DATABASE CURRENT SET DELAYED_DURABILITY = FORCED"},
		{"auto close", Warning, "ALTER DATABASE CURRENT SET AUTO_CLOSE ON"},
		{"auto shrink", Warning, "ALTER DATABASE CURRENT SET AUTO_SHRINK ON"},
		{"query store", Warning, "ALTER DATABASE CURRENT SET QUERY_STORE = OFF"},
		{"optimized locking", Warning, "ALTER DATABASE CURRENT SET OPTIMIZED_LOCKING = OFF WITH ROLLBACK IMMEDIATE"},
		{"page locks", Problem, "SELECT CONCAT(N'ALTER INDEX ', i.name, N' ON duroxide.', t.name, N' SET (ALLOW_PAGE_LOCKS = ON)') " +
			tables + "i.allow_page_locks = 0"},
		{"statistics", Warning, "SELECT DISTINCT CONCAT(N'ALTER INDEX ALL ON duroxide.', t.name, N' SET (STATISTICS_NORECOMPUTE = OFF)') " +
			tables + "s.no_recompute = 1"},
		{"sequential keys", Warning, "SELECT CONCAT(N'ALTER INDEX ', i.name, N' ON duroxide.', t.name, N' SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = OFF)') " +
			tables + "i.optimize_for_sequential_key = 1"},
		{"lock escalation", Problem, "SELECT DISTINCT CONCAT(N'ALTER TABLE duroxide.', t.name, N' SET (LOCK_ESCALATION = TABLE)') " +
			tables + "t.lock_escalation_desc = 'DISABLE'"},
		{"compression", Warning, "SELECT DISTINCT CONCAT(N'ALTER INDEX ALL ON duroxide.', t.name, N' REBUILD WITH (DATA_COMPRESSION = PAGE, STATISTICS_NORECOMPUTE = ON)') " +
			tables + "i.allow_page_locks = 0"}, // which only queues have
	} {
		if all, faults := l.findings(test.check); len(all) != 1 || len(faults) > 0 {
			t.Fatalf("%s: found %+v before, and of all checks %+v, want that all is well", test.check, all, faults)
		}
		spoils := []string{test.spoil}
		if strings.HasPrefix(test.spoil, "SELECT") {
			spoils = l.read(test.spoil)
		}
		for _, spoil := range spoils {
			l.execute(spoil)
		}
		all, faults := l.findings(test.check)
		if len(all) != len(spoils) || !slices.Equal(all, faults) {
			t.Errorf("%s: found %+v, and of all checks %+v, want %d faults", test.check, all, faults, len(spoils))
		}
		for _, f := range all {
			if f.Level != test.level || f.Statement == "" {
				t.Errorf("%s: %+v, want a %s with its statement", test.check, f, test.level)
			}
			l.execute(f.Statement)
		}
		inManual(t, test.check, all)
	}
	if _, faults := l.findings(""); len(faults) > 0 {
		t.Errorf("after all was mended: %+v", faults)
	}
	if after := l.read(stored); !slices.Equal(before, after) {
		t.Errorf("stored as\n%s\nwas\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
}

// The level has a line in the manual as well. tsqltest has none that is too low.
func TestTheManualTellsTheCompatibilityLevel(t *testing.T) {
	t.Parallel()
	inManual(t, "compatibility level", []Finding{judgeCompatibility(120, "orders")})
}

// Nothing turns the ledger on or off, so it is judged without a server.
func TestALedgerIsAProblem(t *testing.T) {
	t.Parallel()
	for _, s := range databaseSettings() {
		if s.check != "ledger" {
			continue
		}
		f := s.judge(new(int64(1)), "orders")
		if f.Level != Problem || f.Advice == "" {
			t.Errorf("found %+v, want a problem with advice", f)
		}
		inManual(t, s.check, []Finding{f})
		old := &patient{facts: facts{version: "15.0.4430.1"}} // nobody to ask
		if err := s.examine(t.Context(), old); err != nil || len(old.findings) != 1 || old.findings[0].Level != OK {
			t.Errorf("on SQL Server 2019: %+v, %v", old.findings, err)
		}
		return
	}
	t.Error("the doctor does not ask for a ledger")
}

// inManual looks for a setting's line in the manual, with what is wanted, the reason, and one of the statements.
func inManual(t *testing.T, check string, findings []Finding) {
	t.Helper()
	for _, line := range lines(t, "sqlserver.md") {
		if !strings.HasPrefix(line, "| "+check+" |") {
			continue
		}
		told := slices.ContainsFunc(findings, func(f Finding) bool {
			_, sentence, _ := strings.Cut(f.Detail, " and should be ")
			wanted, why, _ := strings.Cut(sentence, ": ")
			return strings.Contains(line, wanted) && strings.Contains(line, why) && strings.Contains(line, f.Statement)
		})
		if !told {
			t.Errorf("docs/sqlserver.md says\n%s\nwhich is none of %+v", line, findings)
		}
		return
	}
	t.Errorf("docs/sqlserver.md has no line for %q", check)
}

func lines(t *testing.T, document string) []string {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/" + document)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// TestTheManualListsTheChecks compares the table of docs/cli.md with the checks, one by one: a row may be about
// several.
func TestTheManualListsTheChecks(t *testing.T) {
	t.Parallel()
	var told, want []string
	table := false
	for _, line := range lines(t, "cli.md") {
		cells := strings.Split(line, "|")
		if table = strings.HasPrefix(line, "| Check |") || table && len(cells) > 1; table {
			told = append(told, strings.Split(strings.TrimSpace(cells[1]), ", ")...)
		}
	}
	for _, c := range checks() {
		want = append(want, c.name)
	}
	if len(told) < 2 || !slices.Equal(told[2:], want) {
		t.Errorf("docs/cli.md lists the checks %q, want %q", told, want)
	}
}

// TestSettingsThatAServerDoesNotHave has a server before 2019, and a login that may not look.
func TestSettingsThatAServerDoesNotHave(t *testing.T) {
	t.Parallel()
	examine := func(f facts) (findings []Finding) {
		p := &patient{facts: f} // nobody to ask
		for _, s := range tableSettings() {
			if !f.comparable || s.check == "sequential keys" {
				if err := s.examine(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
		}
		return p.findings
	}
	for name, test := range map[string]struct {
		facts facts
		want  int
	}{
		"2017":             {facts{version: "14.0.3456.2", comparable: true}, 1},
		"nothing is shown": {facts{version: "16.0.4135.4"}, 0},
	} {
		findings := examine(test.facts)
		if len(findings) != test.want {
			t.Errorf("%s: %+v, want %d", name, findings, test.want)
		}
		for _, f := range findings {
			if f.Level != OK {
				t.Errorf("%s: %+v, want ok", name, f)
			}
		}
	}
}

// TestTheDoctorOfAWorkerLooksAtNoTable has a login with the runtime role, which is told so once.
func TestTheDoctorOfAWorkerLooksAtNoTable(t *testing.T) {
	t.Parallel()
	schema := mssqltest.NewSchema(t)
	user, dsn := mssqltest.NewLogin(t)
	mssqltest.JoinRole(t, migrate.RoleName(schema), user)
	address, err := Address(dsn).WithSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Connect(t.Context(), nil, address)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	findings, err := d.Examine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if slices.ContainsFunc(tableSettings(), func(s tableSetting) bool { return s.check == f.Check }) {
			t.Errorf("found %+v, which the login may not see", f)
		}
		if f.Check == "modules" && (f.Level != Warning || !strings.Contains(f.Detail, "and the settings of tables and indexes")) {
			t.Errorf("found %+v", f)
		}
	}
}
