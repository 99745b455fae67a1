// Package server is what the command line does with a SQL Server database beyond using
// the store in it: connecting in a way that counts round trips (connect.go), making the
// schema and removing it (schema.go), and examining the server, the database, the schema
// and the login (doctor.go, checks.go).
package server

import (
	"errors"
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
	_, query, err := a.read()
	if err != nil {
		return mssql.DefaultSchema
	}
	for name, values := range query {
		if strings.EqualFold(name, "schema") && values[len(values)-1] != "" {
			return values[len(values)-1]
		}
	}
	return mssql.DefaultSchema
}

// WithSchema is the address of another schema of the same database. The error is that
// the address cannot be read.
func (a Address) WithSchema(schema string) (Address, error) {
	u, query, err := a.read()
	if err != nil {
		return "", err
	}
	for name := range query {
		if strings.EqualFold(name, "schema") {
			query.Del(name)
		}
	}
	query.Set("schema", schema)
	u.RawQuery = query.Encode()
	return Address(u.String()), nil
}

// What is wrong with an address. The errors of package url would quote it.
var (
	errNoURL = errors.New("the store's URL is not valid: " +
		"write special characters of the user name and password as %XX, such as %40 for @ and %2F for /")
	errParameters = errors.New("the parameters of the store's URL, which follow its ?, cannot be read: " +
		"write them as name=value with & between them, and special characters of a value as %XX, such as %3B for ; and %25 for %")
)

// read takes the address apart. A parameter that cannot be read is an error, as
// url.URL.Query does not have it: it leaves such a parameter out, and with it what
// somebody has asked for, an encrypted connection for example.
func (a Address) read() (*url.URL, url.Values, error) {
	u, err := url.Parse(string(a))
	if err != nil {
		return nil, nil, errNoURL
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, nil, errParameters
	}
	return u, query, nil
}
