// Package syntax reads T-SQL text into a tree: a lexer that keeps comments, and a recursive-descent parser for the part
// of the language that tables, types, views, functions, procedures and queries are written in.
//
// The parser is strict: whatever it doesn't know is a [diag.Diagnostic] at the place where it stands, never a guess and
// never skipped in silence. After an error it goes on with the next statement, so that one run reports all of them.
// A general T-SQL parser exists (sqlc's teesql); it accepts unknown words as procedure calls, drops what it doesn't
// know and reports errors without a position, so it serves the tests as a second opinion instead.
//
// Tree nodes are plain structs. Each embeds [diag.Span]. Keywords and names are matched without regard to case; names
// keep the spelling of the text.
package syntax
