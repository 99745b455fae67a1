package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"net"
	"slices"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// samples are values of all types that a parameter may have.
func samples(t testing.TB) []struct {
	typ value.Type
	v   value.Value
} {
	t.Helper()
	type sample = struct {
		typ value.Type
		v   value.Value
	}
	var list []sample
	add := func(text string, values ...value.Value) {
		typ, err := value.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			list = append(list, sample{typ, v})
		}
	}
	null := value.Value{}
	add("bit", value.OfBool(true), null)
	add("tinyint", value.OfInt(255), null)
	add("smallint", value.OfInt(-32768), null)
	add("int", value.OfInt(-1), null)
	add("bigint", value.OfInt(1<<62), null)
	add("real", value.OfFloat(1.5), null)
	add("float", value.OfFloat(-1e300), null)
	add("smallmoney", value.OfMoney(-5), null)
	add("money", value.OfMoney(1<<40), null)
	add("decimal(38,10)", value.OfDecimal(new(big.Int).Neg(powerOfTen(37)), 10), null)
	add("decimal(5,0)", value.OfDecimal(big.NewInt(99999), 0), null)
	add("smalldatetime", value.OfDateTime(partsPerDay*65535), null)
	add("datetime", value.OfDateTime(-partsPerDay*53690), null)
	add("date", value.OfDate(lastDate), null)
	add("time(2)", value.OfTime(100_000), null)
	add("datetime2(4)", value.OfDateTime2(700000, 1000), null)
	add("datetimeoffset(7)", value.OfDateTimeOffset(700000, ticksPerDay-1, -840), null)
	add("uniqueidentifier", value.OfGUID([16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}), null)
	text := value.OfString("a\u00e4\u20ac")
	add("char(3)", text, null)
	add("varchar(10)", text, null)
	add("varchar(max)", text, value.OfString(""), null)
	wide := value.OfString("a😀\xed\xa0\xbd") // the last one is half of a pair
	add("nchar(10)", wide, null)
	add("nvarchar(10)", wide, null)
	add("nvarchar(max)", wide, value.OfString(""), null)
	add("binary(2)", value.OfBytes([]byte{0, 1}), null)
	add("varbinary(10)", value.OfBytes([]byte{0, 1}), value.OfBytes(nil), null)
	add("varbinary(max)", value.OfBytes([]byte{0, 1}), value.OfBytes(nil), null)
	add("xml", value.OfString("<a>😀</a>"), null)
	for _, s := range slices.Clip(list) {
		if !s.v.IsNull() && !s.typ.IsLOB() {
			add("sql_variant", value.OfVariant(s.v, s.typ))
		}
	}
	add("sql_variant", null)
	return list
}

// encodeParam is a parameter as a client writes it.
func encodeParam(t testing.TB, name string, typ value.Type, v value.Value, nullable bool) []byte {
	t.Helper()
	c, err := describeType(typ, nullable, client{version: version74, utf8: true})
	if err != nil {
		t.Fatal(err)
	}
	b := append(appendShortText(nil, name), 0)
	if b, err = c.appendCell(c.appendType(b), v); err != nil {
		t.Fatal(err)
	}
	return b
}

// noHeaders are ALL_HEADERS without any.
var noHeaders = []byte{4, 0, 0, 0}

// Parameters are written as columns are, but for text, ntext and image.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		for _, nullable := range []bool{true, false} {
			if s.v.IsNull() && !nullable {
				continue
			}
			message := append(append([]byte(nil), noHeaders...), 1, 0, 'p', 0, 0, 0)
			message = append(message, encodeParam(t, "@p", s.typ, s.v, nullable)...)
			r, err := newCallReader(message, value.DefaultCollation)
			if err != nil {
				t.Fatal(err)
			}
			call, err := r.next()
			if err != nil || len(call.Params) != 1 || r.more() {
				t.Errorf("%s: %v, %d parameters", s.typ, err, len(call.Params))
				continue
			}
			got := call.Params[0]
			want := s.typ
			if want.IsCharacter() {
				want.Collation = value.DefaultCollation // which the client has named
			}
			if got.Type != want || got.Name != "@p" || !sameVariant(got.Value, s.v) {
				t.Errorf("%s: %s has become %s, a %s", s.typ, s.v, got.Value, got.Type)
			}
		}
	}
}

