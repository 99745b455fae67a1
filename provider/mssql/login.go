package mssql

import (
	"context"
	"database/sql/driver"
	"net"
	"sync"
	"time"

	sqlserver "github.com/microsoft/go-mssqldb"
)

// loginTimeout bounds connecting and logging in. Without it the pool, which also
// connects in the background, could wait for ever. A database in Azure that was paused,
// and a token that has to be fetched, take their time.
const loginTimeout = time.Minute

// patient is a connector that gives a login up when its context ends or it takes too
// long. The driver heeds the context only until the network connection stands, and then
// waits for the server's answers without end.
type patient struct {
	*sqlserver.Connector
	timeout time.Duration
}

// givesUp makes the driver's connector a patient one. Others are left as they are, and
// so are those that dial by host name in a network of their own.
func givesUp(c driver.Connector, keepAlive time.Duration) driver.Connector {
	connector, ok := c.(*sqlserver.Connector)
	if !ok {
		return c
	}
	if _, ok := connector.Dialer.(sqlserver.HostDialer); ok {
		return c
	}
	if connector.Dialer == nil {
		connector.Dialer = &net.Dialer{KeepAlive: keepAlive}
	}
	connector.Dialer = loginDialer{connector.Dialer}
	return patient{connector, loginTimeout}
}

// login is the network connections of one login: several, if the server sends the
// client on to another.
type login struct {
	mu      sync.Mutex
	conns   []net.Conn
	givenUp bool
}

// loginKey is the key of the login in the context that its dialer is given.
type loginKey struct{}

// Connect implements [driver.Connector].
func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var l login
	stop := context.AfterFunc(ctx, l.giveUp)
	conn, err := p.Connector.Connect(context.WithValue(ctx, loginKey{}, &l))
	if stop() {
		return conn, err
	}
	// Its network connection is closed, or is about to be.
	if err == nil {
		_ = conn.Close()
	}
	return nil, ctx.Err()
}

// giveUp closes what the login has opened, and what it will open.
func (l *login) giveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.givenUp = true
	for _, conn := range l.conns {
		_ = conn.Close()
	}
}

// add makes the connection one of the login's.
func (l *login) add(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, conn)
	if l.givenUp {
		_ = conn.Close()
	}
}

// loginDialer tells a login of its connections.
type loginDialer struct{ sqlserver.Dialer }

// DialContext implements [sqlserver.Dialer].
func (d loginDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, addr)
	if l, ok := ctx.Value(loginKey{}).(*login); ok && err == nil {
		l.add(conn)
	}
	return conn, err
}
