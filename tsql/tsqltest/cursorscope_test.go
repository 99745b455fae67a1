package tsqltest_test

import "testing"

func TestCursorScopes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"a local cursor ends with its batch, procedure or text", []step{
			{"DECLARE c CURSOR LOCAL FOR SELECT id FROM dbo.t; OPEN c; SELECT CURSOR_STATUS('local', 'c'), CURSOR_STATUS('global', 'c')", "1,-3"},
			{"SELECT CURSOR_STATUS('local', 'c'); FETCH c", "-3 !16916"},
			{"EXEC ('DECLARE c CURSOR LOCAL FOR SELECT id FROM dbo.t'); OPEN c", "!16916"},
			{"CREATE PROCEDURE dbo.p AS DECLARE c CURSOR LOCAL FOR SELECT id FROM dbo.t; OPEN c; FETCH c", ""},
			{"EXEC dbo.p; EXEC dbo.p", "40 / 40"},
		}},
		{"a global cursor ends with the session", []step{
			{"EXEC ('DECLARE c CURSOR GLOBAL FOR SELECT id FROM dbo.t ORDER BY id')", ""},
			{"OPEN c; FETCH c", "10"},
			{"DECLARE c CURSOR LOCAL FOR SELECT -1; OPEN c; FETCH c; FETCH GLOBAL c; CLOSE GLOBAL c; DEALLOCATE c; OPEN c; FETCH c", "-1 / 20 / 10"},
			{"2: OPEN c", "!16916"},
		}},
		{"the database decides about cursors of which nothing is said", []step{
			{"ALTER DATABASE CURRENT SET CURSOR_DEFAULT LOCAL; SELECT is_local_cursor_default FROM sys.databases WHERE name = DB_NAME()", "true"},
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.t", ""},
			{"OPEN c", "!16916"},
			{"ALTER DATABASE CURRENT SET CURSOR_DEFAULT GLOBAL", ""},
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.t", ""},
			{"OPEN c", ""},
		}},
		{"variables share a cursor, which goes with the last of them", []step{
			{`DECLARE @a CURSOR, @b CURSOR;
			SELECT CURSOR_STATUS('variable', '@a');
			SET @a = CURSOR STATIC FOR SELECT id FROM dbo.t ORDER BY id;
			SELECT CURSOR_STATUS('variable', '@a');
			SET @b = @a; OPEN @a; FETCH @a; FETCH @b; DEALLOCATE @a;
			SELECT CURSOR_STATUS('variable', '@a'), CURSOR_STATUS('variable', '@b'); FETCH @b;
			SET @b = CURSOR FOR SELECT -1; OPEN @b; FETCH @b`, "-2 / -1 / 10 / 20 / -2,1 / 30 / -1"},
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.t ORDER BY id; DECLARE @a CURSOR; SET @a = c; OPEN c; FETCH @a; DEALLOCATE c; FETCH @a", "10 / 20"},
			{"OPEN c", "!16916"},
			{"DECLARE @a CURSOR; OPEN @a", "!16950"},
			{"DECLARE @a INT; OPEN @a", "!16948"},
			{"DECLARE @a CURSOR; SELECT @a", "!16949"},
			{"DECLARE @a CURSOR, @a INT", "!134"},
			{"OPEN @a", "!137"},
		}},
		{"a procedure hands a cursor to its caller", []step{
			{"CREATE PROCEDURE dbo.give @c CURSOR VARYING OUTPUT AS SET @c = CURSOR FORWARD_ONLY STATIC FOR SELECT id FROM dbo.t ORDER BY id; OPEN @c; FETCH @c", ""},
			{"DECLARE @x CURSOR; EXEC dbo.give @c = @x OUTPUT; FETCH @x; SELECT @@FETCH_STATUS", "10 / 20 / 0"},
			{"DECLARE @x CURSOR; SET @x = CURSOR FOR SELECT 1; EXEC dbo.give @x OUTPUT", "!16951"},
			{"DECLARE @x INT; EXEC dbo.give @x OUTPUT", "!206"},
			{"DECLARE @x CURSOR; EXEC dbo.give @x", "!16949"},
			{"DECLARE @x CURSOR; EXEC sp_executesql N'SET @c = CURSOR FOR SELECT 7; OPEN @c', N'@c CURSOR OUTPUT', @x OUTPUT; FETCH @x", "7"},
			{"CREATE PROCEDURE dbo.bad @c CURSOR AS RETURN", "!1051"},
			{"CREATE PROCEDURE dbo.takes @a INT AS RETURN", ""},
			{"DECLARE @x CURSOR; EXEC dbo.takes @x", "!16949"},
		}},
		{"a rollback closes what is not static", []step{
			{"DECLARE s CURSOR STATIC FOR SELECT id FROM dbo.t ORDER BY id; DECLARE d CURSOR DYNAMIC FOR SELECT id FROM dbo.t ORDER BY id", ""},
			{"BEGIN TRANSACTION; OPEN s; OPEN d; FETCH d; COMMIT; FETCH d; FETCH s", "10 / 20 / 10"},
			{"BEGIN TRANSACTION; SAVE TRANSACTION p; ROLLBACK TRANSACTION p; FETCH d; ROLLBACK; FETCH s; SELECT CURSOR_STATUS('global', 'd'); FETCH d", "30 / 20 / -1 !16917"},
			{"SET CURSOR_CLOSE_ON_COMMIT ON; BEGIN TRANSACTION; COMMIT; FETCH s", "!16917"},
		}},
		{"an error that undoes the transaction ends the batch's cursors", []step{
			{"DECLARE s CURSOR STATIC FOR SELECT id FROM dbo.t", ""},
			{"SET XACT_ABORT ON; BEGIN TRANSACTION; DECLARE u CURSOR STATIC FOR SELECT id FROM dbo.t; INSERT INTO dbo.t VALUES (10, '', 1)", `"The statement has been terminated." !2627`},
			{"SELECT CURSOR_STATUS('global', 's'), CURSOR_STATUS('global', 'u')", "-1,-3"},
		}},
		{"tables that change", []step{
			{"DECLARE c CURSOR KEYSET FOR SELECT id FROM dbo.t ORDER BY id; OPEN c; FETCH c", "10"},
			{"CREATE TABLE dbo.other (a INT); FETCH c", "20"},
			{"ALTER TABLE dbo.t DROP COLUMN n; FETCH c", "!16943"},
			{"CLOSE c; DROP TABLE dbo.t; OPEN c", "!16943"},
			{"EXEC ('CREATE TABLE #x (a INT); DECLARE x CURSOR GLOBAL FOR SELECT a FROM #x'); OPEN x", "!16946"},
		}},
		{"SET ROWCOUNT limits what a cursor keeps", []step{
			{"DECLARE c CURSOR STATIC FOR SELECT id FROM dbo.t; SET ROWCOUNT 2; OPEN c; SELECT @@CURSOR_ROWS; SET ROWCOUNT 0", "2"},
		}},
		{"in a trigger", []step{
			{`CREATE TRIGGER dbo.tr ON dbo.t AFTER UPDATE AS
			DECLARE @id INT; DECLARE c CURSOR LOCAL FOR SELECT id FROM inserted ORDER BY id; OPEN c; FETCH c INTO @id;
			WHILE @@FETCH_STATUS = 0 BEGIN INSERT INTO dbo.h VALUES (@id, 0); FETCH c INTO @id END`, ""},
			{"UPDATE dbo.t SET n = 0 WHERE id < 30; SELECT a FROM dbo.h WHERE b = 0 ORDER BY a", "10 20"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, cursorRows, c.steps)
		})
	}
}

func TestPositionedChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"the row that a dynamic cursor is on", []step{
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.t ORDER BY id; OPEN c; UPDATE dbo.t SET n = 0 WHERE CURRENT OF c", "!16931"},
			{"FETCH c; FETCH c; UPDATE dbo.t SET n = 22 OUTPUT deleted.n WHERE CURRENT OF c; UPDATE dbo.t SET n += 1 WHERE CURRENT OF c; SELECT @@ROWCOUNT", "10 / 20 / 2 / 1"},
			{"DELETE FROM dbo.t WHERE CURRENT OF c; UPDATE dbo.t SET n = 0 WHERE CURRENT OF c", "!16931"},
			{"FETCH c; SELECT id, n FROM dbo.t ORDER BY id", "30 / 10,1 30,3 40,4"},
		}},
		{"the row that a keyset is on, by its new key too", []step{
			{"DECLARE c CURSOR KEYSET FOR SELECT id FROM dbo.t ORDER BY id; OPEN c; FETCH c; UPDATE dbo.t SET id = 11 WHERE CURRENT OF c; FETCH NEXT FROM c; FETCH PRIOR FROM c", "10 / 20 / 11"},
			{"DELETE dbo.t WHERE CURRENT OF c; FETCH FIRST FROM c; SELECT @@FETCH_STATUS", " / -2"},
		}},
		{"one table of a join, and a cursor of a variable", []step{
			{`DECLARE @c CURSOR; SET @c = CURSOR KEYSET FOR SELECT t.id FROM dbo.t AS t JOIN dbo.part AS p ON p.t = t.id ORDER BY t.id, p.no;
			OPEN @c; FETCH @c; FETCH @c; DELETE FROM dbo.part WHERE CURRENT OF @c; UPDATE dbo.t SET n = 0 WHERE CURRENT OF @c;
			SELECT COUNT(*), MIN(n) FROM dbo.part JOIN dbo.t ON id = t`, "10 / 10 / 4,0"},
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.t; OPEN c; FETCH c; DELETE FROM dbo.h WHERE CURRENT OF c", "40 !16933"},
		}},
		{"cursors that are read only", []step{
			{"DECLARE c CURSOR STATIC FOR SELECT id FROM dbo.t; OPEN c; FETCH c; DELETE FROM dbo.t WHERE CURRENT OF c", "40 !16929"},
			{"DECLARE d CURSOR READ_ONLY FOR SELECT id FROM dbo.t; OPEN d; FETCH d; DELETE FROM dbo.t WHERE CURRENT OF d", "40 !16929"},
			{"DECLARE e CURSOR FOR SELECT id FROM dbo.t WITH (NOLOCK); OPEN e; FETCH e; DELETE FROM dbo.t WHERE CURRENT OF e", "40 !16929"},
			{"DELETE FROM dbo.t WHERE CURRENT OF nobody", "!16916"},
			{"CLOSE d; DELETE FROM dbo.t WHERE CURRENT OF d", "!16917"},
		}},
		{"the columns of FOR UPDATE OF", []step{
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.t ORDER BY id FOR UPDATE OF n; OPEN c; FETCH c; UPDATE dbo.t SET n = 5 WHERE CURRENT OF c; UPDATE dbo.t SET name = '' WHERE CURRENT OF c", "10 !16932"},
		}},
		{"through a view", []step{
			{"CREATE VIEW dbo.v AS SELECT id AS k, n AS m FROM dbo.t WHERE n > 1", ""},
			{"DECLARE c CURSOR FOR SELECT k FROM dbo.v ORDER BY k; OPEN c; FETCH c; UPDATE dbo.v SET m = 8 WHERE CURRENT OF c; SELECT m FROM dbo.v WHERE k = 20", "20 / 8"},
		}},
		{"an optimistic cursor finds that somebody was quicker", []step{
			{"DECLARE c CURSOR OPTIMISTIC FOR SELECT id FROM dbo.t ORDER BY id; OPEN c; FETCH c", "10"},
			{"2: UPDATE dbo.t SET n = 100 WHERE id = 10", ""},
			{"UPDATE dbo.t SET n = 0 WHERE CURRENT OF c", `"Optimistic concurrency check failed. The row was modified outside of this cursor." !16947`},
			{"FETCH c; DELETE FROM dbo.t WHERE id = 20; DELETE FROM dbo.t WHERE CURRENT OF c", `20 "Optimistic concurrency check failed. The row was modified outside of this cursor." !16947`},
		}},
		{"scroll locks keep others away until the next fetch", []step{
			{"DECLARE c CURSOR SCROLL_LOCKS FOR SELECT id FROM dbo.t ORDER BY id; OPEN c; FETCH c; SELECT resource_type, request_mode, request_owner_type FROM sys.dm_tran_locks WHERE request_session_id = @@SPID AND request_owner_type = 'CURSOR'", "10 / OBJECT,IX,CURSOR KEY,U,CURSOR"},
			{"2: SET LOCK_TIMEOUT 0; SELECT n FROM dbo.t WHERE id = 10; UPDATE dbo.t SET n = 0 WHERE id = 10", "1 !1222"},
			{"BEGIN TRANSACTION; COMMIT; UPDATE dbo.t SET n = 7 WHERE CURRENT OF c", ""},
			{"2: UPDATE dbo.t SET n = 0 WHERE id = 10", "!1222"},
			{"FETCH c", "20"},
			{"2: UPDATE dbo.t SET n = 0 WHERE id = 10; UPDATE dbo.t SET n = 0 WHERE id = 20", "!1222"},
			{"CLOSE c; SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_owner_type = 'CURSOR'", "0"},
		}},
		{"without scroll locks, the isolation level decides", []step{
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.t ORDER BY id; OPEN c; FETCH c", "10"},
			{"2: SET LOCK_TIMEOUT 0; UPDATE dbo.t SET n = 0 WHERE id = 10", ""},
			{"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN TRANSACTION; FETCH c", "20"},
			{"2: UPDATE dbo.t SET n = 0 WHERE id = 30; UPDATE dbo.t SET n = 0 WHERE id = 20", "!1222"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, cursorRows, c.steps)
		})
	}
}