// sameVariant compares two values. The collation of a string in a sql_variant is no matter: the client has named it.
func sameVariant(a, b value.Value) bool {
	if a.Kind() != value.Variant || b.Kind() != value.Variant {
		return a.Equal(b)
	}
	x, t := a.Variant()
	y, u := b.Variant()
	return x.Equal(y) && t.Type == u.Type
}

// text, ntext and image come with a length in four bytes.
func TestOldLargeTypes(t *testing.T) {
	t.Parallel()
	name := encodeCollation(nil)
	head := append(append([]byte(nil), noHeaders...), 1, 0, 'p', 0, 0, 0)
	for code, content := range map[typeCode][]byte{typeText: {'a'}, typeNText: {'a', 0}, typeImage: {1}} {
		for _, null := range []bool{false, true} {
			m := append(append([]byte(nil), head...), 0, 0, byte(code), 0xFF, 0xFF, 0xFF, 0x7F)
			if code != typeImage {
				m = append(m, name[:]...)
			}
			if null {
				m = append(m, 0xFF, 0xFF, 0xFF, 0xFF)
			} else {
				m = append(binary.LittleEndian.AppendUint32(m, uint32(len(content))), content...)
			}
			r, _ := newCallReader(m, value.DefaultCollation)
			call, err := r.next()
			if err != nil || call.Params[0].Type.Kind != stringKinds[code] || call.Params[0].Value.IsNull() != null {
				t.Errorf("%02x: %v, %+v", code, err, call.Params)
			}
		}
	}
}

func TestTableColumnOrder(t *testing.T) {
	t.Parallel()
	m := append(append([]byte(nil), noHeaders...), 1, 0, 'p', 0, 0, 0, 0, 0, byte(typeTable), 0, 0, 1, 't', 0, 3, 0)
	for _, flags := range []uint16{0, tableDefault, 0} {
		m = append(m, 0, 0, 0, 0, byte(flags), byte(flags>>8), byte(typeIntN), 4, 0)
	}
	m = append(
		m,
		tableUnique, 1, 0, 1, 0, 1, // sorted by the first
		tableOrder, 3, 0, 3, 0, 1, 0, 2, 0, // sent as third, first, second
		tableEnd,
		tableRow, 4, 30, 0, 0, 0, 4, 20, 0, 0, 0, // the column between has its default
		tableRow, 0, 4, 21, 0, 0, 0, // NULL
		tableEnd,
		1, '@', 0, 0, 0x38, 7, 0, 0, 0, // another parameter
	)
	r, err := newCallReader(m, value.DefaultCollation)
	if err != nil {
		t.Fatal(err)
	}
	call, err := r.next()
	if err != nil || len(call.Params) != 2 || call.Params[1].Value.Int() != 7 {
		t.Fatalf("%v, %+v", err, call)
	}
	table := call.Params[0].Table
	if d := table.Defaulted; !d[0] || d[1] || d[2] {
		t.Errorf("defaults are %v", d)
	}
	for i, want := range [][3]string{{"NULL", "20", "30"}, {"NULL", "21", "NULL"}} {
		for k, v := range table.Rows[i] {
			if v.String() != want[k] {
				t.Errorf("row %d, column %d: %s", i, k, v)
			}
		}
	}
}

