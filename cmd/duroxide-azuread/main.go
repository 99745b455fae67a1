// Command duroxide-azuread is the command duroxide with logins by Microsoft Entra ID for SQL Server, such as
// --store 'sqlserver://server.database.windows.net?database=orders&fedauth=ActiveDirectoryDefault'.
// It is a build of its own because these libraries are many times as large as the rest.
package main

import (
	"github.com/microsoft/go-mssqldb/azuread"

	"github.com/duroxide/duroxide-go/cmd/duroxide/commandline"
)

func main() { commandline.Main(commandline.Options{SQLServer: azuread.NewConnector}) }
