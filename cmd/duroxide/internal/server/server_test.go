package server

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

func TestMain(m *testing.M) { mssqltest.Run(m) }

func TestAddress(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ address, schema string }{
		{"sqlserver://sa:p%40ss@host:1433?database=orders", "duroxide"},
		{"sqlserver://sa:p%40ss@host:1433?database=orders&schema=tenant+a", "tenant a"},
		{"sqlserver://sa:p%40ss@host:1433?database=orders&Schema=b&encrypt=disable", "b"},
		{"sqlserver://host?schema=", "duroxide"},
	} {
		a := Address(test.address)
		if got, err := a.Schema(); err != nil || got != test.schema {
			t.Errorf("%s: schema %q, %v; want %q", a, got, err, test.schema)
		}
	}
	other, err := Address("sqlserver://sa:p%40ss@host:1433?Schema=b&database=orders").WithSchema("it's")
	if want := "sqlserver://sa:p%40ss@host:1433?database=orders&schema=it%27s"; err != nil || string(other) != want {
		t.Fatalf("got %s, %v; want %s", other, err, want)
	}
	if schema, err := other.Schema(); err != nil || schema != "it's" {
		t.Errorf("got %q, %v", schema, err)
	}
	if !IsAddress("sqlserver://x") || !IsAddress("mssql://x") || IsAddress("sqlite:sqlserver://x") {
		t.Error("kinds of stores are mixed up")
	}
}

// TestAnAddressIsNotReadByHalf has parameters that would be lost, here that of an encrypted
// connection, and a schema that would be another one. Nothing of the address may be in the
// error.
func TestAnAddressIsNotReadByHalf(t *testing.T) {
	t.Parallel()
	for _, address := range []Address{
		"sqlserver://sa:sesame@host?database=orders;encrypt=strict",
		"sqlserver://sa:sesame@host?database=orders&encrypt=strict;x=sesame",
		"sqlserver://sa@host?database=orders&encrypt=strict&password=ses%ame",
		"sqlserver://sa:sesame@host?schema=tenant;x",
		"sqlserver://sa:sesame@host?schema=tenant&Schema=other",
		"sqlserver://sa:ses%ame@host?database=orders",
	} {
		schema, err := address.Schema()
		other, withErr := address.WithSchema("tenant")
		_, scratchErr := OpenScratch(t.Context(), nil, address, "claim-1-0")
		_, connectErr := Connect(t.Context(), nil, address)
		for _, err := range []error{err, withErr, scratchErr, connectErr} {
			if !errors.Is(err, provider.ErrInvalidArgument) || strings.Contains(err.Error(), "ses") || schema != "" || other != "" {
				t.Errorf("%s: %q, %q, %v", address, schema, other, err)
			}
		}
	}
}

