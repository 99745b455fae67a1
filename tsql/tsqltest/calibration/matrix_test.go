package calibration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A matrix says which locks two sessions can have on one thing at a time: yes is "+". The rows are what one session
// has, the columns what another one asks for, as in the documentation of SQL Server ("Lock compatibility"). A mode
// without a statement that leaves it behind has no row, and one that no statement asks for on its own has no column.
type matrix struct {
	name string
	// granted are the statements that have a mode in the end, in a transaction; asked those that ask for one, by modes.
	granted, asked map[string]string
	table          string
	// resource is what sys.dm_tran_locks calls the thing; the query below checks that a statement has taken the mode.
	resource string
}

// The table of all statements has the keys 10, 20, 30. Ranges are those up to 20.
const matrixSetup = `
CREATE TABLE test (id int PRIMARY KEY, value int NOT NULL);
INSERT INTO test (id, value) VALUES (10, 1), (20, 2), (30, 3);`

// appLock asks for an application lock and fails without it.
func appLock(mode string) string {
	return fmt.Sprintf(`DECLARE @r int; EXEC @r = sp_getapplock 'a', '%s', 'Transaction', 0; IF @r < 0 THROW 51222, 'refused', 1;`, mode)
}

func appLocks() map[string]string {
	return map[string]string{
		"IS": appLock("IntentShared"), "S": appLock("Shared"), "U": appLock("Update"), "IX": appLock("IntentExclusive"),
		"X": appLock("Exclusive"),
	}
}

var objectLocks = map[string]string{
	"IS":    "SELECT value FROM test WITH (REPEATABLEREAD, ROWLOCK) WHERE id = 10",
	"S":     "SELECT COUNT(*) FROM test WITH (TABLOCK, REPEATABLEREAD)",
	"IX":    "UPDATE test WITH (ROWLOCK) SET value = 0 WHERE id = 10",
	"SIX":   "SELECT COUNT(*) FROM test WITH (TABLOCK, REPEATABLEREAD); UPDATE test WITH (ROWLOCK) SET value = 0 WHERE id = 10",
	"X":     "SELECT COUNT(*) FROM test WITH (TABLOCKX)",
	"Sch-M": "ALTER TABLE test ADD note int NULL",
}

// askedOfTable are statements that use another row, so that it is the table's locks that meet.
func askedOfTable() map[string]string {
	asked := with(objectLocks, "Sch-S", "SELECT COUNT(*) FROM test WITH (NOLOCK)")
	for _, mode := range []string{"IS", "IX"} {
		asked[mode] = strings.ReplaceAll(asked[mode], "id = 10", "id = 30")
	}
	return asked
}

var keyLocks = map[string]string{
	"S": "SELECT value FROM test WITH (REPEATABLEREAD, ROWLOCK) WHERE id = 20",
	"U": "SELECT value FROM test WITH (UPDLOCK, ROWLOCK) WHERE id = 20",
	"X": "UPDATE test WITH (ROWLOCK) SET value = value + 1 WHERE id = 20",
}

// A range lock is on the key at its end.
var rangeLocks = map[string]string{
	"S":        keyLocks["S"],
	"U":        keyLocks["U"],
	"X":        keyLocks["X"],
	"RangeS-S": "SELECT id FROM test WITH (HOLDLOCK, ROWLOCK) WHERE id = 15",
	"RangeS-U": "SELECT id FROM test WITH (HOLDLOCK, UPDLOCK, ROWLOCK) WHERE id = 15",
	"RangeX-X": "SELECT id FROM test WITH (HOLDLOCK, XLOCK, ROWLOCK) WHERE id = 15",
}

