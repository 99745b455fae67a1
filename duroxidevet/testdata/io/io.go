// Package io has orchestrations that do I/O.
package io

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/orchestration"
)

var logger = slog.New(slog.DiscardHandler)

func bad(ctx *orchestration.Context, db *sql.DB) (string, error) {
	_, _ = os.ReadFile("x")                           // want `os.ReadFile does I/O, which a replay repeats; do it in an activity`
	_, _ = os.Stdin.Read(nil)                         // want `os.File.Read does I/O` `os.Stdin does I/O`
	_, _ = http.Get("http://localhost")               // want `http.Get does I/O`
	_, _ = http.DefaultClient.Do(nil)                 // want `http.Client.Do does I/O` `http.DefaultClient does I/O`
	_, _ = net.Dial("tcp", "localhost:1")             // want `net.Dial does I/O`
	_, _ = net.LookupHost("localhost")                // want `net.LookupHost does I/O`
	_ = db.PingContext(nil)                           // want `sql.DB.PingContext does I/O`
	_ = exec.Command("true").Run()                    // want `exec.Command does I/O` `exec.Cmd.Run does I/O`
	_, _ = filepath.Glob("*")                         // want `filepath.Glob does I/O`
	fmt.Println("started")                            // want `fmt.Println writes again in every replay; use ctx.Logger\(nil\)`
	fmt.Fprintln(os.Stderr, "started")                // want `os.Stderr does I/O`
	log.Printf("started")                             // want `log.Printf writes again in every replay`
	slog.Info("started")                              // want `slog.Info writes again in every replay`
	slog.Default().Info("started")                    // want `the logger writes again in every replay; use ctx.Logger\(base\)`
	logger.Info("started")                            // want `the logger writes again in every replay`
	_, _ = client.Start(nil, nil, other, "id", 1)     // want `client.Start asks a store from inside an orchestration; use orchestration.SubOrchestration or orchestration.Detach`
	_ = client.RaiseEvent(nil, nil, paid, "id", 1)    // want `client.RaiseEvent asks a store from inside an orchestration`
	_ = client.Enqueue(nil, nil, orders, "id", 1)     // want `client.Enqueue asks a store`
	_, _, _ = client.Value(nil, nil, total, "id")     // want `client.Value asks a store`
	_, _ = client.WaitForValue(nil, nil, total, "id") // want `client.WaitForValue asks a store`
	return fmt.Sprintf("%p", db), nil                 // want `%p prints an address, another one in each process`
}

var (
	other  = orchestration.Declare[int, int]("Other")
	paid   = orchestration.NewEvent[int]("paid")
	orders = orchestration.NewQueue[int]("orders")
	total  = orchestration.NewKey[int]("total")
)

func good(ctx *orchestration.Context, text string) (string, error) {
	log := ctx.Logger(logger)
	log.Info("started")
	ctx.Logger(nil).Error("failed")
	ctx.Logger(slog.Default()).Info("started")
	_, _ = io.ReadAll(strings.NewReader(text))
	_ = net.ParseIP("::1")
	_, _ = netip.ParseAddr("::1")
	_, _ = url.Parse(text)
	_ = http.StatusText(http.StatusOK)
	_ = filepath.Join("a", "b")
	_ = os.IsNotExist(nil) || errors.Is(nil, fs.ErrNotExist)
	var missing sql.NullString
	return fmt.Sprintf("100%%p %v", missing), sql.ErrNoRows
}

// activity may do all of it.
func charge(ctx context.Context, cents int) (time.Time, error) {
	fmt.Println(os.Getenv("HOME"))
	return time.Now(), nil
}