// TestRoundTripsAreCounted has two requests of several packets each, and an answer that
// comes in pieces.
func TestRoundTripsAreCounted(t *testing.T) {
	t.Parallel()
	client, peer := net.Pipe()
	defer peer.Close()
	trips := &atomic.Int64{}
	conn := &countingConn{Conn: client, trips: trips}
	defer conn.Close()
	exchange := func(request, answer string) {
		t.Helper()
		for _, packet := range request {
			go func() { _, _ = conn.Write([]byte(string(packet))) }()
			if _, err := io.ReadFull(peer, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		go func() { _, _ = peer.Write([]byte(answer)) }()
		one := make([]byte, 1)
		for range answer {
			if _, err := io.ReadFull(conn, one); err != nil {
				t.Fatal(err)
			}
		}
	}
	exchange("abc", "xyz")
	exchange("d", "v")
	if got := trips.Load(); got != 2 {
		t.Errorf("%d round trips counted, want 2", got)
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // nothing to cancel
	if err != nil {
		t.Fatal(err)
	}
	address := Address("sqlserver://sa:sesame@" + listener.Addr().String() + "?database=orders")
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, openErr := Open(t.Context(), nil, address)
	_, connectErr := Connect(t.Context(), nil, address)
	_, scratchErr := OpenScratch(t.Context(), nil, address, "claim-1-0")
	for _, err := range []error{openErr, connectErr, scratchErr} {
		if err == nil || strings.Contains(err.Error(), "sesame") || errors.Is(err, provider.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	}
}

// TestASchemaThatExistsIsNoScratch keeps the rig from removing what it has not made: the
// schema of another run, and one that has nothing to do with us. The run that has made it
// can open it again.
func TestASchemaThatExistsIsNoScratch(t *testing.T) {
	t.Parallel()
	const label = "claim-1-0"
	schema := mssqltest.Name()
	taken := schema + "_claim_1_0"
	mssqltest.Drop(t, taken)
	address, err := Address(mssqltest.DSN(t)).WithSchema(schema)
	if err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		if _, err := OpenScratch(t.Context(), nil, address, label); !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "duroxide migrate drop --yes") {
			t.Errorf("got %v", err)
		}
	}
	run := func(statement string) {
		t.Helper()
		if _, err := mssqltest.DB(t).ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE SCHEMA " + quote(taken))
	refused()
	run("DROP SCHEMA " + quote(taken)) // and it is still there to be dropped

	scratch, err := OpenScratch(t.Context(), nil, address, label)
	if err != nil {
		t.Fatal(err)
	}
	refused()
	if err := scratch.Renew(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := scratch.Admin().GetSystemMetrics(t.Context()); err != nil {
		t.Errorf("the schema has gone: %v", err)
	}
	if err := scratch.Close(); err != nil {
		t.Error(err)
	}
	again, err := OpenScratch(t.Context(), nil, address, label)
	if err != nil {
		t.Fatalf("the schema has stayed: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestOnlyTheMakerOfASchemaRemovesIt has the steps of a run that has made the schema, and
// of one that came second, or brought somebody's schema up to date.
func TestOnlyTheMakerOfASchemaRemovesIt(t *testing.T) {
	t.Parallel()
	apply := migrate.Step{Action: "apply"}
	for name, test := range map[string]struct {
		steps []migrate.Step
		made  bool
	}{
		"first":   {[]migrate.Step{{Action: migrate.ActionCreate}, apply}, true},
		"second":  {nil, false},
		"upgrade": {[]migrate.Step{apply}, false},
	} {
		if made := makesSchema(&migrate.Plan{Steps: test.steps}); made != test.made {
			t.Errorf("%s: %v", name, made)
		}
	}
}

func TestServersAreJudged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		facts facts
		want  Level
	}{
		{facts{version: "13.0.4001.0"}, OK},
		{facts{version: "13.0.1601.5"}, Problem},
		{facts{version: "12.0.6024.0"}, Problem},
		{facts{version: "16.0.4135.4"}, OK},
		{facts{version: "12.0.2000.8", azure: true}, OK},
		{facts{version: "who knows"}, OK},
		{facts{version: "13"}, OK},
	} {
		if got := judgeServer("Developer Edition", test.facts); got.Level != test.want {
			t.Errorf("%+v: %s, want %s", test.facts, got.Level, test.want)
		}
	}
	if !isAzure(5) || !isAzure(8) || isAzure(3) || isAzure(4) {
		t.Error("servers are mixed up")
	}
	for level, want := range map[int64]Level{120: Warning, 130: OK, 160: OK} {
		got := judgeCompatibility(level, "a]b")
		if got.Level != want || level < 130 && got.Statement != "ALTER DATABASE [a]]b] SET COMPATIBILITY_LEVEL = 130;" {
			t.Errorf("level %d: %+v, want %s", level, got, want)
		}
	}
}

func TestDatabaseOptionsAreJudged(t *testing.T) {
	t.Parallel()
	all := map[string]setting{}
	for _, s := range databaseSettings() {
		all[s.check] = s
	}
	for _, test := range []struct {
		check     string
		value     *int64
		want      Level
		statement string
	}{
		{"row versioning", new(int64(1)), OK, ""},
		{"row versioning", new(int64(0)), Warning, "ALTER DATABASE [a]]b] SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE;"},
		{"durability", new(int64(0)), OK, ""},
		{"durability", new(int64(1)), OK, ""}, // if a transaction asks for it, and none does
		{"durability", new(int64(2)), Problem, "ALTER DATABASE [a]]b] SET DELAYED_DURABILITY = DISABLED;"},
		{"optimized locking", nil, OK, ""}, // before 2025
		{"query store", new(int64(7)), OK, ""},
		{"ledger", nil, OK, ""}, // before 2022
		{"ledger", new(int64(0)), OK, ""},
		{"ledger", new(int64(1)), Problem, ""},
	} {
		f := all[test.check].judge(test.value, "a]b")
		if f.Level != test.want || f.Statement != test.statement {
			t.Errorf("%s: %+v, want %s and %s", test.check, f, test.want, test.statement)
		}
	}
	for updateability, want := range map[string]Level{"READ_WRITE": OK, "": OK, "READ_ONLY": Problem} {
		if f := judgeWritable(updateability); f.Level != want || (want == OK) != (f.Advice == "") {
			t.Errorf("%q: %+v, want %s", updateability, f, want)
		}
	}
}

func TestGrantsAreJudged(t *testing.T) {
	t.Parallel()
	user := "bob"
	for name, test := range map[string]struct {
		grants  grants
		missing bool
		want    Level
		says    string
	}{
		"owner":            {grants{user: user, read: true, work: true, remove: true, owner: true}, false, OK, "may migrate"},
		"administrator":    {grants{user: user, read: true, work: true, remove: true, runtime: true}, false, OK, "may work, delete and prune"},
		"worker":           {grants{user: user, read: true, work: true, runtime: true}, false, OK, "deleting and pruning need the role [s_admin]"},
		"reader":           {grants{user: user, read: true}, false, Problem, "ALTER ROLE [s_runtime] ADD MEMBER [bob];"},
		"stranger":         {grants{user: user}, false, Problem, "ALTER ROLE [s_runtime] ADD MEMBER [bob];"},
		"role without":     {grants{user: user, runtime: true}, false, Problem, "may not call the procedures that workers call"},
		"nothing to call":  {grants{user: user}, true, OK, "bob"},
		"owner, no schema": {grants{user: user, owner: true}, true, OK, "bob"},
	} {
		f := judgeGrants(test.grants, "s", test.missing)
		if f.Level != test.want || !strings.Contains(f.Detail+f.Advice+f.Statement, test.says) {
			t.Errorf("%s: %+v, want %s that says %q", name, f, test.want, test.says)
		}
	}
}

func TestClocksAreJudged(t *testing.T) {
	t.Parallel()
	const backAnHour = "never set it back: set back by an hour, it makes timers an hour late, and work of a worker that died waits an hour longer"
	for _, test := range []struct {
		ahead, trip time.Duration
		want        Level
		says        string
	}{
		{0, time.Millisecond, OK, "0s ahead of"},
		{-900 * time.Millisecond, time.Millisecond, OK, "900ms behind"},
		{2 * time.Second, time.Millisecond, Warning, "2s ahead of"},
		{-2 * time.Second, 3 * time.Second, OK, "2s behind"},     // too slow to tell
		{-time.Minute, time.Millisecond, Warning, "1m0s behind"}, // a nuisance, and no worker works wrongly
	} {
		f := judgeClock(clockReading{test.ahead, test.trip})
		if f.Level != test.want || !strings.Contains(f.Detail, test.says) || (f.Level == OK) != (f.Advice == "") ||
			f.Level != OK && (!strings.Contains(f.Advice, "leases and timers are right") || !strings.Contains(f.Advice, backAnHour)) {
			t.Errorf("%v within %v: %+v, want %s", test.ahead, test.trip, f, test.want)
		}
	}
}

func TestConnectionsAreJudged(t *testing.T) {
	t.Parallel()
	if f := judgeConnections(10, 32767); f.Level != OK {
		t.Errorf("got %+v", f)
	}
	if f := judgeConnections(500, 300); f.Level != Problem || f.Advice == "" {
		t.Errorf("got %+v", f)
	}
}

func TestDifferencesAreJudged(t *testing.T) {
	t.Parallel()
	f := judgeProblem(migrate.Problem{Kind: migrate.ProblemEditedModule, Object: "lock_inbox", Detail: "edited on the server; `duroxide migrate up` repairs it"})
	if want := (Finding{Level: Problem, Detail: "lock_inbox: edited on the server", Advice: "`duroxide migrate up` repairs it"}); f != want {
		t.Errorf("got %+v, want %+v", f, want)
	}
	f = judgeProblem(migrate.Problem{Kind: migrate.ProblemExtraModule, Object: "report", Detail: "is not ours; it stays"})
	if want := (Finding{Level: Warning, Detail: "report: is not ours", Advice: "it stays"}); f != want {
		t.Errorf("got %+v, want %+v", f, want)
	}
}

// TestTroubleThatADoctorCanLookAt keeps Connect from giving up where the schema is what
// is wrong, and from going on where it is the server.
func TestTroubleThatADoctorCanLookAt(t *testing.T) {
	t.Parallel()
	for _, err := range []error{migrate.ErrMissingSchema, migrate.ErrOldSchema, migrate.ErrNewerSchema, migrate.ErrChangedScript} {
		if !aboutTheSchema(errors.Join(io.EOF, err)) {
			t.Errorf("%v is no trouble with the schema", err)
		}
	}
	for _, err := range []error{context.Canceled, io.EOF} {
		if aboutTheSchema(err) {
			t.Errorf("%v is trouble with the schema", err)
		}
	}
}

// Code that no worker has is a warning with its name and version.
func TestUnknownCodeIsAWarning(t *testing.T) {
	t.Parallel()
	for want, code := range map[string]mssqldb.ListUnknownCodeCodesRow{
		"3 held, the first since 2025-01-31 08:00:00: work waits for version 2.0.0 of Order, which no worker has had since 2025-01-31 07:59 UTC": {
			Name: "Order", Version: "2.0.0", Waiting: 3, ReadyAt: 1738310400000, SeenAt: new(int64(1738310390000)),
		},
		"1 held, the first since 2025-01-31 08:00:00: work waits for activity Charge, which no worker has": {
			Name: "Charge", Activity: true, Waiting: 1, ReadyAt: 1738310400000,
		},
	} {
		if f := judgeUnknown(code); f.Level != Warning || f.Detail != want || f.Advice == "" {
			t.Errorf("%+v, want %q", f, want)
		}
	}
}

// Held instances are a warning with how many there are, and why the first one is held.
func TestHeldInstancesAreAWarning(t *testing.T) {
	t.Parallel()
	if f := judgeHeld(nil); f.Level != OK || f.Detail == "" {
		t.Errorf("nothing is held: %+v", f)
	}
	f := judgeHeld([]mssqldb.ListHeldInstancesHeldRow{{Misfit: "event 7 was a timer", Since: 1738310400000}, {Misfit: "another"}})
	if want := "2 held, the first since 2025-01-31 08:00:00: event 7 was a timer"; f.Level != Warning || f.Detail != want || !strings.Contains(f.Advice, "duroxide retry --all") {
		t.Errorf("%+v, want %q", f, want)
	}
}
