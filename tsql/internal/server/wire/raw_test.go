package wire_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/server/wire"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// raw is a client that can do what go-mssqldb does not.
type raw struct {
	net.Conn
	t testing.TB
	// size is that of packets, pieces how many bytes of them are written at once.
	size, pieces int
}

// dial connects a raw client.
func dial(t testing.TB, addr string) *raw {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // a test that hangs is worth a stack
	return &raw{Conn: conn, t: t, size: 4096, pieces: 4096}
}

// The types and bits of packets.
const (
	batch, rpc, attention, bulk, manager, login, prelogin = 1, 3, 6, 7, 14, 16, 18
	last, ignore, reset, resetKeepsTran                   = 1, 2, 8, 16
)

// send sends a message.
func (r *raw) send(kind, status byte, payload []byte) {
	r.t.Helper()
	for first := true; first || len(payload) > 0; first = false {
		n := min(len(payload), r.size-8)
		bits := byte(0)
		if first {
			bits = status &^ (last | ignore)
		}
		if n == len(payload) {
			bits |= status & (last | ignore)
		}
		r.write(packet(kind, bits, payload[:n]))
		payload = payload[n:]
	}
}

// packet is a packet.
func packet(kind, status byte, payload []byte) []byte {
	p := append([]byte{kind, status, 0, 0, 0, 0, 1, 0}, payload...)
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
	return p
}

// write writes bytes in pieces.
func (r *raw) write(b []byte) {
	r.t.Helper()
	for len(b) > 0 {
		n := min(len(b), r.pieces)
		if _, err := r.Write(b[:n]); err != nil {
			r.t.Fatal(err)
		}
		b = b[n:]
	}
}

// receive reads a message.
func (r *raw) receive() ([]byte, error) {
	var message []byte
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, err
		}
		payload := make([]byte, binary.BigEndian.Uint16(head[2:])-8)
		if _, err := io.ReadFull(r, payload); err != nil {
			return nil, err
		}
		message = append(message, payload...)
		if head[1] != 0 {
			return message, nil
		}
	}
}

// answer reads a response and describes its tokens.
func (r *raw) answer() []string {
	r.t.Helper()
	m, err := r.receive()
	if err != nil {
		r.t.Fatal(err)
	}
	return describeTokens(r.t, m)
}

// utf16 is text of ASCII characters as the wire has it.
func utf16(s string) (b []byte) {
	for _, c := range []byte(s) {
		b = append(b, c, 0)
	}
	return b
}

// loginMessage is a LOGIN7 of a version, with features.
func loginMessage(version uint32, features []byte) []byte {
	texts := []string{"host", "sa", "", "app", "server", "", "lib", "", "test"}
	fixed, data := make([]byte, 94), []byte(nil)
	binary.LittleEndian.PutUint32(fixed[4:], version)
	binary.LittleEndian.PutUint32(fixed[8:], 4096)
	at := 36
	for i, s := range texts {
		binary.LittleEndian.PutUint16(fixed[at+4*i:], uint16(len(fixed)+len(data)))
		binary.LittleEndian.PutUint16(fixed[at+4*i+2:], uint16(len(s)))
		data = append(data, utf16(s)...)
	}
	if features != nil {
		fixed[27] |= 0x10
		binary.LittleEndian.PutUint16(fixed[at+4*5:], uint16(len(fixed)+len(data)))
		binary.LittleEndian.PutUint16(fixed[at+4*5+2:], 4)
		data = binary.LittleEndian.AppendUint32(data, uint32(len(fixed)+len(data)+4))
		data = append(data, features...)
	}
	m := slices.Concat(fixed, data)
	binary.LittleEndian.PutUint32(m, uint32(len(m)))
	return m
}

// in logs in.
func (r *raw) in(version uint32, features []byte) []string {
	r.t.Helper()
	r.send(login, last, loginMessage(version, features))
	return r.answer()
}

// headers are ALL_HEADERS with a transaction.
func headers(transaction uint64) []byte {
	b := []byte{22, 0, 0, 0, 18, 0, 0, 0, 2, 0}
	b = binary.LittleEndian.AppendUint64(b, transaction)
	return append(b, 1, 0, 0, 0)
}

