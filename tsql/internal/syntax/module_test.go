package syntax

import "testing"

// moduleCases holds views, functions, procedures and triggers.
var moduleCases = []parseCase{
	{`CREATE VIEW dbo.v (a, b) WITH SCHEMABINDING AS SELECT 1, 2 WITH CHECK OPTION`, `[(CreateView Name=dbo.v Columns=[a b] Options=[(Option Name=SCHEMABINDING)] Query=(Query Body=(Select Items=[(SelectItem 1) (SelectItem 2)])) CheckOption)]`},
	{`CREATE OR ALTER VIEW v AS WITH c AS (SELECT 1 AS a) SELECT a FROM c;`, `[(CreateView OrAlter Name=v Query=(Query With=[(CTE Name=c Query=(Query Body=(Select Items=[(SelectItem 1 Alias=a)])))] Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=c)])))]`},
	{`CREATE FUNCTION dbo.f (@a int, @b nvarchar(10) = N'x') RETURNS int WITH SCHEMABINDING, RETURNS NULL ON NULL INPUT AS BEGIN RETURN @a END`, `[(CreateFunction Name=dbo.f Params=[(Param Name=@a Type=type:int) (Param Name=@b Type=type:nvarchar(10) Default=N'x')] Returns=type:int Options=[(Option Name=SCHEMABINDING) (Option Name="RETURNS NULL ON NULL INPUT")] Body=[(Block Stmts=[(Return @a)])])]`},
	{`CREATE FUNCTION f () RETURNS TABLE AS RETURN (SELECT 1 AS a)`, `[(CreateFunction Name=f Inline=(Query Body=(ParenQuery Query=(Query Body=(Select Items=[(SelectItem 1 Alias=a)])))))]`},
	{`CREATE FUNCTION f () RETURNS TABLE RETURN (WITH c AS (SELECT 1 AS a) SELECT a FROM c);`, `[(CreateFunction Name=f Inline=(Query With=[(CTE Name=c Query=(Query Body=(Select Items=[(SelectItem 1 Alias=a)])))] Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=c)])))]`},
	{`CREATE FUNCTION f () RETURNS @t TABLE (a int) AS BEGIN INSERT @t VALUES (1); RETURN END`, `[(CreateFunction Name=f TableVariable=@t Table=(TableDef Columns=[(ColumnDef Name=a Type=type:int)]) Body=[(Block Stmts=[(Insert Target=(VariableTable Name=@t) Rows=[[1]]) (Return)])])]`},
	{`ALTER FUNCTION dbo.f (@x AS dbo.ids READONLY) RETURNS decimal(10, 2) BEGIN RETURN 1 END;`, `[(CreateFunction Alter Name=dbo.f Params=[(Param Name=@x Type=type:dbo.ids ReadOnly)] Returns=type:decimal(10,2) Body=[(Block Stmts=[(Return 1)])])]`},
	{`CREATE PROC dbo.p AS`, `[(CreateProcedure Name=dbo.p)]`},
	{`CREATE PROCEDURE dbo.p @a int, @b nvarchar(max) = NULL OUTPUT, @t dbo.ids READONLY, @n int = -1, @w varchar(5) = word, @c CURSOR VARYING OUTPUT WITH RECOMPILE, EXECUTE AS OWNER AS SET NOCOUNT ON; SELECT 1 SELECT 2`, `[(CreateProcedure Name=dbo.p Params=[(Param Name=@a Type=type:int) (Param Name=@b Type=type:nvarchar(max) Default=NULL Output) (Param Name=@t Type=type:dbo.ids ReadOnly) (Param Name=@n Type=type:int Default=(Unary - 1)) (Param Name=@w Type=type:varchar(5) Default='word') (Param Name=@c Type=type:CURSOR Output Varying)] Options=[(Option Name=RECOMPILE) (Option Name="EXECUTE AS" Value=OWNER)] Body=[(SetOption Name=NOCOUNT Value=ON) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)]))) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 2)])))])]`},
	{`CREATE OR ALTER PROCEDURE p (@a AS int OUT) AS BEGIN SELECT @a; END`, `[(CreateProcedure OrAlter Name=p Params=[(Param Name=@a Type=type:int Output)] Body=[(Block Stmts=[(SelectStmt Query=(Query Body=(Select Items=[(SelectItem @a)])))])])]`},
	{`ALTER PROC p WITH EXECUTE AS 'joe' FOR REPLICATION AS BEGIN TRY SELECT 1 END TRY BEGIN CATCH THROW END CATCH`, `[(CreateProcedure Alter Name=p Options=[(Option Name="EXECUTE AS" Value=joe)] Body=[(TryCatch Try=[(SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)])))] Catch=[(Throw)])])]`},
	{`CREATE PROCEDURE p @a int NOT NULL = 1, @b int NULL WITH NATIVE_COMPILATION AS DECLARE @c int NOT NULL = 1, @d int NULL`, `[(CreateProcedure Name=p Params=[(Param Name=@a Type=type:int Default=1 Null=2) (Param Name=@b Type=type:int Null=1)] Options=[(Option Name=NATIVE_COMPILATION)] Body=[(Declare Vars=[(VarDecl Name=@c Type=type:int Init=1) (VarDecl Name=@d Type=type:int)])])]`},
	{`CREATE PROCEDURE p AS EXTERNAL NAME a.b.c`, `[(CreateProcedure Name=p External)]`},
	{`CREATE TRIGGER dbo.tr ON dbo.t WITH EXECUTE AS SELF AFTER INSERT, UPDATE NOT FOR REPLICATION AS IF UPDATE(a) RETURN; SELECT 1`, `[(CreateTrigger Name=dbo.tr Table=dbo.t Options=[(Option Name="EXECUTE AS" Value=SELF)] Events=[INSERT UPDATE] Body=[(If Cond=(UpdateTest Column=a) Then=(Return)) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)])))])]`},
	{`CREATE TRIGGER tr ON t INSTEAD OF DELETE AS RETURN`, `[(CreateTrigger Name=tr Table=t Events=[DELETE] InsteadOf Body=[(Return)])]`},
	{`CREATE TRIGGER tr ON DATABASE FOR CREATE_TABLE, DROP_TABLE AS PRINT 'x'`, `[(CreateTrigger Name=tr Events=[CREATE_TABLE DROP_TABLE] Body=[(Print 'x')])]`},
	{`CREATE TRIGGER tr ON ALL SERVER FOR LOGON AS ROLLBACK`, `[(CreateTrigger Name=tr Events=[LOGON] Body=[(Transaction Verb=ROLLBACK)])]`},
}

