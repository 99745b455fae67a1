package mssqltest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// NewLogin makes a login, with a user in the database that has no rights, and returns the user's name and the URL of
// the database for the login. Both are dropped when the test ends: close before that what has connected. It skips the
// test if the tests' own login may not make another one.
func NewLogin(t testing.TB) (user, dsn string) {
	t.Helper()
	user, password := Name(), "aA1-"+rand.Text()
	if err := execute(t, fmt.Sprintf("CREATE LOGIN [%s] WITH PASSWORD = '%s'", user, password)); err != nil {
		t.Skipf("the login of the tests may not create another one: %v", err)
	}
	t.Cleanup(func() { dropPrincipal(t, "LOGIN", user) })
	if err := execute(t, fmt.Sprintf("CREATE USER [%[1]s] FOR LOGIN [%[1]s]", user)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropPrincipal(t, "USER", user) })
	return user, as(t, user, password)
}

// JoinRole makes the user a member of a role.
func JoinRole(t testing.TB, role, user string) {
	t.Helper()
	if err := execute(t, fmt.Sprintf("ALTER ROLE %s ADD MEMBER %s", migrate.Quote(role), migrate.Quote(user))); err != nil {
		t.Fatal(err)
	}
}

// dropPrincipal drops a login or a user, whose last sessions the server may still be ending.
func dropPrincipal(t testing.TB, kind, name string) {
	t.Helper()
	var err error
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for range 500 {
		if err = execute(t, fmt.Sprintf("DROP %s [%s]", kind, name)); err == nil || !strings.Contains(err.Error(), "logged in") {
			break
		}
		<-again.C
	}
	if err != nil {
		t.Errorf("dropping the %s: %v", strings.ToLower(kind), err)
	}
}

// execute runs a statement as the tests' own login, also when the test has ended.
func execute(t testing.TB, statement string) error {
	t.Helper()
	_, err := DB(t).ExecContext(context.WithoutCancel(t.Context()), statement)
	return err
}
