package syntax

import "testing"

// dataCases holds statements that read and change rows.
var dataCases = []parseCase{
	{`SELECT 1; SELECT 2`, `[(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)]))) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 2)])))]`},
	{`SELECT 1 SELECT 2`, `[(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)]))) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 2)])))]`},
	{`;;; SELECT 1;;`, `[(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)])))]`},
	{`WITH a AS (SELECT 1 AS x) SELECT * FROM a`, `[(SelectStmt Query=(Query With=[(CTE Name=a Query=(Query Body=(Select Items=[(SelectItem 1 Alias=x)])))] Body=(Select Items=[(SelectItem *)] From=[(TableRef Name=a)])))]`},
	{`PRINT 'x';WITH a (x) AS (SELECT 1) UPDATE t SET x = a.x FROM a`, `[(Print 'x') (Update With=[(CTE Name=a Columns=[x] Query=(Query Body=(Select Items=[(SelectItem 1)])))] Target=(TableRef Name=t) Set=[(Assignment Column=x = a.x)] From=[(TableRef Name=a)])]`},
	{`(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1`, `[(SelectStmt Query=(Query Body=(SetOperation UNION All (ParenQuery Query=(Query Body=(Select Items=[(SelectItem 1)]))) (ParenQuery Query=(Query Body=(Select Items=[(SelectItem 2)])))) OrderBy=[(OrderItem 1)]))]`},
	{`INSERT INTO dbo.t (a, [b c]) VALUES (1, DEFAULT), (@x, NULL)`, `[(Insert Target=(TableRef Name=dbo.t) Columns=[a [b c]] Rows=[[1 DEFAULT] [@x NULL]])]`},
	{`INSERT t VALUES (1)`, `[(Insert Target=(TableRef Name=t) Rows=[[1]])]`},
	{`INSERT TOP (5) INTO t WITH (TABLOCK) (a) OUTPUT inserted.a, 1 AS b INTO @log (x, y) SELECT a FROM u`, `[(Insert Top=(Top N=5) Target=(TableRef Name=t Hints=[(Option Name=TABLOCK)]) Columns=[a] Output=(Output Items=[(SelectItem inserted.a) (SelectItem 1 Alias=b)] Into=(VariableTable Name=@log) IntoColumns=[x y]) Query=(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=u)])))]`},
	{`INSERT @t DEFAULT VALUES`, `[(Insert Target=(VariableTable Name=@t) Default)]`},
	{`INSERT INTO #t (a) EXEC dbo.p @x = 1`, `[(Insert Target=(TableRef Name=#t) Columns=[a] Exec=(Exec Name=dbo.p Args=[(ExecArg Name=@x 1)]))]`},
	{`INSERT INTO t (a) OUTPUT inserted.a INTO l OUTPUT inserted.a AS z (SELECT 1)`, `[(Insert Target=(TableRef Name=t) Columns=[a] Output=(Output Items=[(SelectItem inserted.a)] Into=(TableRef Name=l) Then=(Output Items=[(SelectItem inserted.a Alias=z)])) Query=(Query Body=(ParenQuery Query=(Query Body=(Select Items=[(SelectItem 1)])))))]`},
	{`INSERT INTO t SELECT a FROM u OPTION (RECOMPILE)`, `[(Insert Target=(TableRef Name=t) Query=(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=u)]) Options=[(Option Name=RECOMPILE)]))]`},
	{`UPDATE t SET a.modify('delete /a'), t.b.modify('delete /b')`, `[(Update Target=(TableRef Name=t) Set=[(Assignment Column=a = (Method a Name=modify Args=['delete /a'])) (Assignment Column=t.b = (Method t.b Name=modify Args=['delete /b']))])]`},
	{`UPDATE t SET a = 1, t.b += 2, @x = c, @y = d = e + 1, @z = f *= 3, g = DEFAULT WHERE id = @id`, `[(Update Target=(TableRef Name=t) Set=[(Assignment Column=a = 1) (Assignment Column=t.b += 2) (Assignment Variable=@x = c) (Assignment Variable=@y Column=d = (Binary + e 1)) (Assignment Variable=@z Column=f *= 3) (Assignment Column=g = DEFAULT)] Where=(Compare = id @id))]`},
	{`UPDATE TOP (10) x SET a = NULL OUTPUT deleted.a, inserted.* FROM dbo.t AS x JOIN u ON u.id = x.id WHERE u.b > 1 OPTION (MAXDOP 1)`, `[(Update Top=(Top N=10) Target=(TableRef Name=x) Set=[(Assignment Column=a = NULL)] Output=(Output Items=[(SelectItem deleted.a) (SelectItem inserted.*)]) From=[(Join Kind=INNER (TableRef Name=dbo.t Alias=x) (TableRef Name=u) On=(Compare = u.id x.id))] Where=(Compare > u.b 1) Options=[(Option Name=MAXDOP Value=1)])]`},
	{`UPDATE @t SET a = 1`, `[(Update Target=(VariableTable Name=@t) Set=[(Assignment Column=a = 1)])]`},
	{`UPDATE dbo.t WITH (ROWLOCK, UPDLOCK) SET a = 1 WHERE CURRENT OF c`, `[(Update Target=(TableRef Name=dbo.t Hints=[(Option Name=ROWLOCK) (Option Name=UPDLOCK)]) Set=[(Assignment Column=a = 1)] Cursor=(CursorName Name=c))]`},
	{`DELETE FROM t`, `[(Delete Target=(TableRef Name=t))]`},
	{`DELETE TOP (@n) t OUTPUT deleted.id INTO @gone WHERE a < 1`, `[(Delete Top=(Top N=@n) Target=(TableRef Name=t) Output=(Output Items=[(SelectItem deleted.id)] Into=(VariableTable Name=@gone)) Where=(Compare < a 1))]`},
	{`DELETE x FROM t AS x INNER JOIN u ON x.id = u.id WHERE u.a = 1`, `[(Delete Target=(TableRef Name=x) From=[(Join Kind=INNER (TableRef Name=t Alias=x) (TableRef Name=u) On=(Compare = x.id u.id))] Where=(Compare = u.a 1))]`},
	{`MERGE INTO dbo.t WITH (HOLDLOCK) AS t USING @s AS s ON t.id = s.id WHEN MATCHED AND t.a <> s.a THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, DEFAULT) WHEN NOT MATCHED BY SOURCE THEN DELETE OUTPUT $action, inserted.id;`, `[(Merge Target=(TableRef Name=dbo.t Alias=t Hints=[(Option Name=HOLDLOCK)]) Source=(VariableTable Name=@s Alias=s) On=(Compare = t.id s.id) Actions=[(MergeAction When=MATCHED And=(Compare <> t.a s.a) Action=UPDATE Set=[(Assignment Column=a = s.a)]) (MergeAction When="NOT MATCHED BY TARGET" Action=INSERT Columns=[id a] Values=[s.id DEFAULT]) (MergeAction When="NOT MATCHED BY SOURCE" Action=DELETE)] Output=(Output Items=[(SelectItem $action) (SelectItem inserted.id)]))]`},
	{`MERGE t USING (SELECT 1 AS id) AS s ON t.id = s.id WHEN NOT MATCHED BY TARGET THEN INSERT DEFAULT VALUES;`, `[(Merge Target=(TableRef Name=t) Source=(DerivedTable Query=(Query Body=(Select Items=[(SelectItem 1 Alias=id)])) Alias=s) On=(Compare = t.id s.id) Actions=[(MergeAction When="NOT MATCHED BY TARGET" Action=INSERT)])]`},
	{`TRUNCATE TABLE dbo.t`, `[(Truncate Table=dbo.t)]`},
	{`TRUNCATE TABLE ..t; DROP TABLE db..t`, `[(Truncate Table=..t) (Drop Kind=TABLE Names=[db..t])]`},
	{`INSERT dbo.t (a) SELECT a FROM OPENJSON(@j) WITH (a int '$.a') AS j WHERE NOT EXISTS (SELECT 1 FROM dbo.t AS x WHERE x.a = j.a)`, `[(Insert Target=(TableRef Name=dbo.t) Columns=[a] Query=(Query Body=(Select Items=[(SelectItem a)] From=[(FunctionTable Call=(Call Name=OPENJSON Args=[@j]) With=[(JSONColumn Name=a Type=type:int Path='$.a')] Alias=j)] Where=(Not (Exists Query=(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=dbo.t Alias=x)] Where=(Compare = x.a j.a))))))))]`},
}

