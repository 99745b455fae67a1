package wire_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/server/wire"
	"github.com/duroxide/duroxide-go/tsql/tdsproxy"
)

// The proxy that cuts connections stands before the server: it counts, and cuts at every byte of an answer.
func TestThroughProxy(t *testing.T) {
	t.Parallel()
	var executed atomic.Int32
	server := serve(t, scripts{"p": func(q *query) error {
		executed.Add(1)
		return errors.Join(q.numbers("a", 1), q.ReturnStatus(0))
	}}, wire.Options{})
	proxy := tdsproxy.New(t, server.addr)
	for _, encrypt := range []string{"disable", "false"} {
		db := unverified(t, proxy.Addr(), "encrypt="+encrypt)
		before := proxy.Requests()
		if _, err := db.ExecContext(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
		if got := proxy.Requests().Minus(before); got != (tdsproxy.Counts{RPCs: 1}) {
			t.Errorf("encrypt=%s: the proxy has seen %+v", encrypt, got)
		}
	}
	db := open(t, proxy.Addr(), "disableretry=true")
	for after := 0; ; after++ {
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		proxy.OnRequest(func(tdsproxy.Request) tdsproxy.Action {
			return tdsproxy.Action{Fault: tdsproxy.CutAnswer, After: after}
		})
		count := executed.Load()
		_, err := db.ExecContext(t.Context(), "p")
		proxy.OnRequest(nil)
		if executed.Load() != count+1 {
			t.Fatalf("cut after %d bytes: the procedure was executed %d times", after, executed.Load()-count)
		}
		if err == nil {
			break // the whole answer has come through
		}
	}
}

// A request of which the server gets a part only is not executed, and what executes when the client goes is cancelled.
func TestRequestCut(t *testing.T) {
	t.Parallel()
	begun, cancelled := make(chan struct{}, 1), make(chan struct{})
	var executed atomic.Int32
	server := serve(t, scripts{
		"p": func(*query) error {
			executed.Add(1)
			return nil
		},
		"waits": func(q *query) error {
			begun <- struct{}{}
			<-q.ctx.Done()
			close(cancelled)
			return nil
		},
	}, wire.Options{})
	proxy := tdsproxy.New(t, server.addr)
	db := open(t, proxy.Addr(), "disableretry=true")
	proxy.OnRequest(func(r tdsproxy.Request) tdsproxy.Action {
		return tdsproxy.Action{Fault: tdsproxy.CutRequest, After: r.Size - 1}
	})
	if _, err := db.ExecContext(t.Context(), "p"); err == nil || executed.Load() != 0 {
		t.Errorf("executed %d times: %v", executed.Load(), err)
	}
	r := dial(t, server.addr)
	r.in(tds74, nil)
	r.send(batch, last, text("waits"))
	<-begun
	_ = r.Close()
	<-cancelled
}

// Many clients call, cancel and close at once.
func TestConcurrently(t *testing.T) {
	t.Parallel()
	_, db := start(t, scripts{"rows": func(q *query) error { return q.numbers("a", make([]int64, 3000)...) }})
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for k := range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				if (i+k)%3 == 0 {
					go cancel()
				}
				rows, err := db.QueryContext(ctx, "rows")
				if err == nil && k%5 != 0 {
					_, err = list(rows)
				} else if err == nil {
					err = rows.Close() //nolint:sqlclosecheck // closing is what is tested
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	clients.Wait()
}

// A client that does not read holds up its session, through the hook, and nobody else.
func TestClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{}, 1)
	h := &handler{scripts: scripts{
		"endless": func(q *query) error {
			big := value.OfString(string(make([]byte, 8000)))
			if err := q.Columns([]request.Column{{Name: "c", Type: value.VarChar(8000)}}); err != nil {
				return err
			}
			for {
				if err := q.Row([]value.Value{big}); err != nil {
					return err
				}
			}
		},
	}}
	var depth atomic.Int32
	server := wire.New(h, wire.Options{Blocking: func(_ request.Session, wait func()) {
		depth.Add(1)
		defer depth.Add(-1)
		select {
		case waiting <- struct{}{}:
		default:
		}
		wait()
	}})
	listener := listen(t)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	r := dial(t, listener.Addr().String())
	r.in(tds74, nil)
	r.send(batch, last, text("endless"))
	<-waiting
	if err := open(t, listener.Addr().String()).PingContext(t.Context()); err != nil {
		t.Error(err)
	}
	server.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if depth.Load() != 0 {
		t.Error("something still waits for the client")
	}
}

// BenchmarkCall calls a procedure with a few parameters, which returns a row and a status.
func BenchmarkCall(b *testing.B) {
	server := serve(b, nil, wire.Options{})
	db := open(b, server.addr)
	b.ReportAllocs()
	for b.Loop() {
		var status mssql.ReturnStatus
		var id string
		var n int64
		var blob []byte
		err := db.QueryRowContext(b.Context(), "echo", sql.Named("id", "instance-0123456789"), sql.Named("n", int64(7)),
			sql.Named("blob", make([]byte, 200)), &status).Scan(&id, &n, &blob)
		if err != nil {
			b.Fatal(err)
		}
	}
}
