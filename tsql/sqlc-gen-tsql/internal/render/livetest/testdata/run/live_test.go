package run_test

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/shopspring/decimal"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render/livetest/livedb"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render/livetest/nulldb"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render/livetest/tvpdb"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

//go:embed schema.sql
var schema string

// variable holds the connection string of a server on which the tests run as well.
const variable = "DUROXIDE_TEST_MSSQL"

// deploy creates what schema.sql has, under a name of its own, and returns the connection with that name.
func deploy(t testing.TB, dsn string) (*sql.DB, string) {
	t.Helper()
	db, err := sql.Open("sqlserver", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	name := fmt.Sprintf("gen_live_%d", time.Now().UnixNano())
	var made []string
	t.Cleanup(func() {
		for _, drop := range slices.Backward(made) {
			if _, err := db.ExecContext(context.WithoutCancel(t.Context()), drop); err != nil {
				t.Errorf("%s: %v", drop, err)
			}
		}
	})
	for batch := range strings.SplitSeq(strings.ReplaceAll(schema, "gen_live", name), "\nGO\n") {
		if strings.TrimSpace(batch) == "" {
			continue
		}
		if _, err := db.ExecContext(t.Context(), batch); err != nil {
			t.Fatalf("%v in\n%s", err, batch)
		}
		_, create, _ := strings.Cut("\n"+batch, "\nCREATE ")
		words := strings.FieldsFunc(create, func(r rune) bool { return strings.ContainsRune(" \n(;", r) })
		made = append(made, "DROP "+words[0]+" "+words[1])
	}
	return db, name
}

// TestLive runs generated code on a server in this process and, if the environment names one, on that as well.
//
//nolint:paralleltest // the parts share a server and look at its connections
func TestLive(t *testing.T) {
	t.Run("tsqltest", func(t *testing.T) { testLive(t, tsqltest.New(t, tsqltest.Options{}).DSN()) })
	if dsn := os.Getenv(variable); dsn != "" {
		t.Run("server", func(t *testing.T) { testLive(t, dsn) })
	}
}

func testLive(t *testing.T, dsn string) {
	t.Helper()
	db, name := deploy(t, dsn)
	q := livedb.New(db, livedb.WithSchema("GEN_LIVE", name))
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"types", func(t *testing.T) { testTypes(t, q) }},
		{"nulls", func(t *testing.T) { testNullsAsSQL(t, nulldb.New(db, nulldb.WithSchema("gen_live", name))) }},
		{"outputs", func(t *testing.T) { testOutputs(t, q) }},
		{"values", func(t *testing.T) { testValuesFromNull(t, q) }},
		{"flow", func(t *testing.T) { testFlow(t, q, db) }},
		{"rounds", func(t *testing.T) { testRounds(t, q) }},
		{"stream", func(t *testing.T) { testStream(t, q, db) }},
		{"queries", func(t *testing.T) { testQueries(t, q, db) }},
		{"transaction", func(t *testing.T) { testTransaction(t, q, db) }},
		{"tables", func(t *testing.T) { testTableArguments(t, q) }},
		{"tvp", func(t *testing.T) {
			q := tvpdb.New(db, tvpdb.WithSchema("gen_live", name))
			testTVP(t, q)
			testTwoInOne(t, q, db, name)
		}},
		{"names", func(t *testing.T) { testNames(t, db) }},
	} {
		t.Run(part.name, part.run)
	}
}

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// same compares what came back: decimals by value, times by instant and offset.
func same(a, b any) bool {
	return fmt.Sprint(normal(reflect.ValueOf(a))) == fmt.Sprint(normal(reflect.ValueOf(b)))
}

func normal(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case decimal.Decimal:
		return x.StringFixed(10)
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case []byte:
		return fmt.Sprintf("%x %t", x, x == nil)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return normal(v.Elem())
	case reflect.Struct:
		var list []any
		for _, field := range v.Fields() {
			list = append(list, normal(field))
		}
		return list
	default:
		return fmt.Sprintf("%q", fmt.Sprint(v.Interface()))
	}
}

