package analyze

import (
	"fmt"
	"strings"
	"testing"
)

// Annotated queries: what they take and yield, and what is refused.
func TestQueries(t *testing.T) {
	t.Parallel()
	runPrograms(t, []programCase{
		{name: "one", queries: `
-- name: GetOrder :one
SELECT customer, note FROM dbo.orders WHERE id = @id;`, want: `
GetOrder :one(@id bigint): customer nvarchar(50), note nvarchar(100)?`},
		{name: "many, sorted", queries: `
-- name: Second :many
SELECT id FROM dbo.orders;
-- name: First :many
SELECT total FROM dbo.orders WHERE customer = @customer`, want: `
First :many(@customer nvarchar(50)): total decimal(10,2)
Second :many(): id bigint`},
		{name: "exec", queries: `
-- name: AddLine :exec
INSERT dbo.log (line) VALUES (@line);`, want: `
AddLine :exec(@line nvarchar(200) null)`},
		{name: "execrows and batch", queries: `
-- name: Remove :execrows
DELETE dbo.orders WHERE id = @id;
-- name: Rename :batch
UPDATE dbo.orders SET customer = @customer WHERE id = @id;`, want: `
Remove :execrows(@id bigint)
Rename :batch(@customer nvarchar(50), @id bigint)`},
		{name: "output", queries: `
-- name: AddLine :one
INSERT dbo.log (line) OUTPUT inserted.id VALUES (@line);`, want: `
AddLine :one(@line nvarchar(200) null): id bigint`},
		{name: "gen:null", queries: `
-- name: Find :many
-- gen:null @customer
SELECT id FROM dbo.orders WHERE customer = @customer;`, want: `
Find :many(@customer nvarchar(50) null): id bigint`},
		{name: "gen:null not needed", queries: `
-- name: AddLine :exec
-- gen:null @line
INSERT dbo.log (line) VALUES (@line);`, want: `
q.sql:2:1 override: gen:null names @line, which may be NULL without saying`},
		{name: "gen:null of no parameter", queries: `
-- name: AddLine :exec
-- gen:null @other
INSERT dbo.log (line) VALUES (@line);`, want: `
q.sql:2:1 override: gen:null names @other, which is no parameter`},
		{name: "gen:param", queries: `
-- name: Echo :one
-- gen:param @a int null
SELECT @a AS a;`, want: `
Echo :one(@a int null): a int?`},
		{name: "gen:param not needed", queries: `
-- name: Find :many
-- gen:param @id bigint
SELECT customer FROM dbo.orders WHERE id = @id;`, want: `
q.sql:2:1 override: @id is known to be bigint without saying`},
		{name: "gen:param of another type", queries: `
-- name: Find :many
-- gen:param @id int
SELECT customer FROM dbo.orders WHERE id = @id;`, want: `
Find :many(@id int): customer nvarchar(50)`},
		{name: "gen:param that adds NULL", queries: `
-- name: Find :many
-- gen:param @id bigint null
SELECT customer FROM dbo.orders WHERE id = @id;`, want: `
Find :many(@id bigint null): customer nvarchar(50)`},
		{name: "gen:param of a table type", queries: `
-- name: Find :many
-- gen:param @ids dbo.ids
SELECT o.customer FROM dbo.orders AS o JOIN @ids AS i ON i.id = o.id;`, want: `
Find :many(@ids dbo.ids): customer nvarchar(50)`},
		{name: "gen:param of no parameter", queries: `
-- name: Find :many
-- gen:param @other bigint
SELECT customer FROM dbo.orders WHERE id = @id;`, want: `
q.sql:2:1 override: the query has no parameter @other`},
		{name: "gen:columns", queries: `
-- name: Notes :many
-- gen:columns (note nvarchar(100) not null)
SELECT note FROM dbo.orders WHERE CHARINDEX(N'x', note) > 0;`, want: `
Notes :many(): note nvarchar(100)`},
		{name: "gen:result", queries: `
-- name: Notes :many
-- gen:result Notes
SELECT note FROM dbo.orders;`, want: `
q.sql:2:1 override: this gen:result belongs to nothing`},

		{name: "exec with rows", queries: `
-- name: X :exec
SELECT id FROM dbo.orders;`, want: `
q.sql:1:1 query: X is :exec, but sends rows`},
		{name: "one without rows", queries: `
-- name: X :one
DELETE dbo.orders;`, want: `
q.sql:1:1 query: X is :one, but sends no rows`},
		{name: "duplicate", queries: `
-- name: X :exec
DELETE dbo.orders;
-- name: X :exec
DELETE dbo.log;`, want: `
q.sql:3:1 query: there is another query X at q.sql:1:1`},
		{name: "no identifier", queries: `
-- name: getOrder :exec
DELETE dbo.orders;`, want: `
q.sql:1:1 query: "getOrder" cannot be the name of a Go method`},
		{name: "procedure call", queries: `
-- name: X :exec
EXEC dbo.p;`, want: `
q.sql:2:1 query: a query cannot be EXEC`},
		{name: "two statements", queries: `
-- name: X :exec
DELETE dbo.orders;
DELETE dbo.log;`, want: `
q.sql:3:1 query: a query is one statement, and this is a second one after X`},
		{name: "without name", queries: `
SELECT id FROM dbo.orders;`, want: `
q.sql:1:1 query: this statement of a file of queries has no name`},
		{name: "name without statement", queries: `
-- name: X :exec
DELETE dbo.orders;
-- name: Y :exec`, want: `
q.sql:3:1 override: this name belongs to nothing`},
		{name: "name apart from its statement", queries: `
-- name: X :exec

DELETE dbo.orders;`, want: `
q.sql:1:1 override: this name belongs to nothing`},
		{name: "two names", queries: `
-- name: X :exec
-- name: Y :exec
DELETE dbo.orders;`, want: `
q.sql:1:1 override: this name belongs to nothing`},
		{name: "definition", queries: `
CREATE TABLE dbo.t (a int);`, want: `
q.sql:1:1 query: a definition does not belong in a file of queries`},
		{name: "declare", queries: `
-- name: X :exec
DECLARE @a int;`, want: `
q.sql:2:1 query: a query is one SELECT, INSERT, UPDATE, DELETE or MERGE`},
		{name: "errors of a trigger", definitions: `
CREATE TRIGGER dbo.t ON dbo.orders AFTER DELETE AS THROW 50020, N'no', 1;`, queries: `
-- name: X :exec
DELETE dbo.orders;`, want: `
X :exec() errors 50020`},
		{name: "insert exec", queries: `
-- name: X :exec
INSERT dbo.log (line) EXEC dbo.p;`, want: `
q.sql:2:1 query: INSERT … EXEC cannot be an annotated query`},
		{name: "select into", queries: `
-- name: X :exec
SELECT id INTO #t FROM dbo.orders;`, want: `
X :exec()`},
		{name: "merge", queries: `
-- name: X :execrows
MERGE dbo.orders AS o USING (SELECT @id AS id, @note AS note) AS n ON n.id = o.id
WHEN MATCHED THEN UPDATE SET note = n.note;`, want: `
X :execrows(@id bigint, @note nvarchar(100) null)`},
		{name: "set option", queries: `
SET QUOTED_IDENTIFIER ON;
-- name: X :exec
DELETE dbo.orders;`, want: `
X :exec()`},
		{name: "for json", queries: `
-- name: X :many
SELECT id FROM dbo.orders FOR JSON PATH;`, want: `
q.sql:2:27 type: the server cuts the document of FOR JSON into rows of about 2,000 characters`},
		{name: "unknown column", queries: `
-- name: X :many
SELECT nothing FROM dbo.orders;`, want: `
q.sql:2:8 name: no table of this statement has a column nothing`},
	})
}

