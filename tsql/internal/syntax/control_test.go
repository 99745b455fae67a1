package syntax

import "testing"

// controlCases holds control of flow, transactions and errors.
var controlCases = []parseCase{
	{`IF @a = 1 SELECT 1 ELSE SELECT 2`, `[(If Cond=(Compare = @a 1) Then=(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)]))) Else=(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 2)]))))]`},
	{`IF @a = 1 SELECT 1; ELSE IF @a = 2 SELECT 2; ELSE SELECT 3; SELECT 4`, `[(If Cond=(Compare = @a 1) Then=(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)]))) Else=(If Cond=(Compare = @a 2) Then=(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 2)]))) Else=(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 3)]))))) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 4)])))]`},
	{`IF EXISTS (SELECT 1 FROM t) BEGIN PRINT 'a'; PRINT 'b' END ELSE RETURN`, `[(If Cond=(Exists Query=(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t)]))) Then=(Block Stmts=[(Print 'a') (Print 'b')]) Else=(Return))]`},
	{`IF @a = 1 SET NOCOUNT, XACT_ABORT ON`, `[(If Cond=(Compare = @a 1) Then=(Block Stmts=[(SetOption Name=NOCOUNT Value=ON) (SetOption Name=XACT_ABORT Value=ON)]))]`},
	{`WHILE @i < 10 BEGIN SET @i += 1; IF @i = 5 BREAK; CONTINUE END`, `[(While Cond=(Compare < @i 10) Body=(Block Stmts=[(SetVariable Variable=@i += 1) (If Cond=(Compare = @i 5) Then=(Break)) (Continue)]))]`},
	{`BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english') SELECT 1 END`, `[(Block Atomic=[(Option Name="TRANSACTION ISOLATION LEVEL" Value=SNAPSHOT) (Option Name=LANGUAGE Value=N'us_english')] Stmts=[(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)])))])]`},
	{`BEGIN TRY SELECT 1; END TRY BEGIN CATCH END CATCH`, `[(TryCatch Try=[(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)])))])]`},
	{`BEGIN TRY SELECT 1 END TRY BEGIN CATCH IF XACT_STATE() <> 0 ROLLBACK TRANSACTION; THROW; END CATCH; SELECT 2`, `[(TryCatch Try=[(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)])))] Catch=[(If Cond=(Compare <> (Call Name=XACT_STATE) 0) Then=(Transaction Verb=ROLLBACK)) (Throw)]) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 2)])))]`},
	{`RETURN`, `[(Return)]`},
	{`RETURN -1`, `[(Return (Unary - 1))]`},
	{`RETURN (SELECT MAX(a) FROM t)`, `[(Return (Subquery Query=(Query Body=(Select Items=[(SelectItem (Call Name=MAX Args=[a]))] From=[(TableRef Name=t)]))))]`},
	{`GOTO done; SELECT 1 done: RETURN 0`, `[(Goto Label=done) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)]))) (Label Label=done) (Return 0)]`},
	{`THROW`, `[(Throw)]`},
	{`THROW 50001, N'text', 1`, `[(Throw Number=50001 Message=N'text' State=1)]`},
	{`THROW @n, @m, @s`, `[(Throw Number=@n Message=@m State=@s)]`},
	{`BEGIN CATCHES: SELECT 1 END`, `[(Block Stmts=[(Label Label=CATCHES) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)])))])]`},
	{`RAISERROR ('x %d', 16, 1, @a) WITH NOWAIT, LOG`, `[(Raiserror Args=['x %d' 16 1 @a] Options=[(Option Name=NOWAIT) (Option Name=LOG)])]`},
	{`RAISERROR (50001, -1, -1)`, `[(Raiserror Args=[50001 (Unary - 1) (Unary - 1)])]`},
	{`PRINT N'a' + @b`, `[(Print (Binary + N'a' @b))]`},
	{`WAITFOR DELAY '00:00:05'`, `[(Waitfor Kind=DELAY '00:00:05')]`},
	{`WAITFOR TIME @t`, `[(Waitfor Kind=TIME @t)]`},
	{`BEGIN TRAN`, `[(Transaction Verb=BEGIN)]`},
	{`BEGIN TRANSACTION t1 WITH MARK N'x'; COMMIT`, `[(Transaction Verb=BEGIN Name=t1 Mark) (Transaction Verb=COMMIT)]`},
	{`BEGIN DISTRIBUTED TRANSACTION @t; COMMIT TRAN t1 WITH (DELAYED_DURABILITY = ON)`, `[(Transaction Verb=BEGIN Name=@t Distributed) (Transaction Verb=COMMIT Name=t1 Delayed)]`},
	{`COMMIT WORK; ROLLBACK WORK; ROLLBACK; ROLLBACK TRAN [x y]; SAVE TRAN s`, `[(Transaction Verb=COMMIT) (Transaction Verb=ROLLBACK) (Transaction Verb=ROLLBACK) (Transaction Verb=ROLLBACK Name="[x y]") (Transaction Verb=SAVE Name=s)]`},
	{`ROLLBACK TRANSACTION SELECT 1`, `[(Transaction Verb=ROLLBACK) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)])))]`},
	{`p2: SELECT 1`, `[(Label Label=p2) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)])))]`},
	{`IF @a = 1 RETURN ELSE IF @b = 2 BEGIN RETURN 5 END`, `[(If Cond=(Compare = @a 1) Then=(Return) Else=(If Cond=(Compare = @b 2) Then=(Block Stmts=[(Return 5)])))]`},
}

