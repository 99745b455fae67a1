package mssqltest

import (
	"net"
	"testing"
)

// Listen is what stands in for a server: serve is called with each connection, one after
// the other, until the test ends. addr is where it listens.
func Listen(t testing.TB, serve func(net.Conn)) (addr string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
		}
	}()
	return l.Addr().String()
}