// TestModule checks the trees of views, functions, procedures and triggers.
func TestModule(t *testing.T) {
	t.Parallel()
	runCases(t, statementList, moduleCases)
}

// TestModuleErrors checks what is said, and where, about views, functions, procedures and triggers that can't be read.
func TestModuleErrors(t *testing.T) {
	t.Parallel()
	runErrors(t, statementList, []parseCase{
		{`CREATE VIEW v AS SELECT 1; SELECT 2`, `1:28: expected the end of the batch after the query of a view, found SELECT`},
		{`CREATE VIEW v SELECT 1`, `1:15: expected AS, found SELECT`},
		{`CREATE VIEW v AS`, `1:17: expected SELECT, found the end of the file`},
		{`CREATE PROCEDURE p SELECT 1`, `1:20: expected AS, found SELECT`},
		{`CREATE PROCEDURE p;2 AS SELECT 1`, `1:20: numbered procedures aren't supported`},
		{`CREATE PROCEDURE p a int AS SELECT 1`, `1:20: expected AS, found a`},
		{`CREATE PROCEDURE p @a AS SELECT 1`, `1:26: expected a data type, found SELECT`},
		{`CREATE PROCEDURE p @a int @b int AS SELECT 1`, `1:27: expected AS, found @b`},
		{`CREATE PROCEDURE p @a int = GETDATE() AS SELECT 1`, `1:29: the default of a parameter is a constant or NULL`},
		{`CREATE PROCEDURE p @a int NOT NULL AS SELECT 1`, `1:20: the parameter @a is NOT NULL in a module that is not natively compiled`},
		{`ALTER PROCEDURE p (@a int NOT NULL = 1 OUTPUT) WITH RECOMPILE AS SELECT 1`, `1:20: the parameter @a is NOT NULL in a module that is not natively compiled`},
		{`CREATE FUNCTION f (@a int, @b AS int NOT NULL) RETURNS TABLE AS RETURN SELECT 1 AS a`, `1:28: the parameter @b is NOT NULL in a module that is not natively compiled`},
		{`CREATE FUNCTION f (@a int NOT NULL) RETURNS int WITH SCHEMABINDING AS BEGIN RETURN 1 END`, `1:20: the parameter @a is NOT NULL in a module that is not natively compiled`},
		{`CREATE PROCEDURE p AS DECLARE @a int NOT NULL = 1`, `1:38: the variable @a is NOT NULL outside a natively compiled module`},
		{`CREATE PROCEDURE p WITH FOO AS SELECT 1`, `1:25: expected EXECUTE AS or RECOMPILE or ENCRYPTION or NATIVE_COMPILATION or SCHEMABINDING, found FOO`},
		{`CREATE PROCEDURE p WITH EXECUTE AS joe AS SELECT 1`, `1:36: expected CALLER or SELF or OWNER or a user's name as a string, found joe`},
		{`CREATE PROCEDURE p AS SELECT 1 CREATE PROCEDURE q AS SELECT 2`, `1:32: CREATE PROCEDURE must be the first statement of its batch`},
		{`CREATE FUNCTION f RETURNS int AS BEGIN RETURN 1 END`, `1:19: expected (, found RETURNS`},
		{`CREATE FUNCTION f () RETURNS int AS RETURN 1`, `1:37: expected BEGIN, found RETURN`},
		{`CREATE FUNCTION f () RETURNS int AS BEGIN RETURN 1 END SELECT 2`, `1:56: expected the end of the batch after the END of a function, found SELECT`},
		{`CREATE FUNCTION f () RETURNS int AS BEGIN IF 1 = 1 RETURN 1 ELSE RETURN 2 END`, `1:75: the last statement of a function must be RETURN`},
		{`CREATE FUNCTION f () RETURNS TABLE AS RETURN SELECT a FROM t ORDER BY a`, `1:71: ORDER BY in an inline function orders nothing`},
		{`CREATE VIEW v AS SELECT a FROM t ORDER BY a`, `1:43: ORDER BY in a view orders nothing`},
		{`CREATE OR REPLACE VIEW v AS SELECT 1 AS a`, `1:11: expected ALTER, found REPLACE`},
		{`SET QUOTED_IDENTIFIER OFF; SELECT "a" AS b`, `1:35: under SET QUOTED_IDENTIFIER OFF double quotes hold a string`},
		{`CREATE FUNCTION f () RETURNS TABLE AS BEGIN RETURN SELECT 1 END`, `1:39: expected RETURN, found BEGIN`},
		{`CREATE TRIGGER tr ON t AS SELECT 1`, `1:24: expected AFTER or FOR or INSTEAD OF, found AS`},
		{`CREATE TRIGGER tr ON t AFTER TRUNCATE AS SELECT 1`, `1:30: expected INSERT or UPDATE or DELETE, found TRUNCATE`},
	})
}
