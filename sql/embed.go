// Package scripts holds the SQL the stores run, as files that can be read and
// tried in any SQL tool.
//
// schema directories are history: numbered scripts, applied once each, to which
// files are only ever added. The procedures, and the functions and views below
// schema, are the present: one file each, applied again whenever it differs from what
// was applied. schema/records is what the migrator records its work in. query
// directories are what the generators compile into the packages under gen; they are not
// embedded, because the generated code contains their text.
package scripts

import (
	"embed"
	"io/fs"
)

//go:embed sqlite/schema/*.sql
var files embed.FS

//go:embed schema procedures
var mssqlFiles embed.FS

// MSSQLScripts returns what makes the SQL Server store's schema: the folders schema and
// procedures, laid out as package provider/mssql/migrate reads them.
func MSSQLScripts() fs.FS { return mssqlFiles }

// SQLiteSchema returns the embedded store's migrations, each a file
// "NNNN_name.sql" at the root.
func SQLiteSchema() fs.FS {
	sub, err := fs.Sub(files, "sqlite/schema")
	if err != nil {
		// The path is a constant that the embed directive above has checked.
		panic(err)
	}
	return sub
}