var guid = mssql.UniqueIdentifier{0x6F, 0x96, 0x19, 0xFF, 0x8B, 0x86, 0xD0, 0x11, 0xB4, 0x2D, 0, 0xC0, 0x4F, 0xC9, 0x64, 0xFF}

func dec(s string) *decimal.Decimal { return new(decimal.RequireFromString(s)) }

// echoed are values that come back as they are, at the ends of their ranges.
func echoed() []livedb.EchoTypesParams {
	east := time.FixedZone("", 5*3600+1800)
	return []livedb.EchoTypesParams{
		{},
		{
			A: new(true), B: new(uint8(255)), C: new(int16(math.MinInt16)), D: new(int32(math.MinInt32)), E: new(int64(math.MinInt64)),
			F: new(float32(0.1)), G: new(0.1), H: dec("-9999999999999999999999999999.9999999999"), I: dec("-922337203685477.5808"),
			J: dec("214748.3647"), K: new("abcde"), L: new("naïve €"), M: new("åäö€x"), N: new(`quo"te\ 'it' ]]`), O: new(strings.Repeat("long 😀 ", 3000)),
			P: []byte{1, 2, 3, 4}, Q: []byte{}, R: &guid, S: new(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)),
			T: new(time.Date(1, 1, 1, 23, 59, 59, 999999000, time.UTC)), U: new(time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC)),
			V: new(time.Date(1753, 1, 1, 0, 0, 0, 3000000, time.UTC)), W: new(time.Date(2079, 6, 6, 23, 59, 0, 0, time.UTC)),
			X: new(time.Date(2024, 5, 1, 10, 11, 12, 123456000, east)), Y: new("<a>é</a>"),
		},
		{
			A: new(false), B: new(uint8(0)), E: new(int64(math.MaxInt64)), F: new(float32(math.MaxFloat32)), G: new(math.MaxFloat64),
			H: dec("0.0000000001"), I: dec("922337203685477.5807"), J: dec("-214748.3648"), K: new("     "), L: new(""), M: new("     "), N: new(""),
			O: new(""), P: []byte{0, 0, 0, 0}, Q: []byte{0, 255}, R: &mssql.UniqueIdentifier{}, S: new(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)),
			T: new(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)), U: new(time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)),
			V: new(time.Date(9999, 12, 31, 23, 59, 59, 997000000, time.UTC)), W: new(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)),
			X: new(time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)),
		},
	}
}

func testTypes(t *testing.T, q *livedb.Queries) {
	t.Helper()
	for i, p := range echoed() {
		got := must(q.EchoTypes(t.Context(), p))(t)
		if want := livedb.EchoTypesRow(p); !same(got.Row, want) {
			t.Errorf("case %d:\n got %v\nwant %v", i, normal(reflect.ValueOf(got.Row)), normal(reflect.ValueOf(want)))
		}
	}
}

func testNullsAsSQL(t *testing.T, q *nulldb.Queries) {
	t.Helper()
	at := time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)
	p := nulldb.EchoTypesParams{N: sql.Null[string]{V: "x", Valid: true}, U: sql.Null[time.Time]{V: at, Valid: true}}
	got := must(q.EchoTypes(t.Context(), p))(t).Row
	if got.N != p.N || got.U != p.U || got.D.Valid || got.R.Valid || got.Q != nil {
		t.Errorf("got %+v", got)
	}
	out := must(q.Bounce(t.Context(), nulldb.BounceParams{D: sql.Null[int32]{V: 7, Valid: true}}))(t)
	if out.D.V != 7 || out.E.Valid {
		t.Errorf("got %+v", out)
	}
}

