package mssql

import (
	"fmt"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
	"github.com/duroxide/duroxide-go/provider/providertest/linear"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Calls that many clients make at the same time are answered as if they had been made one after the other, with row
// versions and without. The server's clock is the test's, so that leases end often.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	histories := linear.Amount(t, 12)
	for _, versions := range []bool{false, true} {
		t.Run(fmt.Sprint("row versions ", versions), func(t *testing.T) {
			t.Parallel()
			clock := tsqltest.NewClock(time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC))
			server := tsqltest.New(t, tsqltest.Options{Clock: clock, RowVersions: versions})
			if _, err := (&migrate.Migration{DB: server.DB()}).Up(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := server.ApplyText(t.Context(), "", mssqltest.Amendment(t)); err != nil {
				t.Fatal(err)
			}
			store := newStore(t, server.DB(), "duroxide")
			for n := range uint64(histories) {
				r := &linear.Recorder{
					Clock: func() int64 { return clock.Now().UnixMilli() },
					// A fetch waits for 150 ms for rows that others keep locked.
					Patience: 100 * time.Millisecond,
				}
				err := linear.Workload{
					Name: fmt.Sprint("w", n), Seed: n, Clients: 4, Calls: 15, Instances: 2, Sessions: n%3 == 0, Advance: clock.Advance,
				}.Run(t.Context(), r, store)
				if err != nil {
					t.Fatal(err)
				}
				anomaly, err := linear.Check(r.Calls())
				if anomaly != nil || err != nil {
					t.Fatalf("history %d: %v\n%v", n, err, anomaly)
				}
			}
		})
	}
}
