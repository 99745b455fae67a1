// Package mssql is the store on SQL Server.
package mssql