// Rows for which nothing is sent take no memory of their own.
func TestTableOfDefaults(t *testing.T) {
	t.Parallel()
	head := append(append([]byte(nil), noHeaders...), 1, 0, 'p', 0, 0, 0, 0, 0, byte(typeTable), 0, 0, 1, 't', 0)
	table := func(columns, sent, rows int) []byte {
		m := append([]byte(nil), head...)
		m = binary.LittleEndian.AppendUint16(m, uint16(columns))
		for i := range columns {
			flags := uint16(tableDefault)
			if i < sent {
				flags = 0
			}
			m = append(m, 0, 0, 0, 0, byte(flags), byte(flags>>8), byte(typeBitN), 1, 0)
		}
		m = append(m, tableEnd)
		for range rows {
			m = append(append(m, tableRow), make([]byte, sent)...)
		}
		return append(m, tableEnd)
	}
	for _, c := range []struct {
		columns, sent, rows int
		fails               bool
	}{{1000, 0, 10_000, false}, {1000, 1, 1000, false}, {1000, 1, 20_000, true}, {1024, 1024, 1, false}, {1025, 1, 1, true}} {
		r, _ := newCallReader(table(c.columns, c.sent, c.rows), value.DefaultCollation)
		call, err := r.next()
		if (err != nil) != c.fails || err == nil && len(call.Params[0].Table.Rows) != c.rows {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestCollations(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][5]byte{
		"SQL_Latin1_General_CP1_CI_AS":     {0x09, 0x04, 0xD0, 0x00, 52},
		"SQL_Latin1_General_CP1_CS_AS":     {0x09, 0x04, 0xC0, 0x00, 51},
		"Latin1_General_CI_AS":             {0x09, 0x04, 0xD0, 0x00, 0},
		"Latin1_General_BIN2":              {0x09, 0x04, 0x00, 0x02, 0},
		"Latin1_General_100_BIN2":          {0x09, 0x04, 0x00, 0x22, 0},
		"Latin1_General_100_CI_AI":         {0x09, 0x04, 0xF0, 0x20, 0},
		"Latin1_General_100_CS_AS_KS_WS":   {0x09, 0x04, 0x00, 0x20, 0},
		"Latin1_General_100_CI_AS_SC_UTF8": {0x09, 0x04, 0xD0, 0x24, 0},
		"Latin1_General_100_BIN2_UTF8":     {0x09, 0x04, 0x00, 0x26, 0},
		"German_PhoneBook_CI_AS":           {0x07, 0x04, 0xD1, 0x00, 0},
		"Finnish_Swedish_100_CI_AS":        {0x0B, 0x04, 0xD0, 0x20, 0},
		"Danish_Greenlandic_100_CI_AS":     {0x06, 0x04, 0xD0, 0x20, 0},
		"Danish_Norwegian_CI_AS":           {0x06, 0x04, 0xD0, 0x00, 0},
	} {
		c, ok := value.CollationByName(name)
		if !ok {
			t.Errorf("there is no %s", name)
			continue
		}
		if got := encodeCollation(c); got != want {
			t.Errorf("%s: % X, not % X", name, got[:], want[:])
		}
		if back, ok := decodeCollation(want); !ok || back != c {
			t.Errorf("%s: % X is %v", name, want[:], back)
		}
	}
	if c, ok := decodeCollation(collationBytes{}); c != nil || !ok {
		t.Error("no collation is one")
	}
	for _, b := range []collationBytes{{0x11, 0x04, 0xD0, 0x00, 0}, {9, 4, 0xD0, 0, 1}, {0x09, 0x04, 0xD0, 0xF0, 0}} {
		if c, ok := decodeCollation(b); ok {
			t.Errorf("% X is %s", b[:], c.Name)
		}
	}
}

// echoes answers with what it is asked.
type echoes struct{}

func (echoes) Open(context.Context, request.Login) (request.Session, error) { return echoes{}, nil }
func (echoes) Database() string                                             { return "d" }
func (echoes) Reset(bool)                                                   {}
func (echoes) Close()                                                       {}

func (echoes) Execute(_ context.Context, r request.Request, sink request.Sink) error {
	switch r := r.(type) {
	case request.Batch:
		return sink.Message(&fault.Error{Message: r.Text})
	case request.Call:
		for i, p := range r.Params {
			columns, rows := []request.Column{{Name: p.Name, Type: p.Type, Nullable: true}}, [][]value.Value{{p.Value}}
			if p.Table != nil {
				columns, rows = p.Table.Columns, p.Table.Rows
				for k := range columns {
					columns[k].Nullable = true
				}
			}
			if err := errors.Join(sink.Columns(columns), eachRow(sink, rows), sink.Done("SELECT", 1, true, true)); err != nil {
				return err
			}
			if p.Output && p.Table == nil {
				if err := sink.Output(p.Name, i, p.Type, p.Value); err != nil {
					return err
				}
			}
		}
	case request.Transaction:
		return sink.TransactionBegan(r.Current)
	}
	return nil
}

func eachRow(sink request.Sink, rows [][]value.Value) error {
	for _, row := range rows {
		if err := sink.Row(row); err != nil {
			return err
		}
	}
	return nil
}

// FuzzLogin feeds a server with what comes before requests.
func FuzzLogin(f *testing.F) {
	fixed := make([]byte, 94)
	fixed[0], fixed[4], fixed[7], fixed[27] = 99, 4, 0x74, loginExtension
	binary.LittleEndian.PutUint16(fixed[36+4*5:], 94)
	binary.LittleEndian.PutUint16(fixed[38+4*5:], 4)
	login := slices.Concat(fixed, []byte{98, 0, 0, 0, 0x0A, 1, 0, 0, 0, 1, 0xFF})
	f.Add(byte(packetLogin), login)
	f.Add(byte(packetPrelogin), appendPrelogin(nil, Version{}, encryptUnsupported, map[byte][]byte{preloginFederated: nil}))
	f.Add(byte(packetPrelogin), appendPrelogin(nil, Version{}, encryptAll, nil))
	f.Fuzz(func(t *testing.T, kind byte, payload []byte) {
		if kind == tlsHandshake {
			t.Skip("the server waits for the rest of the handshake")
		}
		if options, err := parsePrelogin(payload); err == nil && len(options) > 256 {
			t.Error("too many options")
		}
		l, err := parseLogin(payload)
		if err == nil && len(l.User)+len(l.Password) > 3*len(payload) {
			t.Error("texts from nowhere")
		}
		exchange(t, packetType(kind), payload, false)
	})
}

// FuzzRequest feeds a server with requests.
func FuzzRequest(f *testing.F) {
	f.Add(byte(packetBatch), append(append([]byte(nil), noHeaders...), 'x', 0))
	f.Add(byte(packetTransaction), append(append([]byte(nil), noHeaders...), 7, 0, 0, 1, 2, 0))
	all := append(append([]byte(nil), noHeaders...), 1, 0, 'p', 0, 0, 0)
	for _, s := range samples(f) {
		p := encodeParam(f, "@p", s.typ, s.v, true)
		p[5] = paramOutput
		all = append(all, p...)
		one := append(append([]byte(nil), noHeaders...), 0xFF, 0xFF, 10, 0, 0, 0)
		f.Add(byte(packetRPC), append(one, p...))
	}
	f.Add(byte(packetRPC), append(all, nextCall, 1, 0, 'q', 0, 2, 0))
	table := append(append([]byte(nil), noHeaders...), 1, 0, 'p', 0, 0, 0, 0, 0, byte(typeTable), 0, 0, 1, 't', 0, 2, 0)
	table = append(
		table,
		0, 0, 0, 0, 0, 0, byte(typeIntN), 4, 0, 0, 0, 0, 0, 0, 2, byte(typeBitN), 1, 0,
		tableUnique, 1, 0, 1, 0, 1, tableOrder, 2, 0, 2, 0, 1, 0, tableEnd, tableRow, 4, 1, 0, 0, 0, tableEnd,
	)
	f.Add(byte(packetRPC), table)
	f.Fuzz(func(t *testing.T, kind byte, payload []byte) {
		exchange(t, packetType(kind), payload, true)
	})
}

// exchange has a server answer a message, after a login or in its place. Whatever it is, the server answers with whole
// tokens or hangs up.
func exchange(t *testing.T, kind packetType, payload []byte, loggedIn bool) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	server := New(echoes{}, Options{MaxRequest: 1 << 20, Encryption: EncryptNever})
	defer server.Close()
	defer near.Close()
	server.Handle(far)
	ask := func(kind packetType, payload []byte) ([]byte, error) {
		w := newPacketWriter(near, kind)
		w.body = append(w.body, payload...)
		if err := w.finish(); err != nil {
			return nil, err
		}
		r := packetReader{r: near}
		m, err := r.next(nil, 1<<30)
		return m.payload, err
	}
	if loggedIn {
		login := make([]byte, 94)
		login[0], login[4], login[7] = 94, 4, 0x74
		if _, err := ask(packetLogin, login); err != nil {
			t.Fatal(err)
		}
	}
	answer, err := ask(kind, payload)
	if err != nil {
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
		return
	}
	const doneSize = 13
	if loggedIn && (len(answer) < doneSize || !bytes.ContainsAny(answer[len(answer)-doneSize:][:1], "\xFD\xFE")) {
		t.Errorf("the answer % X does not end with a done token", answer)
	}
}