func testOutputs(t *testing.T, q *livedb.Queries) {
	t.Helper()
	for i, e := range echoed() {
		p := livedb.BounceParams{
			A: e.A, B: e.B, C: e.C, D: e.D, E: e.E, F: e.F, G: e.G, I: e.I, J: e.J, L: e.L, M: e.M, N: e.N, O: e.O, Q: e.Q,
			R: e.R, S: e.S, T: e.T, U: e.U, V: e.V, W: e.W, X: e.X,
		}
		got := must(q.Bounce(t.Context(), p))(t)
		want := livedb.BounceResult{
			A: e.A, B: e.B, C: e.C, D: e.D, E: e.E, F: e.F, G: e.G, I: e.I, J: e.J, L: e.L, M: e.M, N: e.N, O: e.O, Q: e.Q,
			R: e.R, S: e.S, T: e.T, U: e.U, V: e.V, W: e.W, X: e.X,
		}
		if !same(got, want) {
			t.Errorf("case %d:\n got %v\nwant %v", i, normal(reflect.ValueOf(got)), normal(reflect.ValueOf(want)))
		}
		p.Clear = true
		if got := must(q.Bounce(t.Context(), p))(t); !same(got, livedb.BounceResult{}) {
			t.Errorf("cleared: got %v", normal(reflect.ValueOf(got)))
		}
	}
	got := must(q.BounceText(t.Context(), livedb.BounceTextParams{H: dec("-12345678901234567890.0123456789"), K: new("é"), Add: dec("0.0000000001")}))(t)
	if got.H.String() != "-12345678901234567890.0123456788" || *got.K != "é    " || got.ReturnStatus != 7 {
		t.Errorf("got %v %q %d", got.H, *got.K, got.ReturnStatus)
	}
	if got := must(q.BounceText(t.Context(), livedb.BounceTextParams{}))(t); got.H != nil || got.K != nil {
		t.Errorf("got %v", got)
	}
}

// testValuesFromNull receives values in output parameters that are sent as NULL: their type must be right without one.
func testValuesFromNull(t *testing.T, q *livedb.Queries) {
	t.Helper()
	at := time.Date(2024, 5, 1, 10, 11, 12, 123456000, time.UTC)
	want := livedb.GiveResult{
		A: new(true), B: new(uint8(255)), C: new(int16(math.MinInt16)), D: new(int32(math.MinInt32)), E: new(int64(math.MinInt64)),
		F: new(float32(0.5)), G: new(0.1), I: dec("-922337203685477.5808"), L: new("twenty characters xx"), M: new("abcde"),
		N: new("twenty characters xx"), O: new(strings.Repeat("long", 3000)), Q: []byte{0, 255}, R: &guid,
		S: new(at.Truncate(24 * time.Hour)), T: new(time.Date(1, 1, 1, 23, 59, 59, 999999000, time.UTC)), U: &at,
		V: new(at.Truncate(time.Millisecond)), W: new(at.Truncate(time.Minute)),
		X: new(time.Date(2024, 5, 1, 10, 11, 12, 123456000, time.FixedZone("", 5*3600+1800))),
	}
	if got := must(q.Give(t.Context(), livedb.GiveParams{}))(t); !same(got, want) {
		t.Errorf("\n got %v\nwant %v", normal(reflect.ValueOf(got)), normal(reflect.ValueOf(want)))
	}
	// A sign, a zero, a point and 38 digits.
	longest := decimal.RequireFromString("-0.12345678901234567890123456789012345678")
	for _, sent := range []*decimal.Decimal{nil, &longest} {
		got := must(q.Smallest(t.Context(), livedb.SmallestParams{H: sent, Take: longest}))(t)
		if got.H == nil || !got.H.Equal(longest) {
			t.Errorf("got %v, want %v", got.H, longest)
		}
	}
}