// The text of a query and the places of schema names in it.
func TestQueryText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"trimmed", "-- Deletes.\n-- name: X :exec\n/* really */ DELETE dbo.orders WHERE id = @id ;", "DELETE <dbo>.orders WHERE id = @id"},
		{"inner comment", "-- name: X :exec\nDELETE dbo.orders -- all\nWHERE id = @id", "DELETE <dbo>.orders -- all\nWHERE id = @id"},
		{"unqualified", "-- name: X :exec\nDELETE orders;", "DELETE orders"},
		{
			"several", "-- name: X :many\nSELECT o.id FROM dbo.orders AS o JOIN [dbo].log AS l ON l.id = o.id",
			"SELECT o.id FROM <dbo>.orders AS o JOIN <[dbo]>.log AS l ON l.id = o.id",
		},
		{
			"qualified column", "-- name: X :many\nSELECT dbo.orders.id AS i, dbo.orders.* FROM dbo.orders",
			"SELECT <dbo>.orders.id AS i, <dbo>.orders.* FROM <dbo>.orders",
		},
		{
			"with", "-- name: X :many\nWITH c AS (SELECT id AS i FROM dbo.orders) SELECT i FROM c;",
			"WITH c AS (SELECT id AS i FROM <dbo>.orders) SELECT i FROM c",
		},
		{"function", "-- name: X :many\nSELECT dbo.f(id) AS a FROM dbo.orders", "SELECT <dbo>.f(id) AS a FROM <dbo>.orders"},
		{"string", "-- name: X :many\nSELECT id FROM dbo.orders WHERE customer = N'dbo.x'", "SELECT id FROM <dbo>.orders WHERE customer = N'dbo.x'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, found := programOf(t, "CREATE FUNCTION dbo.f (@x bigint) RETURNS int AS BEGIN RETURN 1; END;", c.text, Options{})
			for _, d := range found {
				if !strings.Contains(d.Message, "twice") {
					t.Fatal(renderFound(found))
				}
			}
			q := p.Queries[0]
			var text strings.Builder
			at := 0
			for _, s := range q.SchemaNames {
				fmt.Fprintf(&text, "%s<%s>", q.Text[at:s.From], q.Text[s.From:s.To])
				at = s.To
			}
			checkText(t, text.String()+q.Text[at:], c.want)
		})
	}
}