// TestControl checks the trees of control of flow, transactions and errors.
func TestControl(t *testing.T) {
	t.Parallel()
	runCases(t, statementList, controlCases)
}

// TestControlErrors checks what is said, and where, about control of flow, transactions and errors that can't be read.
func TestControlErrors(t *testing.T) {
	t.Parallel()
	runErrors(t, statementList, []parseCase{
		{`SELCT 1`, `1:1: unknown statement "SELCT"`},
		{`SELCT 1; SELECT 2`, `1:1: unknown statement "SELCT"`},
		{`sp_who`, `1:1: unknown statement "sp_who"`},
		{`dbo.p 1`, `1:1: unknown statement "dbo"`},
		{`[p] 1`, `1:1: unknown statement "p"`},
		{`UPDTE t SET a = 1`, `1:1: unknown statement "UPDTE"`},
		{`EXECT p`, `1:1: unknown statement "EXECT"`},
		{`1`, `1:1: expected a statement, found 1`},
		{`)`, `1:1: expected a statement, found )`},
		{`FROM t`, `1:1: expected a statement, found FROM`},
		{`END`, `1:1: END without a BEGIN`},
		{`ELSE SELECT 1`, `1:1: ELSE without an IF`},
		{`IF 1 = 1 SELECT 1; SELECT 2; ELSE SELECT 3`, `1:30: ELSE without an IF`},
		{`IF 1 = 1`, `1:9: expected a statement, found the end of the file`},
		{`IF 1 = 1 END`, `1:10: expected a statement, found END`},
		{`IF @a SELECT 1`, `1:4: expected a condition, found a value`},
		{`IF 1 = 1 ELSE SELECT 1`, `1:10: expected a statement, found ELSE`},
		{`WHILE 1 = 1`, `1:12: expected a statement, found the end of the file`},
		{`BEGIN END`, `1:7: expected a statement, found END`},
		{`BEGIN SELECT 1`, `1:15: expected END, found the end of the file; the BEGIN of line 1 has none`},
		{`BEGIN TRY SELECT 1 END TRY`, `1:27: expected BEGIN CATCH, found the end of the file`},
		{`BEGIN TRY SELECT 1 END`, `1:23: expected TRY, found the end of the file`},
		{`BEGIN TRY END TRY BEGIN CATCH END CATCH`, `1:11: expected a statement, found END`},
		{`BEGIN TRY SELECT 1 END TRY; BEGIN CATCH SELECT 2 END CATCH`, `1:27: END TRY must be followed by BEGIN CATCH at once`},
		{`BEGIN CATCH SELECT 1 END CATCH`, `1:7: CATCH without a TRY`},
		{`BEGIN TRY SELECT 1 END TRY SELECT 2`, `1:28: expected BEGIN CATCH, found SELECT`},
		{`BEGIN DIALOG @h`, `1:1: Service Broker (BEGIN DIALOG) isn't supported`},
		{`BEGIN END CONVERSATION @h END`, `1:7: Service Broker (END CONVERSATION) isn't supported`},
		{`RECEIVE TOP (1) @h = conversation_handle FROM dbo.q`, `1:1: Service Broker (RECEIVE) isn't supported`},
		{`SEND ON CONVERSATION @h MESSAGE TYPE [x] (N'y')`, `1:1: Service Broker (SEND ON) isn't supported`},
		{`WAITFOR (RECEIVE * FROM dbo.q), TIMEOUT 1000`, `1:10: Service Broker (RECEIVE) isn't supported`},
		{`ROLLBACK TRANSACTION THROW`, `1:22: THROW must be separated from the statement before it`},
		{`PRINT 'x' THROW`, `1:11: THROW must be separated from the statement before it`},
		{`PRINT 'x' WITH a AS (SELECT 1 AS b) SELECT b FROM a`, `1:11: WITH must be separated from the statement before it`},
		{`SAVE TRAN`, `1:10: expected the name of a savepoint, found the end of the file`},
		{`BEGIN TRAN 5`, `1:12: expected a statement, found 5`},
		{`COMMIT TRANSACTION t1 t2`, `1:23: unknown statement "t2"`},
		{`THROW 50001, 'a'`, `1:17: expected a comma, found the end of the file`},
		{`THROW 50001, CONCAT('a', 'b'), 1`, `1:14: THROW takes constants and variables, not expressions`},
		{`RAISERROR 50001 'x'`, `1:11: expected (, found 50001`},
		{`RAISERROR ('x', 16)`, `1:1: RAISERROR needs at least 3 arguments, not 2`},
		{`RAISERROR ('x' + @y, 16, 1)`, `1:12: RAISERROR takes constants and variables, not expressions`},
		{`RAISERROR ('x', 16, 1) WITH NOWIAT`, `1:29: expected LOG or NOWAIT or SETERROR, found NOWIAT`},
		{`PRINT`, `1:6: expected an expression, found the end of the file`},
		{`WAITFOR 5`, `1:9: expected DELAY or TIME, found 5`},
		{`WAITFOR DELAY`, `1:14: expected an expression, found the end of the file`},
		{`GOTO`, `1:5: expected a label, found the end of the file`},
		{`GOTO 5`, `1:6: expected a label, found 5`},
		{`IF 1 = 1 CREATE VIEW v AS SELECT 1`, `1:10: CREATE VIEW can't stand within other statements`},
		{`BEGIN CREATE PROCEDURE p AS SELECT 1 END`, `1:7: CREATE PROCEDURE can't stand within other statements`},
		{`BEGIN SELECT CASE WHEN 1 = THEN 2 END; SELECT 2 END`, `1:28: expected an expression, found THEN`},
		{`BEGIN TRY BEGIN SELECT 1 END TRY BEGIN CATCH THROW END CATCH SELECT 2`, `1:26: expected END, found END TRY; the BEGIN of line 1 has none`},
		{`BEGIN TRY SELECT 1 END SELECT 2`, `1:24: expected TRY, found SELECT`},
		{`BEGIN TRY SELECT 1 END TRY BEGIN CATCH SELECT 2 END; SELECT 3`, `1:52: expected CATCH, found ;`},
	})
}
