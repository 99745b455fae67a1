package analyze

import "testing"

// Error numbers: where they come from, their names, and headers that tell something else.
func TestErrors(t *testing.T) {
	t.Parallel()
	runPrograms(t, []programCase{
		{name: "thrown and named", definitions: `
-- Takes the lock.
-- Errors:
--   50010 lock_lost: the lock has expired
CREATE PROCEDURE dbo.p @x int AS
IF @x = 1 THROW 50010, N'lost', 1;
IF @x = 2 THROW 50011, N'other', 1;`, want: `
dbo.p(@x int) errors 50010 50011
  flow: -
error 50010 lock_lost: the lock has expired`},
		{name: "of a callee", definitions: `
CREATE PROCEDURE dbo.a AS EXEC dbo.b;
GO
CREATE PROCEDURE dbo.b AS EXEC dbo.c;
GO
CREATE PROCEDURE dbo.c AS THROW 50010, N'lost', 1;`, want: `
dbo.a() errors 50010
  flow: !
dbo.b() errors 50010
  flow: !
dbo.c() errors 50010
  flow: !`},
		{name: "raiserror", definitions: `
CREATE PROCEDURE dbo.p @x int AS
IF @x = 1 RAISERROR (N'text', 16, 1);
IF @x = 2 RAISERROR (50123, 16, 1);
IF @x = 3 RAISERROR (50124, 10, 1);`, want: `
dbo.p(@x int) errors 50000 50123
  flow: -`},
		{name: "number in a variable", definitions: `
CREATE PROCEDURE dbo.p @n int AS THROW @n, N'x', 1;`, want: `
dbo.p(@n int)
  flow: !`},
		{name: "number in a variable, listed", definitions: `
-- Fails.
-- Errors:
--   50010 lock_lost: the lock has expired
CREATE PROCEDURE dbo.p @n int AS THROW @n, N'x', 1;`, want: `
dbo.p(@n int) errors 50010
  flow: !
error 50010 lock_lost: the lock has expired`},
		{name: "too small", definitions: `
CREATE PROCEDURE dbo.p AS THROW 40000, N'x', 1;`, want: `
1:33 error: THROW takes numbers from 50000 to 2147483647`},
		{name: "raiserror too small", definitions: `
CREATE PROCEDURE dbo.p AS RAISERROR (12, 16, 1);`, want: `
1:38 error: RAISERROR takes a text or numbers from 13000 to 2147483647, other than 50000`},
		{name: "listed in vain", definitions: `
-- Does nothing.
-- Errors:
--   50010 lock_lost: the lock has expired
CREATE PROCEDURE dbo.p AS RETURN;`, want: `
3:6 error: nothing in this procedure, or in those it calls, raises error 50010`},
		{name: "two names", definitions: `
-- One.
-- Errors:
--   50010 lock_lost: the lock has expired
CREATE PROCEDURE dbo.p AS THROW 50010, N'x', 1;
GO
-- Two.
-- Errors:
--   50010 lock_gone: the lock has expired
CREATE PROCEDURE dbo.q AS THROW 50010, N'x', 1;`, want: `
8:6 error: error 50010 is called lock_gone here and lock_lost at a.sql:3:6`},
		{name: "two meanings", definitions: `
-- One.
-- Errors:
--   50010 lock_lost: the lock has expired
CREATE PROCEDURE dbo.p AS THROW 50010, N'x', 1;
GO
-- Two.
-- Errors:
--   50010 lock_lost: somebody else has the lock
CREATE PROCEDURE dbo.q AS THROW 50010, N'x', 1;`, want: `
8:6 error: error 50010 means something else at a.sql:3:6: the lock has expired`},
		{name: "two numbers", definitions: `
-- One.
-- Errors:
--   50010 lock_lost: the lock has expired
CREATE PROCEDURE dbo.p AS THROW 50010, N'x', 1;
GO
-- Two.
-- Errors:
--   50011 lock_lost: the lock has expired
CREATE PROCEDURE dbo.q AS THROW 50011, N'x', 1;`, want: `
8:6 error: the name lock_lost belongs to error 50010, see a.sql:3:6`},
		{name: "the same twice", definitions: `
-- One.
-- Errors:
--   50010 lock_lost: the lock has expired
CREATE PROCEDURE dbo.p AS THROW 50010, N'x', 1;
GO
-- Two.
-- Errors:
--   50010 lock_lost: the lock has expired
CREATE PROCEDURE dbo.q AS EXEC dbo.p;`, want: `
dbo.p() errors 50010
  flow: !
dbo.q() errors 50010
  flow: !
error 50010 lock_lost: the lock has expired`},
		{name: "of a trigger", definitions: `
CREATE TRIGGER dbo.t ON dbo.orders AFTER UPDATE AS THROW 50020, N'no', 1;
GO
CREATE PROCEDURE dbo.p AS UPDATE o SET o.note = NULL FROM dbo.orders AS o;
GO
CREATE PROCEDURE dbo.q AS INSERT dbo.log (line) VALUES (N'x');`, want: `
dbo.p() errors 50020
  flow: -
dbo.q()
  flow: -`},
		{name: "of dynamic SQL, listed", definitions: `
-- Runs.
-- Errors:
--   50010 lock_lost: the lock has expired
CREATE PROCEDURE dbo.p @sql nvarchar(max) AS EXEC (@sql) WITH RESULT SETS NONE;`, want: `
dbo.p(@sql nvarchar(max)) errors 50010
  flow: -
error 50010 lock_lost: the lock has expired`},
		{name: "caught and raised again", definitions: `
CREATE PROCEDURE dbo.p AS BEGIN TRY THROW 50010, N'x', 1; END TRY BEGIN CATCH THROW; END CATCH`, want: `
dbo.p() errors 50010
  flow: !`},
		{name: "swallowed", definitions: `
CREATE PROCEDURE dbo.p AS BEGIN TRY THROW 50010, N'x', 1; END TRY BEGIN CATCH PRINT N'oh'; END CATCH`, want: `
dbo.p()
  flow: -`},
		{name: "swallowed and listed", definitions: `
-- Tries.
-- Errors:
--   50010 lock_lost: the lock has expired
CREATE PROCEDURE dbo.p AS BEGIN TRY THROW 50010, N'x', 1; END TRY BEGIN CATCH PRINT N'oh'; END CATCH`, want: `
3:6 error: a CATCH of this procedure swallows error 50010, so that no caller gets it`},
		{name: "swallowed in one place only", definitions: `
CREATE PROCEDURE dbo.p @x int AS
BEGIN TRY THROW 50010, N'x', 1; END TRY BEGIN CATCH PRINT N'oh'; END CATCH
IF @x = 1 THROW 50010, N'x', 1;`, want: `
dbo.p(@x int) errors 50010
  flow: -`},
		{name: "swallowed from a callee", definitions: `
CREATE PROCEDURE dbo.a AS BEGIN TRY EXEC dbo.b; END TRY BEGIN CATCH PRINT N'oh'; END CATCH
GO
CREATE PROCEDURE dbo.b AS THROW 50010, N'x', 1;`, want: `
dbo.a()
  flow: -
dbo.b() errors 50010
  flow: !`},
		{name: "swallowed further out", definitions: `
CREATE PROCEDURE dbo.p AS
BEGIN TRY
    BEGIN TRY THROW 50010, N'x', 1; END TRY BEGIN CATCH THROW; END CATCH
END TRY
BEGIN CATCH PRINT N'oh'; END CATCH`, want: `
dbo.p()
  flow: -`},
		{name: "translated", definitions: `
CREATE PROCEDURE dbo.p AS BEGIN TRY THROW 50010, N'x', 1; END TRY BEGIN CATCH THROW 50011, N'y', 1; END CATCH`, want: `
dbo.p() errors 50011
  flow: !`},
		{name: "raised again when it is a certain one", definitions: `
CREATE PROCEDURE dbo.p AS
BEGIN TRY THROW 50010, N'x', 1; END TRY BEGIN CATCH IF ERROR_NUMBER() <> 50012 THROW; END CATCH`, want: `
dbo.p() errors 50010
  flow: -`},
		{name: "raised again after the catch", definitions: `
CREATE PROCEDURE dbo.p AS
DECLARE @n int = 0;
BEGIN TRY THROW 50010, N'x', 1; END TRY BEGIN CATCH SET @n = ERROR_NUMBER(); END CATCH
IF @n <> 0 THROW @n, N'again', 1;`, want: `
dbo.p() errors 50010
  flow: -`},
		{name: "fatal in a try", definitions: `
CREATE PROCEDURE dbo.p AS
BEGIN TRY RAISERROR (50123, 20, 1) WITH LOG; END TRY BEGIN CATCH PRINT N'oh'; END CATCH`, want: `
dbo.p() errors 50123
  flow: -`},
	})
}
