package analyze

import "testing"

// Directives that correct or name a result set.
func TestOverride(t *testing.T) {
	t.Parallel()
	for _, c := range []flowCase{
		{"name", `
-- gen:result Order
SELECT id FROM dbo.orders;`, `
dbo.p(@x int = 1)
  Order: id bigint; many
  flow: Order`},
		{"one", `
-- gen:result Order :one
SELECT id FROM dbo.orders;`, `
dbo.p(@x int = 1)
  Order: id bigint; one
  flow: Order`},
		{"optional", `
-- gen:result Order :optional
SELECT id FROM dbo.orders;`, `
dbo.p(@x int = 1)
  Order: id bigint; optional
  flow: Order`},
		{"stream", `
-- gen:result Order :stream
SELECT id FROM dbo.orders;`, `
dbo.p(@x int = 1)
  Order: id bigint; many stream
  flow: Order`},
		{"one instead of optional", `
-- gen:result Order :one
SELECT id FROM dbo.orders WHERE id = @x;`, `
dbo.p(@x int = 1)
  Order: id bigint; one
  flow: Order`},
		{"many is known", `
-- gen:result Order :many
SELECT id FROM dbo.orders;`, `1:1 override: :many is known without saying`},
		{"one is known", `
-- gen:result Order :one
SELECT 1 AS a;`, `1:1 override: :one is known without saying`},
		{"many contradicts", `
-- gen:result Order :many
SELECT id FROM dbo.orders WHERE id = @x;`, `1:1 override: :many contradicts that the statement yields no row or one`},
		{"stream contradicts", `
-- gen:result Order :stream
SELECT 1 AS a;`, `1:1 override: :stream contradicts that the statement yields one row`},
		{"two names", `
-- gen:result First
-- gen:result Second
SELECT 1 AS a;`, `2:1 override: there are two gen:result above this statement`},
		{"name above nothing", `
SELECT 1 AS a;
-- gen:result Order`, `2:1 override: this gen:result belongs to nothing`},
		{"name above IF", `
-- gen:result Order
IF @x = 1
    SELECT 1 AS a;`, `1:1 override: this gen:result belongs to nothing`},
		{"name above a silent statement", `
-- gen:result Order
SET @x = 1;`, `1:1 override: this gen:result belongs to nothing`},
		{"two statements on a line", `
-- gen:result Order
SET @x = 1; SELECT 1 AS a; SELECT 2 AS b;`, `
dbo.p(@x int = 1)
  Order: a int; one
  b: b int; one
  flow: Order b`},

		{"columns refine NULL", `
-- gen:columns (note nvarchar(100) not null)
SELECT note FROM dbo.orders WHERE CHARINDEX(N'x', note) > 0;`, `
dbo.p(@x int = 1)
  note: note nvarchar(100); many
  flow: note`},
		{"columns not needed", `
-- gen:columns (id bigint not null)
SELECT id FROM dbo.orders;`, `1:1 override: these columns are what the statement is known to send`},
		{"columns not needed, NULL unsaid", `
-- gen:columns (id bigint)
SELECT id FROM dbo.orders;`, `1:1 override: these columns are what the statement is known to send`},
		{"columns of another type", `
-- gen:columns (id int not null)
SELECT id FROM dbo.orders;`, `1:17 override: column id is known to be bigint`},
		{"columns of another name", `
-- gen:columns (ident bigint not null)
SELECT id FROM dbo.orders;`, `1:17 override: the column is called id`},
		{"too many columns", `
-- gen:columns (id bigint, x int)
SELECT id FROM dbo.orders;`, `1:1 override: 2 columns given, but the statement sends 1`},
		{"columns that may be NULL but are not", `
-- gen:columns (id bigint null)
SELECT id FROM dbo.orders;`, `1:17 override: column id is known never to be NULL`},
		{"columns of what cannot be typed", `
-- gen:columns (id bigint not null, kind int null)
SELECT id, kind FROM other.dbo.things;`, `
dbo.p(@x int = 1)
  id: id bigint, kind int?; many
  flow: id`},
		{"columns name", `
-- gen:columns (a int not null)
SELECT 1;`, `
dbo.p(@x int = 1)
  :  int; one
  flow: -`},
		{"columns cannot answer FOR JSON", `
-- gen:columns (a nvarchar(max) null)
SELECT id FROM dbo.orders FOR JSON PATH;`, `2:27 type: the server cuts the document of FOR JSON into rows of about 2,000 characters`},
		{"columns above nothing", `
-- gen:columns (id int)
SET @x = 1;`, `1:1 override: this gen:columns belongs to nothing`},
		{"columns of an unknown type", `
-- gen:columns (id number)
SELECT id FROM dbo.orders;`, `1:20 type: unknown type number`},
		{"both", `
-- gen:result Notes :one
-- gen:columns (note nvarchar(100) not null)
SELECT note FROM dbo.orders;`, `
dbo.p(@x int = 1)
  Notes: note nvarchar(100); one
  flow: Notes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkText(t, bodyOf(t, "", c.body, false), c.want)
		})
	}
}
