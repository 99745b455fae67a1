package mssqltest

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/microsoft/go-mssqldb/msdsn"
)

// defaultPort is SQL Server's.
const defaultPort = 1433

// Addr is the server's address, "host:port", for a proxy in front of it.
func Addr(t testing.TB) string {
	t.Helper()
	addr, err := address(DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// Via is the URL of the database under test with another address in place of the server's, and without encryption, so
// that a proxy there can see where a request begins.
func Via(t testing.TB, addr string) string {
	t.Helper()
	dsn, err := via(DSN(t), addr)
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

// as is the URL of the database under test for another login.
func as(t testing.TB, login, password string) string {
	t.Helper()
	dsn, err := rewrite(DSN(t), func(u *url.URL, _ url.Values) { u.User = url.UserPassword(login, password) })
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

// address reads where the server of a connection string is.
func address(dsn string) (string, error) {
	config, err := msdsn.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("%s: %w", URLVariable, err)
	}
	if config.Instance != "" {
		return "", fmt.Errorf("%s names an instance, whose port is not known: give host and port", URLVariable)
	}
	port := int(config.Port)
	if port == 0 {
		port = defaultPort
	}
	return net.JoinHostPort(config.Host, strconv.Itoa(port)), nil
}

func via(dsn, addr string) (string, error) {
	return rewrite(dsn, func(u *url.URL, query url.Values) {
		u.Host = addr
		query.Set("encrypt", "disable")
	})
}

// rewrite changes a URL. Other forms of connection strings exist; the tests' documentation asks for a URL.
func rewrite(dsn string, change func(*url.URL, url.Values)) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil || (u.Scheme != "sqlserver" && u.Scheme != "mssql") {
		// The URL may hold a password, so it is not quoted.
		return "", fmt.Errorf("%s is not of the form sqlserver://login:password@host:port?database=name", URLVariable)
	}
	query := u.Query()
	change(u, query)
	u.RawQuery = query.Encode()
	return u.String(), nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}
