package tsqltest_test

import "testing"

// cursorRows is a table with a key, one with an index of another order, and one without a key.
const cursorRows = `
	CREATE TABLE dbo.t (id INT NOT NULL PRIMARY KEY, name VARCHAR(10) NOT NULL, n INT NULL);
	CREATE INDEX ix ON dbo.t (name);
	INSERT INTO dbo.t VALUES (10, 'd', 1), (20, 'c', 2), (30, 'b', 3), (40, 'a', 4);
	CREATE TABLE dbo.h (a INT, b INT);
	INSERT INTO dbo.h VALUES (1, 1), (2, 2), (3, 3);
	CREATE TABLE dbo.part (t INT NOT NULL, no INT NOT NULL, PRIMARY KEY (t, no));
	INSERT INTO dbo.part VALUES (10, 1), (10, 2), (30, 1), (40, 1), (40, 2);`

func TestCursors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"every direction of a static cursor", []step{
			{"DECLARE c CURSOR STATIC FOR SELECT id FROM dbo.t ORDER BY id; OPEN c; SELECT @@CURSOR_ROWS, CURSOR_STATUS('global', 'c')", "4,1"},
			{"FETCH PRIOR FROM c; SELECT @@FETCH_STATUS", " / -1"},
			{"FETCH NEXT FROM c; FETCH LAST FROM c; FETCH FROM c; SELECT @@FETCH_STATUS; FETCH PRIOR FROM c", "10 / 40 /  / -1 / 40"},
			{"FETCH FIRST FROM c; FETCH ABSOLUTE 3 FROM c; FETCH ABSOLUTE -2 FROM c; FETCH ABSOLUTE 0 FROM c; FETCH c", "10 / 30 / 30 /  / 10"},
			{"DECLARE @n INT = 2; FETCH RELATIVE @n FROM c; FETCH RELATIVE -1 FROM c; FETCH RELATIVE 0 FROM c; FETCH RELATIVE 9 FROM c", "30 / 20 / 20 / "},
			{"DELETE FROM dbo.t WHERE id = 10; FETCH FIRST FROM c", "10"},
			{"CLOSE c; SELECT @@CURSOR_ROWS, CURSOR_STATUS('global', 'c'); DEALLOCATE c; SELECT CURSOR_STATUS('global', 'c')", "0,-1 / -3"},
		}},
		{"a keyset has the rows that were there, and their present values", []step{
			{"DECLARE c CURSOR KEYSET FOR SELECT id, n FROM dbo.t WHERE n < 4 ORDER BY id; OPEN c; SELECT @@CURSOR_ROWS", "3"},
			{"UPDATE dbo.t SET n = 9 WHERE id = 20; INSERT INTO dbo.t VALUES (25, 'x', 0); DELETE FROM dbo.t WHERE id = 10", ""},
			{"FETCH c; SELECT @@FETCH_STATUS; FETCH c; SELECT @@FETCH_STATUS; FETCH c; FETCH c; SELECT @@FETCH_STATUS", " / -2 / 20,9 / 0 / 30,3 /  / -1"},
			{"UPDATE dbo.t SET id = 31 WHERE id = 30; FETCH LAST FROM c; SELECT @@FETCH_STATUS", " / -2"},
			{"INSERT INTO dbo.t VALUES (30, 'y', 7); FETCH LAST FROM c; SELECT @@FETCH_STATUS", "30,7 / 0"},
			{"FETCH ABSOLUTE 2 FROM c; FETCH RELATIVE 1 FROM c; FETCH PRIOR FROM c", "20,9 / 30,7 / 20,9"},
		}},
		{"a keyset of a join", []step{
			{"DECLARE c CURSOR KEYSET FOR SELECT t.id, p.no FROM dbo.t AS t LEFT JOIN dbo.part AS p ON p.t = t.id WHERE t.id <= 20 ORDER BY t.id, p.no DESC; OPEN c", ""},
			{"FETCH c; FETCH c; FETCH c", "10,2 / 10,1 / 20,<nil>"},
			{"DELETE FROM dbo.part WHERE no = 2; FETCH FIRST FROM c; SELECT @@FETCH_STATUS; FETCH NEXT FROM c", " / -2 / 10,1"},
		}},
		{"a dynamic cursor sees what others do", []step{
			{"DECLARE c CURSOR SCROLL DYNAMIC FOR SELECT id, n FROM dbo.t WHERE n < 9 ORDER BY id; OPEN c; SELECT @@CURSOR_ROWS; FETCH c", "-1 / 10,1"},
			{"2: INSERT INTO dbo.t VALUES (15, 'x', 5); UPDATE dbo.t SET n = 9 WHERE id = 20; DELETE FROM dbo.t WHERE id = 10", ""},
			{"FETCH c; FETCH c; FETCH PRIOR FROM c; FETCH PRIOR FROM c; SELECT @@FETCH_STATUS; FETCH c", "15,5 / 30,3 / 15,5 /  / -1 / 15,5"},
			{"FETCH LAST FROM c; FETCH c; SELECT @@FETCH_STATUS; FETCH PRIOR FROM c; FETCH RELATIVE -2 FROM c; FETCH FIRST FROM c; FETCH RELATIVE 2 FROM c", "40,4 /  / -1 / 40,4 / 15,5 / 15,5 / 40,4"},
			{"FETCH RELATIVE 0 FROM c; DELETE FROM dbo.t WHERE id = 40; FETCH RELATIVE 0 FROM c; SELECT @@FETCH_STATUS; FETCH PRIOR FROM c", "40,4 /  / -2 / 30,3"},
		}},
		{"a dynamic cursor over a join goes on where it was", []step{
			{"DECLARE c CURSOR SCROLL DYNAMIC FOR SELECT t.id, p.no FROM dbo.t AS t JOIN dbo.part AS p ON p.t = t.id ORDER BY t.id OPTION (FORCE ORDER); OPEN c; FETCH c; FETCH c; FETCH c", "10,1 / 10,2 / 30,1"},
			{"INSERT INTO dbo.part VALUES (30, 2), (10, 3), (20, 1); FETCH c; FETCH c; FETCH PRIOR FROM c; FETCH PRIOR FROM c; FETCH PRIOR FROM c; FETCH PRIOR FROM c", "30,2 / 40,1 / 30,2 / 30,1 / 20,1 / 10,3"},
			{"FETCH LAST FROM c; FETCH PRIOR FROM c", "40,2 / 40,1"},
		}},
		{"a dynamic cursor over a heap, one by an index, and one over ranges", []step{
			{"DECLARE c CURSOR DYNAMIC FOR SELECT a FROM dbo.h; OPEN c; FETCH c; DELETE FROM dbo.h WHERE a = 2; INSERT INTO dbo.h VALUES (4, 4); FETCH c; FETCH c; FETCH PRIOR FROM c", "1 / 3 / 4 / 3"},
			{"DECLARE d CURSOR DYNAMIC FOR SELECT name, n FROM dbo.t ORDER BY name DESC; OPEN d; FETCH d; INSERT INTO dbo.t VALUES (1, 'cc', 0), (2, 'c', 0); FETCH d; FETCH d; FETCH d", "d,1 / cc,0 / c,2 / c,0"},
			{"DECLARE e CURSOR DYNAMIC FOR SELECT id FROM dbo.t WHERE id IN (40, 10, 30); OPEN e; FETCH e; FETCH e; FETCH e; FETCH PRIOR FROM e; FETCH PRIOR FROM e; FETCH PRIOR FROM e", "10 / 30 / 40 / 30 / 10 / "},
		}},
		{"what kind of cursor a query allows", []step{
			{"DECLARE a CURSOR DYNAMIC TYPE_WARNING FOR SELECT id FROM dbo.t ORDER BY n; OPEN a; SELECT @@CURSOR_ROWS", `4 "The created cursor is not of the requested type."`},
			{"DECLARE b CURSOR KEYSET TYPE_WARNING FOR SELECT a FROM dbo.h; OPEN b; DELETE FROM dbo.h; FETCH b", `1 "The created cursor is not of the requested type."`},
			{"DECLARE c CURSOR DYNAMIC TYPE_WARNING FOR SELECT DISTINCT n FROM dbo.t; OPEN c; SELECT @@CURSOR_ROWS", `4 "The created cursor is not of the requested type."`},
			{"DECLARE d CURSOR KEYSET TYPE_WARNING FOR SELECT 1; DECLARE e CURSOR KEYSET TYPE_WARNING FOR SELECT id FROM dbo.t", `"The created cursor is not of the requested type."`},
			{"DECLARE f CURSOR FAST_FORWARD FOR SELECT id FROM dbo.t ORDER BY id; OPEN f; SELECT @@CURSOR_ROWS; FETCH f; DELETE FROM dbo.t WHERE id = 20; FETCH f", "-1 / 10 / 30"},
			{"DECLARE g CURSOR FAST_FORWARD FOR SELECT id FROM dbo.t ORDER BY n; OPEN g; DELETE FROM dbo.t WHERE id = 10; FETCH g", "10"},
			{"DECLARE h SCROLL CURSOR FOR SELECT id FROM dbo.t ORDER BY id; OPEN h; SELECT @@CURSOR_ROWS; FETCH ABSOLUTE 2 FROM h", "2 / 40"},
			{"DECLARE i INSENSITIVE CURSOR FOR SELECT id FROM dbo.t ORDER BY id; OPEN i; DELETE FROM dbo.t; FETCH i; FETCH LAST FROM i", "30 !16911"},
		}},
		{"fetches that are refused", []step{
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.t; OPEN c; FETCH LAST FROM c", "!16911"},
			{"SELECT @@FETCH_STATUS; FETCH ABSOLUTE 1 FROM c", "-1 !16911"},
			{"DECLARE d CURSOR FORWARD_ONLY STATIC FOR SELECT id FROM dbo.t; OPEN d; FETCH PRIOR FROM d", "!16911"},
			{"DECLARE e CURSOR DYNAMIC FOR SELECT id FROM dbo.t; OPEN e; FETCH ABSOLUTE 1 FROM e", "!16925"},
			{"DECLARE @a INT, @b INT; FETCH c INTO @a, @b", "!16924"},
			{"DECLARE @x UNIQUEIDENTIFIER; FETCH c INTO @x", "!16922"},
			{"OPEN c", "!16905"},
			{"CLOSE c; CLOSE c", "!16917"},
			{"FETCH c", "!16917"},
			{"OPEN nobody", "!16916"},
			{"DECLARE c CURSOR FOR SELECT 1", "!16915"},
		}},
		{"declarations that are refused", []step{
			{"DECLARE c CURSOR STATIC KEYSET FOR SELECT 1", "!1048"},
			{"DECLARE c CURSOR FAST_FORWARD SCROLL FOR SELECT 1", "!1048"},
			{"DECLARE c CURSOR STATIC SCROLL_LOCKS FOR SELECT 1", "!1048"},
			{"DECLARE c SCROLL CURSOR LOCAL FOR SELECT 1", "!1049"},
			{"DECLARE c CURSOR READ_ONLY FOR SELECT id FROM dbo.t FOR UPDATE", "!16957"},
			{"DECLARE c CURSOR FOR SELECT DISTINCT id FROM dbo.t FOR UPDATE", "!16957"},
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.t FOR UPDATE OF nobody", "!207"},
			{"DECLARE c CURSOR FOR SELECT id INTO #t FROM dbo.t", "!16907"},
			{"DECLARE @a INT; DECLARE c CURSOR FOR SELECT @a = id FROM dbo.t", "!154"},
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.t FOR JSON AUTO", "!13602"},
			{"DECLARE c CURSOR FOR SELECT id FROM dbo.nobody", "!208"},
		}},
		{"variables keep the values of the declaration", []step{
			{"DECLARE @id INT = 20; DECLARE c CURSOR FOR SELECT id FROM dbo.t WHERE id > @id; SET @id = 0; OPEN c; FETCH c", "30"},
			{"DECLARE @id INT = 5; FETCH c", "40"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, cursorRows, c.steps)
		})
	}
}