// text is a batch.
func text(s string) []byte { return append(headers(0), utf16(s)...) }

// describeTokens reads tokens: those of columns and rows for a few types only.
func describeTokens(t testing.TB, b []byte) (list []string) {
	t.Helper()
	take := func(n int) []byte {
		if n > len(b) {
			t.Fatalf("%d bytes are missing after %v", n-len(b), list)
		}
		taken := b[:n]
		b = b[n:]
		return taken
	}
	short := func() string { return value.DecodeUTF16(take(2 * int(take(1)[0]))) }
	var codes []byte
	cell := func(code byte) string {
		switch code {
		case 0x38:
			return fmt.Sprint(int32(binary.LittleEndian.Uint32(take(4))))
		case 0x26:
			if n := take(1)[0]; n != 0 {
				return fmt.Sprint(binary.LittleEndian.Uint32(take(int(n))))
			}
			return "NULL"
		default:
			n := binary.LittleEndian.Uint16(take(2))
			if n == 0xFFFF {
				return "NULL"
			}
			if code == 0xA7 {
				return string(take(int(n)))
			}
			return value.DecodeUTF16(take(int(n)))
		}
	}
	column := func() string {
		take(6)
		code := take(1)[0]
		codes = append(codes, code)
		switch code {
		case 0x38:
		case 0x26:
			take(1)
		case 0xE7, 0xA7:
			take(7)
		default:
			t.Fatalf("type %x after %v", code, list)
		}
		return fmt.Sprintf("%s %x", short(), code)
	}
	for len(b) > 0 {
		switch token := take(1)[0]; token {
		case 0x79:
			list = append(list, fmt.Sprint("status ", int32(binary.LittleEndian.Uint32(take(4)))))
		case 0x81:
			var names []string
			if n := binary.LittleEndian.Uint16(take(2)); n != 0xFFFF { // else they are those from before
				codes = nil
				for range n {
					names = append(names, column())
				}
			}
			list = append(list, "columns "+strings.Join(names, ", "))
		case 0xD1, 0xD2:
			var row strings.Builder
			fmt.Fprintf(&row, "row %x", token)
			var bits []byte
			if token == 0xD2 {
				bits = take((len(codes) + 7) / 8)
			}
			for i, code := range codes {
				if len(bits) > 0 && bits[i/8]&(1<<(i%8)) != 0 {
					row.WriteString(" -")
				} else {
					row.WriteString(" " + cell(code))
				}
			}
			list = append(list, row.String())
		case 0xAA, 0xAB:
			body := take(int(binary.LittleEndian.Uint16(take(2))))
			n := int(binary.LittleEndian.Uint16(body[6:]))
			list = append(list, fmt.Sprintf("message %d: %s", binary.LittleEndian.Uint32(body), value.DecodeUTF16(body[8:8+2*n])))
		case 0xAD:
			body := take(int(binary.LittleEndian.Uint16(take(2))))
			list = append(list, fmt.Sprintf("ack %x %d", body[1:5], body[len(body)-4]))
		case 0xAE:
			var features strings.Builder
			features.WriteString("features")
			for id := take(1)[0]; id != 0xFF; id = take(1)[0] {
				fmt.Fprintf(&features, " %x:%x", id, take(int(binary.LittleEndian.Uint32(take(4)))))
			}
			list = append(list, features.String())
		case 0xE3:
			list = append(list, fmt.Sprintf("env %d", take(int(binary.LittleEndian.Uint16(take(2))))[0]))
		case 0xFD, 0xFE, 0xFF:
			body := take(12)
			list = append(list, fmt.Sprintf("done %x %x %d", token, binary.LittleEndian.Uint16(body), binary.LittleEndian.Uint64(body[4:])))
		default:
			t.Fatalf("token %x after %v", token, list)
		}
	}
	return list
}

const (
	tds72, tds73A, tds73B, tds74 = 0x72090002, 0x730A0003, 0x730B0003, 0x74000004
)

// expect compares a response with what is expected.
func (r *raw) expect(what string, want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.answer()); diff != "" {
		r.t.Errorf("%s: %s", what, diff)
	}
}