var matrices = []matrix{
	{name: "application locks", resource: "APPLICATION", granted: appLocks(), asked: appLocks(), table: `
		    IS S  U  IX X
		IS  +  +  +  +  -
		S   +  +  +  -  -
		U   +  +  -  -  -
		IX  +  -  -  +  -
		X   -  -  -  -  -`},
	{name: "tables", resource: "OBJECT", granted: objectLocks, asked: askedOfTable(), table: `
		       IS S  IX X  Sch-S Sch-M
		IS     +  +  +  -  +     -
		S      +  +  -  -  +     -
		IX     +  -  +  -  +     -
		SIX    +  -  -  -  +     -
		X      -  -  -  -  +     -
		Sch-M  -  -  -  -  -     -`},
	{name: "rows", resource: "KEY", granted: keyLocks, asked: keyLocks, table: `
		   S U X
		S  + + -
		U  + - -
		X  - - -`},
	{name: "ranges of keys", resource: "KEY", granted: rangeLocks, asked: with(rangeLocks,
		"RangeI-N", "INSERT INTO test (id, value) VALUES (16, 0)"), table: `
		          S  U  X  RangeS-S  RangeS-U  RangeX-X  RangeI-N
		S         +  +  -  +         +         -         +
		U         +  -  -  +         -         -         +
		X         -  -  -  -         -         -         +
		RangeS-S  +  +  -  +         +         -         -
		RangeS-U  +  -  -  +         -         -         -
		RangeX-X  -  -  -  -         -         -         -`},
}

// with adds one entry.
func with(m map[string]string, key, value string) map[string]string {
	out := maps.Clone(m)
	out[key] = value
	return out
}

// cell is a place of the table: what one has, what the other asks for, and whether both can have it.
type cell struct {
	has, asks string
	together  bool
}

func (m matrix) cells() (list []cell) {
	lines := strings.Split(strings.TrimSpace(m.table), "\n")
	asked := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		for i, asks := range asked {
			list = append(list, cell{fields[0], asks, fields[i+1] == "+"})
		}
	}
	return list
}

func TestLockCompatibility(t *testing.T) {
	t.Parallel()
	for _, m := range matrices {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			each(t, setting{}, func(t *testing.T, p place) {
				t.Helper()
				must(t, p.db, matrixSetup)
				for _, c := range m.cells() {
					m.try(t, p, c)
				}
			})
		})
	}
}

// try has one session take a lock and another one ask for its own.
func (m matrix) try(t *testing.T, p place, c cell) {
	t.Helper()
	ctx := t.Context()
	holder := impatient(t, p)
	defer holder.close()
	other := impatient(t, p)
	defer other.close()
	if got := execute(ctx, holder.conn, m.granted[c.has]); failed(got) {
		t.Fatalf("%s: %s", c.has, list(got))
	}
	modes := execute(ctx, holder.conn, fmt.Sprintf(`SELECT DISTINCT l.request_mode FROM sys.dm_tran_locks AS l
		WHERE l.request_session_id = @@SPID AND l.resource_type = '%s' AND l.resource_database_id = DB_ID()
		AND (l.resource_type <> 'OBJECT' OR l.resource_associated_entity_id = OBJECT_ID('test'))`, m.resource))
	if !slices.Contains(modes, "'"+c.has+"'") {
		t.Errorf("what should have %s has %s", c.has, list(modes))
	}
	answer := execute(ctx, other.conn, m.asked[c.asks])
	if got := !failed(answer); got != c.together {
		t.Errorf("%s is there, %s is asked for: %t, want %t; %s", c.has, c.asks, got, c.together, list(answer))
	}
	for _, s := range []*session{holder, other} {
		execute(ctx, s.conn, "ROLLBACK")
	}
}

// impatient opens a session in a transaction, which waits for no lock.
func impatient(t *testing.T, p place) *session {
	t.Helper()
	s, err := open(t.Context(), p.db, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := execute(t.Context(), s.conn, "SET LOCK_TIMEOUT 0; SET NOCOUNT ON; BEGIN TRANSACTION"); len(got) > 0 {
		s.close()
		t.Fatal(got)
	}
	return s
}

// failed reports whether a statement failed, which is because of the lock: LOCK_TIMEOUT is 0.
func failed(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "error ") || strings.HasPrefix(line, "failed: ")
	})
}
