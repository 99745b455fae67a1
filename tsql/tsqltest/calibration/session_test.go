package calibration

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-sql/sqlexp"
	mssql "github.com/microsoft/go-mssqldb"
)

// session is one of the people in a script: a connection that executes a statement at a time.
type session struct {
	name    string
	id      int // of the server
	conn    *sql.Conn
	pending *pending
}

// pending is a statement that is being executed.
type pending struct {
	done  chan struct{}
	lines []string // what it has returned; to be read when done is closed
}

// open makes a connection that nobody used before.
func open(ctx context.Context, db *sql.DB, name string) (*session, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting %s: %w", name, err)
	}
	s := &session{name: name, conn: conn}
	if err := conn.QueryRowContext(ctx, "SELECT @@SPID").Scan(&s.id); err != nil {
		return nil, fmt.Errorf("connecting %s: %w", name, err)
	}
	return s, nil
}

// close ends the connection rather than giving it back, whatever state it is in.
func (s *session) close() {
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
}

// start begins to execute a batch.
func (s *session) start(ctx context.Context, batch string) {
	p := &pending{done: make(chan struct{})}
	s.pending = p
	go func() {
		defer close(p.done)
		p.lines = execute(ctx, s.conn, batch)
	}()
}

// execute executes a batch and returns all that comes of it, in its order.
func execute(ctx context.Context, conn *sql.Conn, batch string) (lines []string) {
	messages := &sqlexp.ReturnMessage{}
	rows, err := conn.QueryContext(ctx, batch, messages)
	if err != nil {
		return []string{failure(err)}
	}
	defer rows.Close()
	for active := true; active; {
		switch m := messages.Message(ctx).(type) {
		case sqlexp.MsgNext:
			lines = append(lines, resultSet(rows)...)
		case sqlexp.MsgNextResultSet:
			active = rows.NextResultSet()
		case sqlexp.MsgNotice:
			if e, ok := m.Message.(mssql.Error); !ok || e.Number != terminated {
				lines = append(lines, "prints "+e.Message)
			}
		case sqlexp.MsgError:
			// A query that fails at its first row has sent its columns already.
			if last := len(lines) - 1; last >= 0 && lines[last] == noRows {
				lines = lines[:last]
			}
			lines = append(lines, failure(m.Error))
		}
	}
	if err := rows.Err(); err != nil && ctx.Err() != nil {
		lines = append(lines, failure(err))
	}
	return lines
}

// terminated is "The statement has been terminated.", which the server adds to some errors.
const terminated = 3621

// noRows stands for a result set without rows.
const noRows = "no rows"

// failure shows an error.
func failure(err error) string {
	if e, ok := errors.AsType[mssql.Error](err); ok {
		return fmt.Sprintf("error %d: %s", e.Number, e.Message)
	}
	return "failed: " + err.Error()
}

// resultSet shows the rows of a result set.
func resultSet(rows *sql.Rows) (lines []string) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return []string{failure(err)}
	}
	cells := make([]any, len(types))
	into := make([]any, len(types))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return append(lines, failure(err))
		}
		words := make([]string, len(cells))
		for i, c := range cells {
			words[i] = show(c, types[i].DatabaseTypeName())
		}
		lines = append(lines, strings.Join(words, ", "))
	}
	if len(lines) == 0 && rows.Err() == nil {
		return []string{noRows}
	}
	return lines
}

// show writes a value.
func show(v any, kind string) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + v + "'"
	case bool:
		if v {
			return "1"
		}
		return "0"
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		if kind == "DATE" {
			return v.Format("2006-01-02")
		}
		return v.Format("2006-01-02 15:04:05.9999999")
	case []byte:
		if kind == "DECIMAL" || kind == "MONEY" || kind == "SMALLMONEY" {
			return string(v)
		}
		return "0x" + strings.ToUpper(hex.EncodeToString(v))
	default:
		return fmt.Sprint(v)
	}
}

// isExpected compares what came with what a script says. An expected error has its text only where that matters.
func isExpected(got, want []string) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		number, _, _ := strings.Cut(got[i], ":")
		if got[i] != want[i] && (!strings.HasPrefix(got[i], "error ") || number != want[i]) {
			return false
		}
	}
	return true
}

func TestIsExpected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		got, want string
		same      bool
	}{
		{"1, 2", "1, 2", true},
		{"1", "2", false},
		{"error 547: broken", "error 547", true},
		{"error 547: broken", "error 547: broken", true},
		{"error 547: broken", "error 547: other", false},
		{"error 547: broken", "error 54", false},
	} {
		if isExpected([]string{c.got}, []string{c.want}) != c.same {
			t.Errorf("%s for %s", c.got, c.want)
		}
	}
	if isExpected(nil, []string{"1"}) {
		t.Error("nothing is taken for a row")
	}
}
