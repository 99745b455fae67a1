package tsqltest_test

import "testing"

// sp_addtype makes an alias type as CREATE TYPE does. Its third argument says whether columns may be NULL that don't
// say so themselves, and sp_droptype removes a type that nobody uses.
func TestAddType(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"EXEC sp_addtype id, 'varchar(11)', 'NOT NULL'", ""},
		{"EXEC sp_addtype @typename = N'note', @phystype = 'nvarchar(200)', @nulltype = 'null'", ""},
		{"EXEC sys.sp_addtype 'code', 'char( 3 )', 'NONULL'", ""},
		{"EXEC sp_addtype 'amount', 'decimal(9, 2)'", ""},
		{"CREATE TABLE dbo.t (a id, b note, c code, d amount, e id NULL)", ""},
		{
			`SELECT c.name, y.name, c.max_length, c.is_nullable FROM sys.columns AS c
				JOIN sys.types AS y ON y.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('dbo.t') ORDER BY c.column_id`,
			"a|id|11|false, b|note|400|true, c|code|3|false, d|amount|5|true, e|id|11|true",
		},
		{"SELECT SCHEMA_NAME(schema_id) FROM sys.types WHERE name = 'id'", "dbo"},
		{"DECLARE @r int; EXEC @r = sp_addtype 'again', 'int'; EXEC sp_droptype 'again'; SELECT @r", "0"},
		{"SELECT COUNT(*) FROM sys.types WHERE name = 'again'", "0"},
		{"EXEC sp_addtype 'id', 'int'", "219 :1 The type 'dbo.id' already exists, or you do not have permission to create it."},
		{"EXEC sp_addtype 'x', 'int; SELECT 1'", "15036 :1 The data type 'int; SELECT 1' does not exist or you do not have permission."},
		{"EXEC sp_addtype 'x', 'int', 'MAYBE'", "15600 :1 An invalid parameter or option was specified for procedure 'sp_addtype'."},
		{"EXEC sp_addtype 'x'", "201 :1 Procedure or function 'sp_addtype' expects parameter '@phystype', which was not supplied."},
	})
}
