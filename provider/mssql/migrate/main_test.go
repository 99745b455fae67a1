package migrate_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

// TestMain stands outside of the package, because mssqltest makes its schemas with it.
func TestMain(m *testing.M) {
	migrate.TestURL, migrate.TestLogin = mssqltest.DSN, mssqltest.NewLogin
	mssqltest.Run(m)
}
