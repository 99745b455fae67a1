// Package server is what the command line does with a SQL Server database beyond using
// the store in it: connecting in a way that counts round trips (connect.go), making the
// schema and removing it (schema.go), and examining the server, the database, the schema
// and the login (doctor.go, checks.go).
package server

import (
	"net/url"
	"strings"

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

// Schema is the schema that the address names, or the default. An address that cannot
// be read has the default too: connecting says what is wrong with it.
func (a Address) Schema() string {
	u, err := url.Parse(string(a))
	if err != nil {
		return mssql.DefaultSchema
	}
	for name, values := range u.Query() {
		if strings.EqualFold(name, "schema") && values[len(values)-1] != "" {
			return values[len(values)-1]
		}
	}
	return mssql.DefaultSchema
}

// WithSchema is the address of another schema of the same database.
func (a Address) WithSchema(schema string) Address {
	u, err := url.Parse(string(a))
	if err != nil {
		return a
	}
	query := u.Query()
	for name := range query {
		if strings.EqualFold(name, "schema") {
			query.Del(name)
		}
	}
	query.Set("schema", schema)
	u.RawQuery = query.Encode()
	return Address(u.String())
}
