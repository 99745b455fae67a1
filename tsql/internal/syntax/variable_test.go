package syntax

import "testing"

// variableCases holds variables, options and cursors.
var variableCases = []parseCase{
	{`DECLARE @a int, @b AS nvarchar(max) = N'x', @c dbo.udt = (SELECT 1), @d character varying(10), @e double precision`, `[(Declare Vars=[(VarDecl Name=@a Type=type:int) (VarDecl Name=@b Type=type:nvarchar(max) Init=N'x') (VarDecl Name=@c Type=type:dbo.udt Init=(Subquery Query=(Query Body=(Select Items=[(SelectItem 1)])))) (VarDecl Name=@d Type=type:character varying(10)) (VarDecl Name=@e Type=type:double precision)])]`},
	{`DECLARE @a xml(c), @b xml (CONTENT dbo.c), @d xml(DOCUMENT [s].[document]), @e xml(content)`, `[(Declare Vars=[(VarDecl Name=@a Type=type:xml(c)) (VarDecl Name=@b Type=type:xml(dbo.c)) (VarDecl Name=@d Type=type:xml([s].[document])) (VarDecl Name=@e Type=type:xml(content))])]`},
	{`SET @a.modify('delete /a')`, `[(SetVariable Variable=@a = (Method @a Name=modify Args=['delete /a']))]`},
	{`DECLARE @t TABLE (id int NOT NULL PRIMARY KEY, INDEX ix (id))`, `[(Declare Vars=[(VarDecl Name=@t Table=(TableDef Columns=[(ColumnDef Name=id Type=type:int Null=2 Constraint=[(Constraint Kind="PRIMARY KEY")])] Indexes=[(IndexDef Name=ix Columns=[(IndexColumn Name=id)])]))])]`},
	{`DECLARE @t AS TABLE (id int)`, `[(Declare Vars=[(VarDecl Name=@t Table=(TableDef Columns=[(ColumnDef Name=id Type=type:int)]))])]`},
	{`DECLARE @c CURSOR`, `[(Declare Vars=[(VarDecl Name=@c Type=type:CURSOR)])]`},
	{`DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT a FROM t`, `[(CursorStmt CursorName=(CursorName Name=c) Verb=DECLARE Definition=(CursorDefinition Options=[LOCAL FAST_FORWARD] Query=(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=t)]))))]`},
	{`DECLARE c INSENSITIVE CURSOR FOR SELECT a FROM t FOR UPDATE OF a`, `[(CursorStmt CursorName=(CursorName Name=c) Verb=DECLARE Definition=(CursorDefinition Insensitive Query=(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=t)])) Update Columns=[a]))]`},
	{`SET @c = CURSOR SCROLL FOR SELECT 1 FOR READ ONLY`, `[(CursorStmt CursorName=(CursorName Name=@c) Verb=DECLARE Definition=(CursorDefinition Options=[SCROLL] Query=(Query Body=(Select Items=[(SelectItem 1)])) ReadOnly))]`},
	{`OPEN c; FETCH NEXT FROM c INTO @a, @b; FETCH ABSOLUTE -1 FROM GLOBAL c; FETCH c; CLOSE @c DEALLOCATE c`, `[(CursorStmt CursorName=(CursorName Name=c) Verb=OPEN) (CursorStmt CursorName=(CursorName Name=c) Verb=FETCH Direction=NEXT Into=[@a @b]) (CursorStmt CursorName=(CursorName Name=c Global) Verb=FETCH Direction=ABSOLUTE Offset=(Unary - 1)) (CursorStmt CursorName=(CursorName Name=c) Verb=FETCH Direction=NEXT) (CursorStmt CursorName=(CursorName Name=@c) Verb=CLOSE) (CursorStmt CursorName=(CursorName Name=c) Verb=DEALLOCATE)]`},
	{`SET @a = 1`, `[(SetVariable Variable=@a = 1)]`},
	{`SET @a += @b * 2`, `[(SetVariable Variable=@a += (Binary * @b 2))]`},
	{`SET NOCOUNT ON`, `[(SetOption Name=NOCOUNT Value=ON)]`},
	{`SET NOCOUNT, XACT_ABORT ON`, `[(SetOption Name=NOCOUNT Value=ON) (SetOption Name=XACT_ABORT Value=ON)]`},
	{`SET TRANSACTION ISOLATION LEVEL READ COMMITTED`, `[(SetOption Name="TRANSACTION ISOLATION LEVEL" Value="READ COMMITTED")]`},
	{`SET IDENTITY_INSERT dbo.t OFF`, `[(SetOption Name="IDENTITY_INSERT dbo.t" Value=OFF)]`},
	{`SET LOCK_TIMEOUT -1`, `[(SetOption Name=LOCK_TIMEOUT Value=-1 (Unary - 1))]`},
	{`SET LOCK_TIMEOUT 5000; SET DEADLOCK_PRIORITY LOW; SET DEADLOCK_PRIORITY @p; SET ROWCOUNT 0; SET TEXTSIZE 100`, `[(SetOption Name=LOCK_TIMEOUT Value=5000 5000) (SetOption Name=DEADLOCK_PRIORITY Value=LOW) (SetOption Name=DEADLOCK_PRIORITY Value=@p @p) (SetOption Name=ROWCOUNT Value=0 0) (SetOption Name=TEXTSIZE Value=100 100)]`},
	{`SET CONTEXT_INFO 0x01; SET LANGUAGE us_english; SET DATEFIRST 1; SET DATEFORMAT dmy; SET STATISTICS IO, TIME ON`, `[(SetOption Name=CONTEXT_INFO Value=0x01 0X01) (SetOption Name=LANGUAGE Value=US_ENGLISH) (SetOption Name=DATEFIRST Value=1 1) (SetOption Name=DATEFORMAT Value=DMY) (SetOption Name="STATISTICS IO" Value=ON) (SetOption Name="STATISTICS TIME" Value=ON)]`},
	{`USE [my db]`, `[(Use Database=[my db])]`},
	{`SET @x = NULL; SET @x ||= 'a'; SELECT @x = 1`, `[(SetVariable Variable=@x = NULL) (SetVariable Variable=@x ||= 'a') (SelectStmt Query=(Query Body=(Select Items=[(SelectItem Variable=@x AssignOp== 1)])))]`},
	{`DECLARE @res int; EXEC @res = sp_getapplock @Resource = @r, @LockMode = 'Exclusive', @LockOwner = 'Transaction', @LockTimeout = 0`, `[(Declare Vars=[(VarDecl Name=@res Type=type:int)]) (Exec Status=@res Name=sp_getapplock Args=[(ExecArg Name=@Resource @r) (ExecArg Name=@LockMode 'Exclusive') (ExecArg Name=@LockOwner 'Transaction') (ExecArg Name=@LockTimeout 0)])]`},
}

