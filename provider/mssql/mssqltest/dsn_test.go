package mssqltest

import (
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"sqlserver://u:p@host:1444?database=d": "host:1444",
		"sqlserver://u:p@host?database=d":      "host:1433",
		"sqlserver://u:p@[::1]:1444":           "[::1]:1444",
		"server=host;user id=u;password=p":     "host:1433",
	} {
		got, err := address(dsn)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", dsn, got, err)
		}
	}
	for _, dsn := range []string{"sqlserver://u:p@host/instance", "sqlserver://u:p@host:port"} {
		if got, err := address(dsn); err == nil {
			t.Errorf("%s: %q", dsn, got)
		}
	}
}

func TestVia(t *testing.T) {
	t.Parallel()
	got, err := via("sqlserver://u:p@host:1444?database=d&encrypt=true", "127.0.0.1:5")
	if want := "sqlserver://u:p@127.0.0.1:5?database=d&encrypt=disable"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, dsn := range []string{"server=host;password=secret", "postgres://u:secret@host", "%zz:secret"} {
		got, err := via(dsn, "127.0.0.1:5")
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q, %v", got, err)
		}
	}
}