// TestData checks the trees of statements that read and change rows.
func TestData(t *testing.T) {
	t.Parallel()
	runCases(t, statementList, dataCases)
}

// TestDataErrors checks what is said, and where, about statements that read and change rows that can't be read.
func TestDataErrors(t *testing.T) {
	t.Parallel()
	runErrors(t, statementList, []parseCase{
		{`SELECT 1 )`, `1:10: expected a statement, found )`},
		{`SELECT 1 END`, `1:10: END without a BEGIN`},
		{`WITH a AS (SELECT 1 AS b) PRINT 'x'`, `1:27: expected SELECT or INSERT or UPDATE or DELETE or MERGE, found PRINT`},
		{`WITH a (SELECT 1) SELECT 2`, `1:9: expected a name, found SELECT`},
		{`INSERT INTO VALUES (1)`, `1:13: expected the name of a table, found VALUES`},
		{`INSERT INTO t`, `1:14: expected VALUES or SELECT or EXEC or DEFAULT VALUES, found the end of the file`},
		{`INSERT INTO t (a, b) VALUES (1)`, `1:30: expected as many values as there are columns, 2, found 1`},
		{`INSERT INTO t (a) VALUES (1, 2), (3, 4)`, `1:27: expected as many values as there are columns, 1, found 2`},
		{`INSERT INTO t VALUES (1), (2, 3)`, `1:27: the rows of VALUES differ in length: 1 in the first, 2 in row 2`},
		{`INSERT INTO t (a) OUTPUT inserted.a INTO @t (x.a) VALUES (1)`, `1:47: the columns of this list are plain names`},
		{`MERGE t USING s ON t.a = s.a WHEN NOT MATCHED THEN INSERT (t.a) VALUES (1);`, `1:61: the columns of this list are plain names`},
		{`INSERT INTO t (t.) VALUES (1)`, `1:18: expected a name after the dot, found )`},
		{`INSERT INTO t (a) WITH c AS (SELECT 1) SELECT 2`, `1:19: expected VALUES or SELECT, found WITH`},
		{`INSERT INTO t VALUES 1`, `1:22: expected (, found 1`},
		{`UPDATE t`, `1:9: expected SET, found the end of the file`},
		{`UPDATE t SET`, `1:13: expected the name of a column, found the end of the file`},
		{`UPDATE t SET a`, `1:15: expected =, found the end of the file`},
		{`UPDATE t SET a == 1`, `1:17: expected an expression, found =`},
		{`UPDATE t SET a = 1,`, `1:20: expected the name of a column, found the end of the file`},
		{`UPDATE t SET a.WRITE('x', 0, 1)`, `1:16: the .WRITE clause isn't supported`},
		{`UPDATE t SET a = 1 WHERE`, `1:25: expected an expression, found the end of the file`},
		{`UPDATE t SET a = 1 WHERE a = 1 FROM t`, `1:32: FROM can't stand here`},
		{`UPDATE t a SET a.b = 1`, `1:10: the target of UPDATE has no alias`},
		{`DELETE t AS x WHERE x.a = 1`, `1:10: the target of DELETE has no alias`},
		{`DELETE FROM t x`, `1:15: the target of DELETE has no alias`},
		{`DELETE FROM`, `1:12: expected the name of a table, found the end of the file`},
		{`DELETE t WHERE a = 1 OUTPUT deleted.a`, `1:22: OUTPUT can't stand here`},
		{`MERGE t USING s ON t.a = s.a WHEN MATCHED THEN DELETE`, `1:54: expected ;, found the end of the file`},
		{`MERGE t USING s ON t.a = s.a;`, `1:29: expected WHEN, found ;`},
		{`MERGE t USING s ON t.a = s.a WHEN MATCHED THEN INSERT (a) VALUES (1);`, `1:48: expected UPDATE or DELETE, found INSERT`},
		{`MERGE t USING s ON t.a = s.a WHEN NOT MATCHED THEN DELETE;`, `1:52: expected INSERT, found DELETE`},
		{`MERGE t USING s ON t.a = s.a WHEN NOT MATCHED THEN INSERT (a) VALUES (1), (2);`, `1:70: MERGE inserts one row at a time, found 2`},
		{`MERGE t USING s ON t.a = s.a WHEN NOT MATCHED BY FOO THEN DELETE;`, `1:50: expected TARGET, found FOO`},
		{`MERGE t USING s WHEN MATCHED THEN DELETE;`, `1:17: expected ON, found WHEN`},
		{`TRUNCATE t`, `1:10: expected TABLE, found t`},
		{`TRUNCATE TABLE t WITH (PARTITIONS (1))`, `1:18: TRUNCATE of partitions isn't supported`},
		{`SELECT 1; CREATE VIEW v AS SELECT 1`, `1:11: CREATE VIEW must be the first statement of its batch`},
		{`SELECT 1 SELCT 2 SELECT 3`, `1:16: expected a statement, found 2`},
		{`SELECT a FROM t WHERE a = CASE WHEN 1 = 1 THEN x + END; SELECT 2`, `1:52: expected an expression, found END`},
	})
}