// TestVariable checks the trees of variables, options and cursors.
func TestVariable(t *testing.T) {
	t.Parallel()
	runCases(t, statementList, variableCases)
}

// TestVariableErrors checks what is said, and where, about variables, options and cursors that can't be read.
func TestVariableErrors(t *testing.T) {
	t.Parallel()
	runErrors(t, statementList, []parseCase{
		{`DECLARE a int`, `1:11: expected CURSOR, found int`},
		{`DECLARE @a`, `1:11: expected a data type, found the end of the file`},
		{`DECLARE @a int =`, `1:17: expected an expression, found the end of the file`},
		{`DECLARE @a int @b int`, `1:16: expected a statement, found @b`},
		{`DECLARE @a xml(1, c)`, `1:19: expected a number or max, found c`},
		{`DECLARE @a decimal(10, )`, `1:24: expected a number or max, found )`},
		{`DECLARE @a nvarchar(max`, `1:24: expected ), found the end of the file`},
		{`DECLARE @a int, @t TABLE (id int)`, `1:17: the table variable @t shares its DECLARE`},
		{`DECLARE @t TABLE (id int), @a int`, `1:9: the table variable @t shares its DECLARE`},
		{`DECLARE @t TABLE (id int), @u TABLE (id int)`, `1:9: the table variable @t shares its DECLARE`},
		{`DECLARE @t TABLE`, `1:17: expected (, found the end of the file`},
		{`DECLARE @t TABLE ()`, `1:19: expected the name of a column, found )`},
		{`DECLARE @t TABLE (a)`, `1:20: expected a data type, found )`},
		{`DECLARE c CURSOR SELECT 1`, `1:18: expected FOR, found SELECT`},
		{`SET`, `1:4: expected a variable or an option, found the end of the file`},
		{`SET @a`, `1:7: expected =, found the end of the file`},
		{`SET @a 1`, `1:8: expected =, found 1`},
		{`SET @a.insert('x')`, `1:7: expected =, found .`},
		{`SET a = 1`, `1:5: unknown option "a" of SET`},
		{`SET NOCUONT ON`, `1:5: unknown option "NOCUONT" of SET`},
		{`SET NOCOUNT`, `1:12: expected ON or OFF, found the end of the file`},
		{`SET NOCOUNT 1`, `1:13: expected ON or OFF, found 1`},
		{`SET NOCOUNT, FOO ON`, `1:14: unknown option "FOO" of SET`},
		{`SET TRANSACTION ISOLATION LEVEL READ`, `1:33: expected READ COMMITTED or READ UNCOMMITTED or REPEATABLE READ or SNAPSHOT or SERIALIZABLE, found READ`},
		{`SET IDENTITY_INSERT t`, `1:22: expected ON or OFF, found the end of the file`},
		{`SET DEADLOCK_PRIORITY MEDIUM`, `1:23: expected a constant or a variable or LOW or NORMAL or HIGH, found MEDIUM`},
		{`SET LOCK_TIMEOUT @a + 1`, `1:18: SET LOCK_TIMEOUT takes constants and variables, not expressions`},
		{`SET STATISTICS FOO ON`, `1:16: expected IO or TIME or XML or PROFILE, found FOO`},
		{`OPEN`, `1:5: expected the name of a cursor, found the end of the file`},
		{`FETCH NEXT c`, `1:12: expected FROM, found c`},
		{`FETCH NEXT FROM c INTO a`, `1:24: expected a variable, found a`},
		{`CLOSE 5`, `1:7: expected the name of a cursor, found 5`},
		{`USE`, `1:4: expected the name of a database, found the end of the file`},
	})
}
