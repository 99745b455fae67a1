package mssql

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/microsoft/go-mssqldb/msdsn"
	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/provider"
)

func TestParseDSN(t *testing.T) {
	t.Parallel()
	type want struct{ host, instance, database, user, password, schema, app string }
	plain := want{host: "h", database: "d", user: "u", password: "p", app: appName}
	with := func(change func(*want)) want {
		w := plain
		change(&w)
		return w
	}
	for text, w := range map[string]want{
		"sqlserver://u:p@h:1433?database=d":                plain,
		"  sqlserver://u:p@h?database=d\n":                 plain,
		"mssql://u:p@h:1433?database=d":                    plain,
		"SQLServer://u:p@h?database=d":                     plain,
		"server=h;user id=u;password=p;database=d":         plain,
		"Server=tcp:h,1433;Initial Catalog=d;UID=u;PWD=p;": plain,
		"odbc:server=h;user id=u;password=p;database=d":    plain,
		"ODBC:server=h;user id=u;password={p};database=d":  plain,
		// A path is the database where the port is known.
		"sqlserver://u:p@h:1433/d?encrypt=true":                         plain,
		"sqlserver://u:p@h:1433/x?Database=d":                           plain,
		"sqlserver://u:p@h/inst?database=d":                             with(func(w *want) { w.instance = "inst" }),
		"sqlserver://u:p@x.database.windows.net/d":                      with(func(w *want) { w.host = "x.database.windows.net" }),
		"sqlserver://u:p@h:1433?database=d&schema=tenant+1":             with(func(w *want) { w.schema = "tenant 1" }),
		"sqlserver://u:p@h:1433?database=d&Schema=a%5Db":                with(func(w *want) { w.schema = "a]b" }),
		"server=h;user id=u;password=p;database=d;schema=s":             with(func(w *want) { w.schema = "s" }),
		"odbc:server=h;user id=u;password=p;database=d;schema={a;b}":    with(func(w *want) { w.schema = "a;b" }),
		"sqlserver://u:p@h?database=d&app+name=mine":                    with(func(w *want) { w.app = "mine" }),
		"sqlserver://u:p@h?database=d&App+Name=mine":                    with(func(w *want) { w.app = "mine" }),
		"server=h;user id=u;password=p;database=d;application name=m":   with(func(w *want) { w.app = "m" }),
		"sqlserver://u:p%40%2F%3A%3B%3D%25@h?database=d":                with(func(w *want) { w.password = "p@/:;=%" }),
		`server=h;user id=u;password="p;x=""1";database=d`:              with(func(w *want) { w.password = `p;x="1` }),
		"odbc:server=h;user id=u;password={p;=}};x};database=d":         with(func(w *want) { w.password = "p;=};x" }),
		"server=h;user id=u;database=d;password=sqlserver://x@y":        with(func(w *want) { w.password = "sqlserver://x@y" }),
		`server=h;user id=u;database=d;password="unclosed`:              with(func(w *want) { w.password = `"unclosed` }),
		"sqlserver://u:p@[::1]:1433?database=d":                         with(func(w *want) { w.host = "::1" }),
		"sqlserver://u:p@h?database=d&encrypt=strict&dial+timeout=3":    plain,
		"sqlserver://x.database.windows.net?database=d&fedauth=Default": {host: "x.database.windows.net", database: "d", app: appName},
	} {
		got, err := parseDSN(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		c, err := msdsn.Parse(got.text)
		if err != nil {
			t.Errorf("%s: the driver refuses %s: %v", text, got.text, err)
			continue
		}
		if g := (want{c.Host, c.Instance, c.Database, c.User, c.Password, got.schema, c.AppName}); g != w {
			t.Errorf("%s is understood as\n%+v; want\n%+v", text, g, w)
		}
		if !c.DisableRetry {
			t.Errorf("%s: database/sql would send calls again", text)
		}
	}
}

func TestParseDSNKeepsTheOtherParameters(t *testing.T) {
	t.Parallel()
	got, err := parseDSN("sqlserver://u:p@h:1433/d?encrypt=disable&disableretry=false&packet+size=8192&fedauth=X")
	if err != nil {
		t.Fatal(err)
	}
	c, err := msdsn.Parse(got.text)
	if err != nil || c.Encryption != msdsn.EncryptionDisabled || c.DisableRetry || c.PacketSize != 8192 || c.Parameters["fedauth"] != "X" {
		t.Errorf("got %s, %v", got.text, err)
	}
}

// Each bad connection string is refused by one sentence.
func TestParseDSNRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "is empty",
		" \t":                                   "is empty",
		"postgres://u:p@h/d":                    "another kind of server (postgres)",
		"https://h":                             "another kind of server (https)",
		"sqlserver://":                          "names no server",
		"sqlserver://?database=d":               "names no server",
		"duroxide":                              "names no server",
		"database=d;user id=u":                  "names no server",
		"odbc:database=d":                       "names no server",
		"sqlserver://u:a/b@h":                   "special characters",
		"sqlserver://u:%zz@h":                   "special characters",
		"sqlserver://h?encrypt=strict;x=secret": "separate them by &",
		"sqlserver://h?password=secret%zz":      "separate them by &",
		"server=h;port=secret":                  "invalid tcp port",
		"sqlserver://h?encrypt=perhaps":         "encrypt",
		"sqlserver://h?database=a&database=b":   "given twice",
		"odbc:server=h;password={secret":        "unexpected end of braced value",
		"odbc:server=h;password={secret}secret": "unexpected character",
		"server=h;certificate=/no/such/file":    "certificate",
	} {
		_, err := parseDSN(text)
		if !errors.Is(err, provider.ErrInvalidArgument) || provider.IsRetryable(err) {
			t.Errorf("%s: error %v; want a permanent %v", text, err, provider.ErrInvalidArgument)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %q; want one line with %q", text, err, want)
		}
	}
}

// Whatever the password is made of and whatever is wrong: no piece of it is in an error.
func TestParseDSNKeepsSecrets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			"s3cret", "s3cret", ";", "=", "&", "@", "/", "?", "#", ":", "%", "{", "}", `"`, "'", " ", "\\", "port=", "encrypt=", "[",
		}), 1, 8).Draw(t, "password")
		password := strings.Join(pieces, "")
		text := rapid.SampledFrom([]string{
			"sqlserver://u:" + password + "@h?database=d",
			"mssql://u:" + password + "@h:1433/d?encrypt=x",
			"sqlserver://h?user+id=u&password=" + password,
			"server=h;user id=u;password=" + password + ";database=d",
			"odbc:server=h;user id=u;password={" + password + "};port=x",
			"odbc:server=h;user id=u;password=" + password,
			"sqlserver://u:" + url.QueryEscape(password) + "@h?encrypt=" + password,
		}).Draw(t, "text")
		if _, err := parseDSN(text); err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Fatalf("%s is refused with %q", text, err)
		}
	})
}

func TestSchemaOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sqlserver://u:p@h?database=d":               DefaultSchema,
		"sqlserver://u:p@h?database=d&schema=tenant": "tenant",
		"mssql://u:p@h:1433/d?Schema=a%20b":          "a b",
		"server=h;database=d;schema=tenant":          "tenant",
		"odbc:server=h;database=d;schema={t;1}":      "t;1",
	} {
		if got, err := SchemaOf(text); err != nil || got != want {
			t.Errorf("%s: schema %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := SchemaOf("sqlserver://u:s3cret@h?schema=t;x"); !errors.Is(err, provider.ErrInvalidArgument) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v; want %v without the password", err, provider.ErrInvalidArgument)
	}
}
