package azuread_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/azuread"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What cannot work is refused before anything is sent, and quotes no secret.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]string{
		"an unknown workflow":  "sqlserver://h?database=d&fedauth=NoSuchWorkflow",
		"a missing parameter":  "sqlserver://u:s3cret@h?database=d&fedauth=ActiveDirectoryPassword",
		"no connection string": "",
	} {
		store, err := azuread.Open(t.Context(), dsn, nil)
		if store != nil || !errors.Is(err, provider.ErrInvalidArgument) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, %v; want %v", name, store, err, provider.ErrInvalidArgument)
		}
	}
}

// A connection string that asks for Entra ID gets as far as the server.
func TestOpenConnects(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	dsn := "sqlserver://" + l.Addr().String() + "?database=d&fedauth=ActiveDirectoryManagedIdentity"
	if _, err := azuread.Open(t.Context(), dsn, nil); !errors.Is(err, mssql.ErrUnreachable) || !provider.IsRetryable(err) {
		t.Errorf("error %v; want a retryable %v", err, mssql.ErrUnreachable)
	}
}
