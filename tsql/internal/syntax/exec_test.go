package syntax

import "testing"

// execCases holds EXECUTE in all its forms.
var execCases = []parseCase{
	{`EXEC p`, `[(Exec Name=p)]`},
	{`EXECUTE db..p 1, 'x', @a OUTPUT, NULL, DEFAULT, -5, @@ROWCOUNT`, `[(Exec Name=db..p Args=[(ExecArg 1) (ExecArg 'x') (ExecArg @a Output) (ExecArg NULL) (ExecArg DEFAULT) (ExecArg (Unary - 5)) (ExecArg @@ROWCOUNT)])]`},
	{`EXEC @rc = dbo.p @a = 1, @b = @x OUT, @c = DEFAULT, @d = word`, `[(Exec Status=@rc Name=dbo.p Args=[(ExecArg Name=@a 1) (ExecArg Name=@b @x Output) (ExecArg Name=@c DEFAULT) (ExecArg Name=@d 'word')])]`},
	{`EXEC @proc 1`, `[(Exec ProcVar=@proc Args=[(ExecArg 1)])]`},
	{`EXEC dbo.p WITH RECOMPILE SELECT 1`, `[(Exec Name=dbo.p Options=[(Option Name=RECOMPILE)]) (SelectStmt Query=(Query Body=(Select Items=[(SelectItem 1)])))]`},
	{`EXEC dbo.p @x WITH RESULT SETS ((id int NOT NULL, name nvarchar(10) COLLATE Latin1_General_BIN2 NULL), AS OBJECT dbo.t, AS TYPE dbo.tt)`, `[(Exec Name=dbo.p Args=[(ExecArg @x)] ResultSets=(ResultSets Sets=[(ResultSetDef Columns=[(ColumnDef Name=id Type=type:int Null=2) (ColumnDef Name=name Type=type:nvarchar(10) Null=1 Collation=Latin1_General_BIN2)]) (ResultSetDef Object=dbo.t) (ResultSetDef Type=dbo.tt)]))]`},
	{`EXEC dbo.p WITH RESULT SETS NONE, RECOMPILE`, `[(Exec Name=dbo.p ResultSets=(ResultSets None) Options=[(Option Name=RECOMPILE)])]`},
	{`EXEC p WITH RESULT SETS UNDEFINED`, `[(Exec Name=p ResultSets=(ResultSets Undefined))]`},
	{`EXEC (@sql)`, `[(Exec SQL=[@sql])]`},
	{`EXEC ('SELECT ' + @x + ' FROM t', 1, @y OUTPUT) AS USER = 'joe' AT [srv]`, `[(Exec SQL=[(Binary + (Binary + 'SELECT ' @x) ' FROM t') 1 @y] Options=[(Option Name="AS USER" Value='joe') (Option Name=AT Value=srv)])]`},
	{`EXEC srv.db.dbo.p`, `[(Exec Name=srv.db.dbo.p)]`},
	{`EXECUTE AS USER = 'joe' WITH NO REVERT; REVERT`, `[(Other Words="EXECUTE AS" Detail=(ExecuteAs Kind=USER User='joe' NoRevert)) (Other Words=REVERT Detail=(Revert))]`},
	{`REVERT WITH COOKIE = @c`, `[(Other Words=REVERT Detail=(Revert Cookie=@c))]`},
	{`EXECUTE AS CALLER`, `[(Other Words="EXECUTE AS" Detail=(ExecuteAs Kind=CALLER))]`},
	{`EXEC sys.sp_executesql N'SELECT @a', N'@a int', @a = 1`, `[(Exec Name=sys.sp_executesql Args=[(ExecArg N'SELECT @a') (ExecArg N'@a int') (ExecArg Name=@a 1)])]`},
}

// TestExec checks the trees of EXECUTE in all its forms.
func TestExec(t *testing.T) {
	t.Parallel()
	runCases(t, statementList, execCases)
}

// TestExecErrors checks what is said, and where, about EXECUTE in all its forms that can't be read.
func TestExecErrors(t *testing.T) {
	t.Parallel()
	runErrors(t, statementList, []parseCase{
		{`EXEC`, `1:5: expected the name of a procedure, found the end of the file`},
		{`EXEC p;1`, `1:8: numbered procedures aren't supported`},
		{`EXEC p @a = 1, 2`, `1:16: argument 2 has no name, though one before it has`},
		{`EXEC p @a + 1`, `1:8: EXEC takes constants and variables, not expressions`},
		{`EXEC p dbo.f(1)`, `1:8: EXEC takes constants and variables, not expressions`},
		{`EXEC p 1,`, `1:10: expected an expression, found the end of the file`},
		{`EXEC p 1 OUTPUT`, `1:8: OUTPUT needs a variable that receives the value`},
		{`EXEC p @a 1`, `1:11: expected a statement, found 1`},
		{`EXEC ('x'`, `1:10: expected ), found the end of the file`},
		{`EXEC p WITH RESULT SETS ((a))`, `1:28: expected a data type, found )`},
		{`EXEC p WITH RESULT SETS (AS FOO x)`, `1:29: expected OBJECT or TYPE, found FOO`},
		{`EXEC a.b.c.d.e`, `1:6: a name of 5 parts; at most 4 are possible here`},
		{`EXECUTE AS FOO`, `1:12: expected CALLER or LOGIN or USER, found FOO`},
	})
}
