// Package server is what the command line does with a SQL Server database beyond using
// the store in it: connecting in a way that counts round trips (connect.go), making the
// schema and removing it (schema.go), and examining the server, the database, the schema
// and the login (doctor.go, checks.go).
package server

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// Address is the URL of a store: sqlserver://user:password@host:1433?database=orders,
// with schema=name for another schema than duroxide. It holds a password, so it is never
// part of an error.
type Address string

// IsAddress reports whether a store's URL is that of a SQL Server database.
func IsAddress(storeURL string) bool {
	return strings.HasPrefix(storeURL, "sqlserver:") || strings.HasPrefix(storeURL, "mssql:")
}

// Schema is the schema that the address names, or the default. Error:
// [provider.ErrInvalidArgument] for an address that cannot be read.
func (a Address) Schema() (string, error) { return mssql.SchemaOf(string(a)) }

// WithSchema is the address of another schema of the same database. Error: as Schema.
func (a Address) WithSchema(schema string) (Address, error) {
	// The store reads connection strings, so that there is one opinion of what can be read.
	if _, err := a.Schema(); err != nil {
		return "", err
	}
	u, err := url.Parse(string(a))
	if err != nil {
		return "", errNoURL
	}
	query := u.Query() // leaves out what cannot be read, and there is nothing of that
	for name := range query {
		if strings.EqualFold(name, "schema") {
			query.Del(name)
		}
	}
	query.Set("schema", schema)
	u.RawQuery = query.Encode()
	return Address(u.String()), nil
}

// errNoURL stands for an error of package url, which would quote the address.
var errNoURL = fmt.Errorf("the store's URL is not valid: %w", provider.ErrInvalidArgument)
