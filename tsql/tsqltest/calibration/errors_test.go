package calibration

import (
	"fmt"
	"strings"
	"testing"
)

// An ending says what an error ends, in a batch that is in a transaction: without TRY and with one, with XACT_ABORT OFF
// and ON.
type ending struct {
	name, statement, number string
	off, on                 outcome
}

// An outcome is what is left after an error.
type outcome struct {
	goesOn       bool // the next statement of the batch is executed
	transactions int  // @@TRANCOUNT in the next batch
	state        int  // XACT_STATE() in the CATCH: 1 the transaction can go on, -1 it can only be rolled back, 0 it is gone
}

var (
	// The statement is undone, and everything goes on.
	statementEnds = outcome{true, 1, 1}
	// The batch ends; what the transaction has done stays.
	batchEnds = outcome{false, 1, 1}
	// The batch and the transaction end.
	allEnds = outcome{false, 0, -1}
)

const endingSetup = `
CREATE TABLE kept (id int);
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE test (id int CONSTRAINT pk PRIMARY KEY, small tinyint NOT NULL CHECK (small < 100), parent int REFERENCES parent (id),
    word varchar(3) CONSTRAINT ux UNIQUE);
CREATE UNIQUE INDEX ix_small ON test (small);
INSERT INTO test (id, small, word) VALUES (1, 1, 'a');`

// endings are in the order of what they end.
var endings = []ending{
	{"a primary key is there", "INSERT INTO test (id, small, word) VALUES (1, 2, 'b')", "2627", statementEnds, allEnds},
	{"a unique index is violated", "INSERT INTO test (id, small, word) VALUES (2, 1, 'b')", "2601", statementEnds, allEnds},
	{"a check is violated", "INSERT INTO test (id, small) VALUES (2, 200)", "547", statementEnds, allEnds},
	{"a parent is missing", "INSERT INTO test (id, small, parent) VALUES (2, 2, 9)", "547", statementEnds, allEnds},
	{"NULL in NOT NULL", "INSERT INTO test (id, small) VALUES (2, NULL)", "515", statementEnds, allEnds},
	{"a text is too long", "INSERT INTO test (id, small, word) VALUES (2, 2, 'long')", "2628", statementEnds, allEnds},
	{"division by zero", "UPDATE test SET small = 1 / (small - small)", "8134", statementEnds, allEnds},
	{"overflow of an operation", "DECLARE @n int = 2147483647; SET @n = @n + 1", "8115", statementEnds, allEnds},
	{"overflow of a conversion", "DECLARE @n tinyint, @m int = 256; SET @n = @m", "220", statementEnds, allEnds},
	{"a query with two rows as a value", "INSERT INTO kept (id) VALUES (3); DECLARE @n int = (SELECT id FROM kept)", "512", statementEnds, allEnds},
	{"a lock is not granted in time", "SET LOCK_TIMEOUT 0; DECLARE @n int; SELECT @n = id FROM locked", "1222", statementEnds, allEnds},
	{"RAISERROR", "RAISERROR ('no', 16, 1)", "50000", statementEnds, outcome{true, 1, -1}},
	{"THROW", "THROW 50001, 'no', 1", "50001", batchEnds, allEnds},
	{"an object is missing in a text", "EXEC ('SELECT id FROM missing')", "208", statementEnds, allEnds},
	{"a text is no number", "DECLARE @n int, @t varchar(5) = 'x'; SET @n = @t", "245", allEnds, allEnds},
	{"a text is no date", "DECLARE @d datetime, @t varchar(5) = 'x'; SET @d = @t", "241", allEnds, allEnds},
}

func TestWhatAnErrorEnds(t *testing.T) {
	t.Parallel()
	for _, e := range endings {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			each(t, setting{}, func(t *testing.T, p place) {
				t.Helper()
				must(t, p.db, endingSetup)
				must(t, p.db, "CREATE TABLE locked (id int)")
				for option, want := range map[string]outcome{"OFF": e.off, "ON": e.on} {
					e.uncaught(t, p, option, want)
					e.caught(t, p, option, want)
				}
			})
		})
	}
}

// inTransaction opens a session in a transaction that has written something, beside another one that has a table
// locked.
func inTransaction(t *testing.T, p place, option string) (s *session, closing func()) {
	t.Helper()
	holder, err := open(t.Context(), p.db, "holder")
	if err != nil {
		t.Fatal(err)
	}
	if s, err = open(t.Context(), p.db, ""); err != nil {
		t.Fatal(err)
	}
	begin := "SET NOCOUNT ON; SET XACT_ABORT " + option + "; DELETE FROM kept; BEGIN TRANSACTION; INSERT INTO kept (id) VALUES (1)"
	for session, batch := range map[*session]string{s: begin, holder: "BEGIN TRANSACTION; SELECT COUNT(*) FROM locked WITH (TABLOCKX)"} {
		if got := execute(t.Context(), session.conn, batch); failed(got) {
			t.Fatalf("%s: %s", batch, list(got))
		}
	}
	return s, func() {
		holder.close()
		s.close()
	}
}

// uncaught executes the statement and another one behind it, and then asks what is left.
func (e ending) uncaught(t *testing.T, p place, option string, want outcome) {
	t.Helper()
	s, closing := inTransaction(t, p, option)
	defer closing()
	got := execute(t.Context(), s.conn, e.statement+";\nPRINT 'on'")
	expected := []string{"error " + e.number}
	if want.goesOn {
		expected = append(expected, "prints on")
	}
	if !isExpected(got, expected) {
		t.Errorf("XACT_ABORT %s: got %s, want %s", option, list(got), list(expected))
	}
	kept := min(want.transactions, 1)
	e.left(t, s, option, fmt.Sprintf("%d, %d", want.transactions, kept))
}

// left asks how many transactions are open and whether the first row is still there.
func (e ending) left(t *testing.T, s *session, option, want string) {
	t.Helper()
	got := execute(t.Context(), s.conn, "SELECT @@TRANCOUNT, (SELECT COUNT(*) FROM kept WHERE id = 1)")
	if strings.Join(got, "; ") != want {
		t.Errorf("XACT_ABORT %s: afterwards %s, want %s", option, list(got), want)
	}
}

// caught executes the statement in a TRY.
func (e ending) caught(t *testing.T, p place, option string, want outcome) {
	t.Helper()
	s, closing := inTransaction(t, p, option)
	defer closing()
	got := execute(t.Context(), s.conn, "BEGIN TRY\n"+e.statement+"\nEND TRY\nBEGIN CATCH\nSELECT ERROR_NUMBER(), XACT_STATE(), @@TRANCOUNT\nEND CATCH")
	expected := []string{fmt.Sprintf("%s, %d, 1", e.number, want.state)}
	if want.state < 0 {
		expected = append(expected, "error 3998")
	}
	if !isExpected(got, expected) {
		t.Errorf("XACT_ABORT %s, in a TRY: got %s, want %s", option, list(got), list(expected))
	}
	open := max(want.state, 0)
	e.left(t, s, option, fmt.Sprintf("%d, %d", open, open))
}