// testTransaction uses a transaction again behind all that can end a call, except for what ends the transaction.
func testTransaction(t *testing.T, q *livedb.Queries, db *sql.DB) {
	t.Helper()
	tx := must(db.BeginTx(t.Context(), nil))(t)
	defer func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}()
	q = q.WithTx(tx)
	count := must(q.CountItems(t.Context()))(t)
	fails := func(_ any, err error) error { return err }
	at := time.Now()
	for name, call := range map[string]func(ctx context.Context, cancel func()) error{
		"a server's error": func(ctx context.Context, _ func()) error {
			return fails(q.AddItems(ctx, []livedb.AddItemsParams{{ID: 0, MadeAt: at}}))
		},
		"a thrown error":    func(ctx context.Context, _ func()) error { return fails(q.Flow(ctx, livedb.FlowParams{Which: 5})) },
		"an unexpected set": func(ctx context.Context, _ func()) error { return fails(q.Flow(ctx, livedb.FlowParams{Which: 9})) },
		"no row":            func(ctx context.Context, _ func()) error { return fails(q.GetItem(ctx, livedb.GetItemParams{ID: -1})) },
		"an argument": func(ctx context.Context, _ func()) error {
			return q.RenameItem(ctx, livedb.RenameItemParams{Name: "\xff"})
		},
		"the end of its context": func(ctx context.Context, cancel func()) (last error) {
			for _, last = range q.CountTo(ctx, livedb.CountToParams{N: 9000}, nil) {
				cancel()
			}
			return last
		},
		"a break": func(ctx context.Context, _ func()) error {
			for range q.CountTo(ctx, livedb.CountToParams{N: 9000}, nil) {
				break
			}
			return errors.ErrUnsupported // a break is no error
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if err := call(ctx, cancel); err == nil {
			t.Errorf("%s: the call went well", name)
		}
		cancel()
		if got, err := q.CountItems(t.Context()); err != nil || got != count {
			t.Errorf("behind %s: got %d, %v", name, got, err)
		}
	}
}

// testRounds reads the sets of a loop.
func testRounds(t *testing.T, q *livedb.Queries) {
	t.Helper()
	row := func(n int32) livedb.RoundsNumbersRow { return livedb.RoundsNumbersRow{N: n} }
	word := &livedb.RoundsWordRow{Word: "x"}
	for n, want := range map[int32]livedb.RoundsResult{
		0: {Numbers: [][]livedb.RoundsNumbersRow{}, Left: []*int32{}, Word: word},
		3: {
			Numbers: [][]livedb.RoundsNumbersRow{{row(1), row(2)}, {row(1)}, {}},
			Left:    []*int32{new(int32(3)), new(int32(1))}, Word: word,
		},
	} {
		got := must(q.Rounds(t.Context(), livedb.RoundsParams{N: n}))(t)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("rounds %d:\n got %+v\nwant %+v", n, got, want)
		}
	}
}

