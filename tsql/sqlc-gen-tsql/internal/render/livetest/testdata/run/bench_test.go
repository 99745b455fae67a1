package run_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render/livetest/livedb"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render/livetest/tvpdb"
)

// BenchmarkTableArgument compares the two forms of a table argument. A row is an event of a workflow: two numbers, a word, a
// payload of 150 bytes, and a number that every other row lacks.
//
//   - document: our encoder alone, from the slice of rows to the JSON that is handed to the driver.
//   - client: all that happens in the process of the client. The driver encodes its own form only when it sends a call,
//     and offers no other way to it, so it talks to a connection in memory that takes any call and answers with no rows.
//     Both forms pay the same for the call itself, which is what they cost with one row.
//   - server: the whole call, when there is a server, with the rows selected and read back.
func BenchmarkTableArgument(b *testing.B) {
	payload := `{"kind":"ActivityCompleted","source_event_id":7,"result":"` + strings.Repeat("x", 90) + `"}`
	for _, n := range []int{1, 100, 2000} {
		var documents livedb.EchoEventsParams
		var tables tvpdb.EchoEventsParams
		for i := range n {
			row := livedb.EventListRow{Position: int32(i), EventID: int64(i), Kind: "ActivityCompleted", Payload: payload}
			if i%2 == 0 {
				row.LastsMs = new(int64(i))
			}
			documents.Events = append(documents.Events, row)
			tables.Events = append(tables.Events, tvpdb.EventListRow(row))
		}
		measure := func(name string, want error, call func() error) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := call(); !errors.Is(err, want) {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
		asJSON := func(q *livedb.Queries) func() error {
			return func() error { _, err := q.EchoEvents(b.Context(), documents); return err }
		}
		compare := func(where string, db *sql.DB, schema string) {
			measure(where+"/json", nil, asJSON(livedb.New(db, livedb.WithSchema("gen_live", schema))))
			q := tvpdb.New(db, tvpdb.WithSchema("gen_live", schema))
			measure(where+"/tvp", nil, func() error { _, err := q.EchoEvents(b.Context(), tables); return err })
		}
		measure("document/json", errNowhere, asJSON(livedb.New(nowhere{})))
		compare("client", inMemory(b), "gen_live")
		if dsn := os.Getenv(variable); dsn != "" {
			db, schema := deploy(b, dsn)
			compare("server", db, schema)
		}
	}
}

var errNowhere = errors.New("nowhere")

// nowhere is what a call runs on that ends in front of the driver.
type nowhere struct{}

func (nowhere) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	return nil, errNowhere
}

func (nowhere) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	return nil, errNowhere
}

// inMemory opens a database of the real driver whose server is a memory.
func inMemory(t testing.TB) *sql.DB {
	t.Helper()
	connector, err := mssql.NewConnector("sqlserver://u:p@memory?encrypt=disable&protocol=tcp&dial+timeout=5")
	if err != nil {
		t.Fatal(err)
	}
	connector.Dialer = memory{}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

// memory is the network that such a server is in.
type memory struct{}

func (memory) DialContext(context.Context, string, string) (net.Conn, error) {
	return &memoryConn{arrived: make(chan struct{}, 1)}, nil
}

// HostName keeps the driver from looking the name up.
func (memory) HostName() string { return "memory" }

// A memoryConn is the server's side of TDS as far as a call needs it: packets in, the least possible answer out.
type memoryConn struct {
	mu      sync.Mutex
	in      []byte // of the packet that is arriving
	out     bytes.Buffer
	arrived chan struct{} // tells a reader that there is something
}

const packetHeader = 8 // type, status, length (2), and four that don't matter here

// Write takes packets, and answers the last one of each message.
func (c *memoryConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.in = append(c.in, b...); len(c.in) >= packetHeader; {
		size := int(binary.BigEndian.Uint16(c.in[2:]))
		if len(c.in) < size {
			break
		}
		if last := c.in[1]&1 != 0; last {
			c.answer(c.in[0])
		}
		c.in = append(c.in[:0], c.in[size:]...)
	}
	return len(b), nil
}

// answer writes the response to a message of a type.
func (c *memoryConn) answer(message byte) {
	const prelogin, login = 18, 16
	var tokens []byte
	switch message {
	case prelogin: // version and encryption, which isn't supported
		tokens = []byte{0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 255, 16, 0, 0, 0, 0, 0, 2}
	case login: // LOGINACK: T-SQL in TDS 7.4 of a program without a name
		tokens = append([]byte{0xAD, 10, 0, 1, 0x74, 0, 0, 4, 0, 16, 0, 0, 0}, done...)
	default:
		tokens = append(bytes.Clone(noEvents), done...)
	}
	header := make([]byte, packetHeader)
	header[0], header[1] = 4, 1 // a response, in one packet
	binary.BigEndian.PutUint16(header[2:], uint16(packetHeader+len(tokens)))
	c.out.Write(header)
	c.out.Write(tokens)
	select {
	case c.arrived <- struct{}{}:
	default:
	}
}

// done is the token that ends a response.
var done = []byte{0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

// noEvents is the token that describes the rows of echo_events: event_id bigint, payload nvarchar(max).
var noEvents = func() []byte {
	column := func(name string, sqlType ...byte) []byte {
		text := append([]byte{0, 0, 0, 0, 1, 0}, sqlType...)
		text = append(text, byte(len(name)))
		for _, unit := range utf16.Encode([]rune(name)) {
			text = binary.LittleEndian.AppendUint16(text, unit)
		}
		return text
	}
	return append(append([]byte{0x81, 2, 0}, column("event_id", 0x7F)...), column("payload", 0xE7, 255, 255, 9, 4, 208, 0, 52)...)
}()

// Read waits for an answer.
func (c *memoryConn) Read(b []byte) (int, error) {
	for {
		c.mu.Lock()
		n, err := c.out.Read(b)
		c.mu.Unlock()
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if _, open := <-c.arrived; !open {
			return 0, io.EOF
		}
	}
}

func (c *memoryConn) Close() error                     { return nil }
func (c *memoryConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *memoryConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *memoryConn) SetDeadline(time.Time) error      { return nil }
func (c *memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }
