package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestPasswordsStayInside has each form of a connection string with a password that holds what separates parameters,
// and an error that quotes it.
func TestPasswordsStayInside(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]string{
		"URL":                  "sqlserver://sa:ses%3Bame@host?database=x",
		"URL, as a parameter":  "sqlserver://host?database=x&user+id=sa&password=ses%3Bame",
		"ADO":                  `server=host;user id=sa;password="ses;ame"`,
		"ADO, another name":    `server=host;uid=sa; PWD = "ses;ame" ;database=x`,
		"ODBC":                 "odbc:server=host;uid=sa;pwd={ses;ame}",
		"ODBC, another blanks": "odbc:server=host; pwd = {ses;ame} ;uid=sa",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			password, err := passwordOf(dsn)
			if err != nil || password != "ses;ame" {
				t.Fatalf("got %q, %v", password, err)
			}
			quoted := fmt.Errorf("login with ses;ame to %s: %w", dsn, context.Canceled)
			err = withoutSecrets(quoted, dsn, password)
			if want := "login with (the password) to (the connection string): context canceled"; err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v is no %v any more", err, context.Canceled)
			}
		})
	}
	if err := withoutSecrets(context.Canceled, "sqlserver://host", ""); err.Error() != context.Canceled.Error() {
		t.Errorf("got %v", err)
	}
}

// TestUnusableConnectionStringsAreNotQuoted has strings that fall apart within the password.
func TestUnusableConnectionStringsAreNotQuoted(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"sqlserver://sa:ses%ame@host",
		"sqlserver://sa@host?password=ses&Password=ame",
		"server=host;password=x;port=sesame",
		"server=host;password=x;encrypt=sesame",
		"odbc:server=host;pwd={sesame",
		"odbc:server=host;pwd={ses}ame}",
	} {
		if _, err := passwordOf(dsn); err == nil || !strings.HasPrefix(err.Error(), "the connection string cannot be used: ") ||
			strings.Contains(err.Error(), "ses") || strings.Contains(err.Error(), "ame}") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}
