// Package syntax reads T-SQL text into a tree: a lexer that keeps comments, and a recursive-descent parser for the part
// of the language that tables, types, views, functions, procedures and queries are written in.
//
// The parser is strict: whatever it doesn't know is a [diag.Diagnostic] at the place where it stands, never a guess and
// never skipped in silence. After an error it goes on with the next statement, so that one run reports all of them.
// A general T-SQL parser exists (sqlc's teesql); it accepts unknown words as procedure calls, drops what it doesn't
// know and reports errors without a position, so it serves as a second opinion in a test instead: tools/acceptance.
//
// The files in the order in which they explain each other:
//
//	ast.go         the tree: ast_expr.go values and conditions, ast_query.go queries, ast_stmt.go statements,
//	               ast_ddl.go definitions, ast_detail.go what most readers need not know
//	token.go       tokens; lexer.go makes them of the text
//	parser.go      how productions read tokens, and how they fail; names.go has the smallest productions
//	stmt.go        lists of statements, and how reading goes on after an error
//	expr.go        values and conditions: the operators by precedence; operand.go what stands between them, of which
//	               forms.go has CASE, CAST and NEXT VALUE, reference.go columns and calls by their names, and call.go
//	               the arguments of a call
//	query.go       SELECT; source.go what stands in FROM; hints.go the options of both
//	dml.go         INSERT, UPDATE, DELETE, MERGE
//	control.go     IF, TRY, THROW and transactions; variable.go DECLARE, SET and cursors; exec.go EXECUTE
//	ddl.go         CREATE and ALTER; table.go, alter.go, index.go, module.go, drop.go and security.go its families;
//	               detail.go statements of which most readers know the first words only
//	walk.go        how other packages look at a tree; children.go is generated from the node types by walkgen
//	fragment.go    types and columns that stand in comments
//
// Tree nodes are plain structs. Each embeds [diag.Span]. Keywords and names are matched without regard to case; names
// keep the spelling of the text.
package syntax