func testFlow(t *testing.T, q *livedb.Queries, db *sql.DB) {
	t.Helper()
	seen := func(n int32) *int32 { return &n }
	numbers := []livedb.FlowNumbersRow{{N: 1}, {N: 2}, {N: 3}}
	none := []livedb.FlowNumbersRow{}
	chosen := func(n int32) livedb.FlowChoiceRow { return livedb.FlowChoiceRow{Chosen: n} }
	for which, want := range map[int32]livedb.FlowResult{
		0: {Seen: seen(0), ReturnStatus: 3, Numbers: none},
		1: {Seen: seen(1), Choice: chosen(1), ChoiceReturned: true, Numbers: numbers, NumbersReturned: true},
		2: {Seen: seen(2), Choice: chosen(2), ChoiceReturned: true, Numbers: none, WordReturned: true},
		3: {Seen: seen(3), Choice: chosen(3), ChoiceReturned: true, Numbers: none},
	} {
		got := must(q.Flow(t.Context(), livedb.FlowParams{Which: which}))(t)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("flow %d:\n got %+v\nwant %+v", which, got, want)
		}
	}
	for which, want := range map[int32]error{5: livedb.ErrLockLost, 6: livedb.ErrShape, 9: livedb.ErrShape} {
		_, err := q.Flow(t.Context(), livedb.FlowParams{Which: which})
		if !errors.Is(err, want) {
			t.Errorf("flow %d: got %v, want %v", which, err, want)
		}
		if sqlError := (mssql.Error{}); which == 5 && (!errors.As(err, &sqlError) || sqlError.Number != 50010) {
			t.Errorf("flow %d: no mssql.Error in %v", which, err)
		}
		t.Log(err)
	}
	if n := db.Stats().InUse; n != 0 {
		t.Errorf("%d connections are still in use", n)
	}
	for which, want := range map[int32]livedb.FiguresResult{
		1: {Set1: new(int32(41)), Set2: []livedb.FiguresSet2Row{{N: 1}}, Set3: livedb.FiguresSet3Row{N: decimal.NewFromInt(7), Column2: new(int32(8)), N2: 9}},
		2: {
			Set1: new(int32(42)), Set2: []livedb.FiguresSet2Row{{N: 1}, {N: 2}},
			Set3: livedb.FiguresSet3Row{N: decimal.RequireFromString("2.5"), N2: 3},
		},
	} {
		got := must(q.Figures(t.Context(), livedb.FiguresParams{Which: which}))(t)
		if !got.Set3.N.Equal(want.Set3.N) {
			t.Errorf("figures %d: got the number %s, want %s", which, got.Set3.N, want.Set3.N)
		}
		got.Set3.N = want.Set3.N
		if !reflect.DeepEqual(got, want) {
			t.Errorf("figures %d:\n got %+v\nwant %+v", which, got, want)
		}
	}
	if err := q.Nothing(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.Nothing(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func testStream(t *testing.T, q *livedb.Queries, db *sql.DB) {
	t.Helper()
	var result livedb.CountToResult
	var sum int32
	for row, err := range q.CountTo(t.Context(), livedb.CountToParams{N: 5000}, &result) {
		if err != nil {
			t.Fatal(err)
		}
		if sum == 0 && result.Head.Title != "head" {
			t.Errorf("the set in front of the stream is not there: %+v", result)
		}
		sum += row.N
	}
	if sum != 5000*5001/2 || result.Total == nil || *result.Total != 5000 {
		t.Errorf("got %d, %+v", sum, result)
	}
	for row, err := range q.CountTo(t.Context(), livedb.CountToParams{N: 5000}, &result) {
		if err != nil || row.N == 10 {
			break
		}
	}
	if result.Total != nil || db.Stats().InUse != 0 {
		t.Errorf("after a break: %+v, %d connections in use", result, db.Stats().InUse)
	}
}

func testQueries(t *testing.T, q *livedb.Queries, db *sql.DB) {
	t.Helper()
	at := time.Date(2024, 5, 1, 12, 0, 0, 123e6, time.FixedZone("", 7200))
	var list []livedb.AddItemsParams
	for i := range 2500 { // two and a half round trips
		list = append(list, livedb.AddItemsParams{ID: int64(i), Name: fmt.Sprint("n", i), Price: decimal.New(int64(i), -4), MadeAt: at})
	}
	if n := must(q.AddItems(t.Context(), list))(t); n != 2500 {
		t.Errorf("added %d", n)
	}
	if n := must(q.CountItems(t.Context()))(t); n != 2500 {
		t.Errorf("counted %d", n)
	}
	got := must(q.GetItem(t.Context(), livedb.GetItemParams{ID: 7}))(t)
	want := livedb.GetItemRow{ID: 7, Name: "n7", Price: decimal.New(7, -4), MadeAt: at.UTC()}
	if !same(got, want) {
		t.Errorf("got %+v", got)
	}
	if _, err := q.GetItem(t.Context(), livedb.GetItemParams{ID: -1}); !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("got %v", err)
	}
	// The second of three is there already: the first stays, the third is not tried.
	three := []livedb.AddItemsParams{{ID: 10000, MadeAt: at}, {ID: 1, MadeAt: at}, {ID: 10001, MadeAt: at}}
	if _, err := q.AddItems(t.Context(), three); !strings.Contains(fmt.Sprint(err), "AddItems") {
		t.Errorf("got %v", err)
	}
	if n := must(q.CountItems(t.Context()))(t); n != 2501 {
		t.Errorf("counted %d", n)
	}
	tx := must(db.BeginTx(t.Context(), nil))(t)
	if n := must(q.WithTx(tx).DropItem(t.Context(), livedb.DropItemParams{ID: 10000}))(t); n != 1 {
		t.Errorf("dropped %d", n)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if err := q.RenameItem(t.Context(), livedb.RenameItemParams{ID: 10000, Name: "😀"}); err != nil {
		t.Error(err)
	}
	names := must(q.ListNames(t.Context(), livedb.ListNamesParams{ID: 2499}))(t)
	if !reflect.DeepEqual(names, []string{"n2499", "😀"}) {
		t.Errorf("got %q", names)
	}
	for name, err := range q.ListNamesSeq(t.Context(), livedb.ListNamesParams{ID: 2499}) {
		if err != nil || name != "n2499" {
			t.Errorf("got %q, %v", name, err)
		}
		break
	}
	if list := must(q.ListNames(t.Context(), livedb.ListNamesParams{ID: 50000}))(t); list == nil || len(list) != 0 {
		t.Errorf("got %v", list)
	}
	ids := []livedb.IDListRow{{ID: 1}, {ID: 2, Label: new("x")}, {ID: 3}}
	if n := must(q.CountOf(t.Context(), livedb.CountOfParams{IDs: ids, MoreThan: 1}))(t); n != 2 {
		t.Errorf("counted %d", n)
	}
}

func testTableArguments(t *testing.T, q *livedb.Queries) {
	t.Helper()
	var rows []livedb.ItemListRow
	for i, e := range echoed() {
		code := e.L
		rows = append(rows, livedb.ItemListRow{
			ID: int64(i), Name: []string{"", "\t\r\n\"\\/\u2028\u2029😀~1~01\\u0041", "]'--"}[i], Price: e.H, Note: e.O, Data: e.Q, Code: code,
			Flag: e.A, Tiny: e.B, Small: e.C, Whole: e.D, Ratio: e.G, Narrow: e.F, Cash: e.I, GUID: e.R, Day: e.S, Clock: e.T, At2: e.U,
			At1: e.V, Ats: e.W, Ato: e.X,
		})
	}
	got := must(q.SaveItems(t.Context(), livedb.SaveItemsParams{Items: rows, Factor: new(int32(10))}))(t)
	if *got.Count != 30 || got.ReturnStatus != 4 || len(got.Items) != len(rows) {
		t.Fatalf("got %d, %d, %d rows", *got.Count, got.ReturnStatus, len(got.Items))
	}
	for i, row := range got.Items {
		if want := livedb.SaveItemsItemsRow(rows[i]); !same(row, want) {
			t.Errorf("row %d:\n got %v\nwant %v", i, normal(reflect.ValueOf(row)), normal(reflect.ValueOf(want)))
		}
	}
	for _, n := range []int{0, 10000} {
		many := make([]livedb.ItemListRow, n)
		for i := range many {
			many[i] = livedb.ItemListRow{ID: int64(i), Name: "x", Data: []byte{byte(i)}}
		}
		got := must(q.SaveItems(t.Context(), livedb.SaveItemsParams{Items: many}))(t)
		if int(*got.Count) != n || len(got.Items) != n || got.Items == nil {
			t.Errorf("%d rows: got %d and %d", n, *got.Count, len(got.Items))
		}
	}
}

// testTVP sends a table in the driver's own form.
func testTVP(t *testing.T, q *tvpdb.Queries) {
	t.Helper()
	rows := []tvpdb.IDListRow{{ID: 1}, {ID: 2, Label: new("\"é😀\"")}, {ID: 3, Label: new("")}}
	for _, rows := range [][]tvpdb.IDListRow{rows, nil} {
		got := must(q.EchoIDs(t.Context(), tvpdb.EchoIDsParams{IDs: rows}))(t)
		if len(got.Rows) != len(rows) {
			t.Fatalf("got %d rows", len(got.Rows))
		}
		for i, row := range got.Rows {
			if want := tvpdb.EchoIDsRow(rows[i]); !same(row, want) {
				t.Errorf("got %+v", row)
			}
		}
	}
	_, err := q.EchoIDs(t.Context(), tvpdb.EchoIDsParams{IDs: []tvpdb.IDListRow{{Label: new(strings.Repeat("x", 21))}}})
	if !errors.Is(err, tvpdb.ErrArgument) {
		t.Errorf("got %v", err)
	}
}

// testTwoInOne calls a procedure that calls two others. What the first has committed stays, whatever becomes of the second.
func testTwoInOne(t *testing.T, q *tvpdb.Queries, db *sql.DB, schema string) {
	t.Helper()
	noted := tvpdb.NoteAndTakeNotedRow{IDs: 2}
	failure := func(number int32, text string) tvpdb.NoteAndTakeFailureRow {
		return tvpdb.NoteAndTakeFailureRow{ErrorNumber: number, ErrorMessage: text}
	}
	taken := []tvpdb.NoteAndTakeTakenRow{{ID: -8}, {ID: -7}}
	ids := []tvpdb.IDListRow{{ID: 7}, {ID: 8}}
	for fail, c := range []struct {
		want   tvpdb.NoteAndTakeResult
		stored int64
	}{
		{tvpdb.NoteAndTakeResult{Noted: noted, Taken: taken, TakenReturned: true}, -15},
		{tvpdb.NoteAndTakeResult{Noted: noted, Taken: taken[:0], Failure: failure(50021, "it's early"), FailureReturned: true}, 15},
		{tvpdb.NoteAndTakeResult{Noted: noted, Taken: taken, TakenReturned: true, Failure: failure(50022, "it's late"), FailureReturned: true}, 15},
	} {
		got := must(q.NoteAndTake(t.Context(), tvpdb.NoteAndTakeParams{IDs: ids, Fail: int32(fail)}))(t)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d:\n got %+v\nwant %+v", fail, got, c.want)
		}
		var stored int64
		row := db.QueryRowContext(t.Context(), "SELECT SUM(id) FROM "+schema+".journal; DELETE FROM "+schema+".journal")
		if err := row.Scan(&stored); err != nil || stored != c.stored {
			t.Errorf("%d: %d is stored, want %d: %v", fail, stored, c.stored, err)
		}
	}
	// What the first fails with is the call's, and the second does not run.
	if _, err := db.ExecContext(t.Context(), "INSERT INTO "+schema+".journal (id) VALUES (8)"); err != nil {
		t.Fatal(err)
	}
	_, err := q.NoteAndTake(t.Context(), tvpdb.NoteAndTakeParams{IDs: ids})
	if sqlError, ok := errors.AsType[mssql.Error](err); !ok || sqlError.Number != 2627 {
		t.Errorf("got %v, want a duplicate key", err)
	}
	var stored int64
	if err := db.QueryRowContext(t.Context(), "SELECT SUM(id) FROM "+schema+".journal; DELETE FROM "+schema+".journal").Scan(&stored); err != nil || stored != 8 {
		t.Errorf("%d is stored, want 8: %v", stored, err)
	}
}

// testNames calls in a schema whose name holds what ends a name or a text in T-SQL.
func testNames(t *testing.T, db *sql.DB) {
	t.Helper()
	name := fmt.Sprintf(`gen]. live'" --%d`, time.Now().UnixNano())
	run := func(ctx context.Context, statements ...string) {
		for _, text := range statements {
			if _, err := db.ExecContext(ctx, strings.ReplaceAll(text, "gen_live", "["+strings.ReplaceAll(name, "]", "]]")+"]")); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	run(t.Context(), "CREATE SCHEMA gen_live", "CREATE TABLE gen_live.items (id bigint)", "CREATE PROCEDURE gen_live.nothing AS SET NOCOUNT ON")
	defer run(context.WithoutCancel(t.Context()), "DROP PROCEDURE gen_live.nothing", "DROP TABLE gen_live.items", "DROP SCHEMA gen_live")
	q := livedb.New(db, livedb.WithSchema("gen_live", name))
	if err := q.Nothing(t.Context()); err != nil {
		t.Error(err)
	}
	if n := must(q.CountItems(t.Context()))(t); n != 0 {
		t.Errorf("counted %d", n)
	}
}

// TestArguments needs no server: nothing is sent.
func TestArguments(t *testing.T) {
	t.Parallel()
	q := livedb.New(nil)
	year := func(y int) *time.Time { return new(time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)) }
	for name, p := range map[string]livedb.EchoTypesParams{
		"@f is not a finite number":                                        {F: new(float32(math.Inf(1)))},
		"@g is not a finite number":                                        {G: new(math.NaN())},
		"@h has more than the 10 digits behind the point":                  {H: dec("0.00000000001")},
		"@h has more than 28 digits before the point of decimal(38, 10)":   {H: new(decimal.New(1, 1<<30))},
		"@h has more than the 10 digits behind the point of decimal(38, 1": {H: new(decimal.New(1, -1<<30))},
		"@i is not between -922337203685477.5808 and 922337203685477.5807": {I: dec("922337203685477.5808")},
		"@j is not between -214748.3648 and 214748.3647":                   {J: dec("-214748.3649")},
		"@k has 6 characters, more than char(5) holds":                     {K: new("äöüäöü")},
		"@l has 21 characters, more than varchar(20) holds":                {L: new(strings.Repeat("x", 21))},
		"@m has 6 characters, more than nchar(5) holds":                    {M: new("😀😀😀")},
		"@n has 21 characters, more than nvarchar(20) holds":               {N: new(strings.Repeat("x", 21))},
		"@o is not valid UTF-8":                                            {O: new("a\xff")},
		"@p has 5 bytes, more than the 4 that fit":                         {P: make([]byte, 5)},
		"@s is not in the years 1 to 9999":                                 {S: year(10000)},
		"@u is not in the years 1 to 9999":                                 {U: year(0)},
		"@v is not between 1753-01-01 00:00:00 and":                        {V: year(1752)},
		"@w is not between 1900-01-01 00:00:00 and 2079-06-06 23:59:29":    {W: year(2080)},
		"@x is more than 14 hours away from UTC":                           {X: new(time.Now().In(time.FixedZone("", 15*3600)))},
	} {
		_, err := q.EchoTypes(t.Context(), p)
		if !errors.Is(err, livedb.ErrArgument) || !strings.HasPrefix(err.Error(), "livedb: gen_live.echo_types: argument "+name) {
			t.Errorf("got  %v\nwant %s", err, name)
		}
	}
	_, err := q.SaveItems(t.Context(), livedb.SaveItemsParams{Items: []livedb.ItemListRow{{}, {Name: strings.Repeat("x", 51)}}})
	if want := "livedb: gen_live.save_items: argument @items row 1: column name has 51 characters, more than nvarchar(50) holds"; fmt.Sprint(err) != want {
		t.Errorf("got %v", err)
	}
	_, err = q.AddItems(t.Context(), []livedb.AddItemsParams{{}, {Name: "\xff"}})
	if want := "livedb: AddItems: argument of element 1: @name is not valid UTF-8"; !strings.HasPrefix(fmt.Sprint(err), want) || !errors.Is(err, livedb.ErrArgument) {
		t.Errorf("got %v", err)
	}
	bad := livedb.New(nil, livedb.WithSchema("gen_live", ""))
	if err := bad.Nothing(t.Context()); err == nil {
		t.Error("an empty schema is accepted")
	}
}
