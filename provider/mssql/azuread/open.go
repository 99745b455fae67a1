package azuread

import (
	"context"
	"database/sql/driver"

	"github.com/microsoft/go-mssqldb/azuread"

	"github.com/duroxide/duroxide-go/provider/mssql"
)

// Open is [mssql.Open] for connection strings with the parameter fedauth, such as
// fedauth=ActiveDirectoryManagedIdentity. Without it, the login is by user name and
// password as there.
//
// The first connection gets a token; the driver gets a new one when it has expired.
//
// Errors are those of [mssql.Open]. A token that is refused or cannot be had is
// [mssql.ErrUnreachable] or [mssql.ErrLogin], depending on who refused it.
func Open(ctx context.Context, dsn string, options mssql.Options) (*mssql.Store, error) {
	return mssql.OpenWith(ctx, dsn, options, func(dsn string) (driver.Connector, error) {
		return azuread.NewConnector(dsn)
	})
}