func TestPrelogin(t *testing.T) {
	t.Parallel()
	server := serve(t, nil, wire.Options{})
	r := dial(t, server.addr)
	// The version, no encryption, an instance, and whether somebody else vouches.
	r.send(prelogin, last, append([]byte{0, 0, 21, 0, 6, 1, 0, 27, 0, 1, 2, 0, 28, 0, 1, 6, 0, 29, 0, 1, 0xFF},
		9, 0, 0, 0, 0, 0, 2, 0, 1))
	got, err := r.receive()
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{
		0, 0, 31, 0, 6, 1, 0, 37, 0, 1, 2, 0, 38, 0, 1, 3, 0, 39, 0, 0, 4, 0, 39, 0, 1, 6, 0, 40, 0, 1, 0xFF,
		16, 0, 0x10, 0x27, 0, 0, 2, 0, 0, 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r.expectWelcome(tds74, "ack 74000004 16")
}

// expectWelcome logs in and looks at the acknowledgement.
func (r *raw) expectWelcome(version uint32, want string) {
	r.t.Helper()
	got := r.in(version, nil)
	if diff := cmp.Diff([]string{
		"env 1", "message 5701: Changed database context to 'test'.", "env 7", "env 2",
		"message 5703: Changed language setting to us_english.", want, "env 4", "done fd 0 0",
	}, got); diff != "" {
		r.t.Error(diff)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	date := request.Column{Name: "d", Type: value.OfKind(sqltype.Date), Nullable: true}
	server := serve(t, scripts{
		"dates": func(q *query) error { return q.set([]request.Column{date}, []value.Value{value.OfDate(0)}) },
		"nulls": func(q *query) error {
			c := request.Column{Name: "n", Type: value.NVarChar(10), Nullable: true}
			return q.set([]request.Column{c, c}, []value.Value{{}, {}}, []value.Value{{}, value.OfString("x")})
		},
	}, wire.Options{})
	for version, ack := range map[uint32]string{
		tds72: "ack 72090002 16", tds73A: "ack 730a0003 16", tds73B: "ack 730b0003 16", tds74: "ack 74000004 16",
		0x75000000: "ack 74000004 16", 0x08000000: "ack 08000000 16",
	} {
		r := dial(t, server.addr)
		r.expectWelcome(version, ack)
		if version == tds72 {
			r.send(batch, last, text("dates"))
			r.expect("dates", "columns d e7", "row d1 0001-01-01", "done fd 10 1")
		}
		r.send(batch, last, text("nulls"))
		rows := []string{"row d1" + strings.Repeat(" NULL", 2), "row d1 NULL x"}
		if version >= tds73B || version == 0x08000000 {
			rows = []string{"row d2 - -", "row d2 - x"}
		}
		r.expect("nulls", "columns n e7, n e7", rows[0], rows[1], "done fd 10 2")
	}
	old := dial(t, server.addr)
	if got := old.in(0x71000001, nil); len(got) != 2 || !strings.Contains(got[0], "7.2") || got[1] != "done fd 2 0" {
		t.Errorf("an old client is told %v", got)
	}
	if _, err := old.receive(); !errors.Is(err, io.EOF) {
		t.Errorf("an old client stays: %v", err)
	}
}

func TestFeatures(t *testing.T) {
	t.Parallel()
	collation, _ := value.CollationByName("Latin1_General_100_CI_AS_SC_UTF8")
	server := serve(t, scripts{"q": func(q *query) error {
		return q.set([]request.Column{{Name: "c", Type: value.VarChar(10).With(collation)}}, []value.Value{value.OfString("ä")})
	}}, wire.Options{})
	r := dial(t, server.addr)
	got := r.in(tds74, []byte{0x01, 0, 0, 0, 0, 0x0A, 1, 0, 0, 0, 1, 0xFF})
	if got[len(got)-2] != "features a:01" {
		t.Error(got)
	}
	r.send(batch, last, text("q"))
	r.expect("with UTF-8", "columns c a7", "row d1 ä", "done fd 10 1")
	r = dial(t, server.addr)
	got = r.in(tds74, []byte{0x01, 0, 0, 0, 0, 0xFF})
	if got[len(got)-2] != "features" {
		t.Error(got)
	}
	r.send(batch, last, text("q"))
	r.expect("without UTF-8", "columns c e7", "row d1 ä", "done fd 10 1")
	r = dial(t, server.addr)
	if got := r.in(tds74, []byte{0x02, 1, 0, 0, 0, 0, 0xFF}); !strings.Contains(got[0], "18452") {
		t.Errorf("a token of somebody else's: %v", got)
	}
}

// Messages come in packets and pieces of any size.
func TestPieces(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	server := serve(t, scripts{long: func(q *query) error { return q.numbers("a", 1) }}, wire.Options{})
	for _, size := range []int{9, 10, 100, 512, 4096, 32767} {
		for _, pieces := range []int{1, 7, 5000} {
			r := dial(t, server.addr)
			r.size, r.pieces = size, pieces
			r.in(tds74, nil)
			r.send(batch, last, text(long))
			r.expect("batch", "columns a 38", "row d1 1", "done fd 10 1")
		}
	}
}

// call is a call of a procedure by its name, without parameters.
func call(name string, flags byte) []byte {
	b := append([]byte{byte(len(name)), 0}, utf16(name)...)
	return append(b, flags, 0)
}

func TestSeveralCalls(t *testing.T) {
	t.Parallel()
	server := serve(t, scripts{
		"a": func(q *query) error { return errors.Join(q.numbers("x", 1), q.ReturnStatus(0)) },
		"b": func(q *query) error { return q.Error(fault.New(2812, "b")) },
		"c": func(q *query) error {
			return errors.Join(q.numbers("y", 2), q.ReturnStatus(5), q.Done("EXEC", 0, false, false))
		},
		"sp_unprepare": func(q *query) error {
			return q.ReturnStatus(int32(q.params[0].Value.Int()))
		},
	}, wire.Options{})
	r := dial(t, server.addr)
	r.in(tds74, nil)
	m := append(headers(0), call("a", 0)...)
	m = append(append(m, 0xFF), call("b", 0)...)
	m = append(append(m, 0xFF), call("c", 2)...)
	m = append(
		m,
		0xFF, 0xFF, 0xFF, 15, 0, 0, 0, // sp_unprepare by its number
		0, 0, 0x26, 4, 4, 9, 0, 0, 0, 0xFF, // of an int, and nothing after the separator
	)
	r.send(rpc, last, m)
	r.expect("several calls",
		"columns x 38", "row d1 1", "done ff 11 1", "status 0", "done fe 1 0",
		"message 2812: Could not find stored procedure 'b'.", "done fe 3 0",
		"columns ", "row d1 2", "done ff 11 1", "status 5", "done fe 1 0",
		"status 9", "done fe 0 0")
}

func TestTransactionManager(t *testing.T) {
	t.Parallel()
	server := serve(t, scripts{"q": func(q *query) error { return q.write("INSERT", 1) }}, wire.Options{})
	r := dial(t, server.addr)
	r.in(tds74, nil)
	ask := func(kind byte, rest ...byte) { r.send(manager, last, append(append(headers(0), kind, 0), rest...)) }
	ask(5, 2, 1, 'n', 0)
	r.expect("begin", "env 8", "done fd 4 0")
	r.send(batch, last, text("q"))
	r.expect("batch within", "done fd 14 1")
	ask(9, 1, 's', 0)
	r.expect("save", "done fd 4 0")
	ask(7, 0, 1, 4, 0)
	r.expect("commit and begin", "env 9", "env 8", "done fd 4 0")
	r.send(batch, last|resetKeepsTran, text("q"))
	r.expect("reset that keeps the transaction", "env 18", "done fd 14 1")
	r.send(batch, last|reset, text("q"))
	r.expect("reset", "env 10", "env 18", "done fd 10 1")
	ask(8, 0, 0)
	r.expect("rollback of nothing", "message 3902: The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.", "done fd 2 0")
	ask(0)
	if got := r.answer(); len(got) != 2 || !strings.Contains(got[0], "message 49900") {
		t.Errorf("a distributed transaction: %v", got)
	}
	want := []request.Request{
		request.Transaction{Verb: "BEGIN", Isolation: "READ COMMITTED", Name: "n"},
		request.Batch{Text: "q"},
		request.Transaction{Verb: "SAVE", Name: "s"},
		request.Transaction{Verb: "COMMIT", Isolation: "SERIALIZABLE", Begin: true},
	}
	if diff := cmp.Diff(want, server.sessions[0].requests()[:len(want)]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bool{true, false}, server.sessions[0].resets); diff != "" {
		t.Error(diff)
	}
}

// An attention is answered once, wherever it comes.
func TestAttentionPackets(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	server := serve(t, scripts{
		"q":     func(q *query) error { return q.numbers("a", 1) },
		"waits": waits(begun, func(q *query) error { return q.write("INSERT", 1) }),
	}, wire.Options{})
	r := dial(t, server.addr)
	r.in(tds74, nil)
	r.send(attention, last, nil)
	r.expect("attention without a request", "done fd 20 0")
	r.send(batch, last, text("waits"))
	<-begun
	r.send(attention, last, nil)
	r.expect("attention to a request", "done fd 11 1", "done fd 20 0")
	r.write(packet(batch, 0, text("waits")))
	r.send(attention, last, nil)
	r.expect("attention in the middle of a request", "done fd 20 0")
	r.write(packet(batch, 0, text("q")))
	r.write(packet(batch, last|ignore, nil))
	r.send(batch, last, text("q"))
	r.expect("a request after one that was taken back", "columns a 38", "row d1 1", "done fd 10 1")
	if n := len(server.sessions[0].requests()); n != 2 {
		t.Errorf("%d requests were executed", n)
	}
}

func TestBulkLoad(t *testing.T) {
	t.Parallel()
	server := serve(t, scripts{"q": func(q *query) error { return q.numbers("a", 1) }}, wire.Options{})
	r := dial(t, server.addr)
	r.in(tds74, nil)
	columns := []byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x38, 1, 'a', 0}
	rows := []byte{0xD1, 7, 0, 0, 0, 0xD1, 8, 0, 0, 0}
	end := make([]byte, 13)
	end[0] = 0xFD
	r.send(bulk, last, slices.Concat(columns, rows, end))
	r.expect("bulk load", "done fd 10 2")
	want := request.Bulk{
		Columns: []request.Column{{Name: "a", Type: value.OfKind(sqltype.Int)}},
		Rows:    [][]value.Value{{value.OfInt(7)}, {value.OfInt(8)}},
	}
	if got := server.sessions[0].requests()[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("the session is asked for %v, want %v", got, want)
	}
	r.send(batch, last, text("q"))
	r.expect("the connection goes on", "columns a 38", "row d1 1", "done fd 10 1")
	r.send(bulk, last, slices.Concat(columns, rows[:3]))
	r.expect("bulk load without an end", "message 4002: The incoming tabular data stream (TDS) protocol stream is incorrect (wire: malformed input: 4 bytes are wanted at offset 14 of 16).", "done fd 102 0")
}

// The bit of an error is on the statement that has failed, whether or not the session says that it has ended.
func TestErrorBits(t *testing.T) {
	t.Parallel()
	failed := func(q *query) error { return q.Error(raise(547, "no")) }
	server := serve(t, scripts{
		"unsaid": func(q *query) error { return errors.Join(failed(q), q.write("INSERT", 2)) },
		"said": func(q *query) error {
			return errors.Join(failed(q), q.Done("INSERT", 0, false, false), q.write("INSERT", 2))
		},
		"rows": func(q *query) error { return errors.Join(failed(q), q.numbers("a", 1)) },
		"last": func(q *query) error { return errors.Join(q.write("INSERT", 2), failed(q)) },
	}, wire.Options{})
	r := dial(t, server.addr)
	r.in(tds74, nil)
	for name, want := range map[string][]string{
		"unsaid": {"message 547: no", "done fd 3 0", "done fd 10 2"},
		"said":   {"message 547: no", "done fd 3 0", "done fd 10 2"},
		"rows":   {"message 547: no", "done fd 3 0", "columns a 38", "row d1 1", "done fd 10 1"},
		"last":   {"done fd 11 2", "message 547: no", "done fd 2 0"},
	} {
		r.send(batch, last, text(name))
		r.expect(name, want...)
	}
}
