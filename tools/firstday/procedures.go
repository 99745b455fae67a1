package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	sqlserver "github.com/microsoft/go-mssqldb"
)

// procedure is a procedure of the schema as the server knows it.
type procedure struct {
	name       string
	parameters []parameter
	// roles may execute it; none may execute a helper, which only other procedures call, in their transaction.
	roles []string
}

// parameter is a parameter of a procedure, or a column of a table type.
type parameter struct {
	name, kind string
	// size is in bytes, -1 for MAX.
	size   int
	output bool
	// columns are those of a table type.
	columns []parameter
}

// procedures reads all procedures of the schema.
func procedures(ctx context.Context, db *sql.DB) (list []procedure, err error) {
	types, err := tableTypes(ctx, db)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT p.name, COALESCE(a.name, N''), COALESCE(t.name, N''), COALESCE(a.max_length, 0), COALESCE(a.is_output, 0),
			COALESCE(STUFF((SELECT N',' + USER_NAME(d.grantee_principal_id) FROM sys.database_permissions AS d
				WHERE d.class = 1 AND d.major_id = p.object_id AND d.type = 'EX' AND d.state = 'G' FOR XML PATH ('')), 1, 1, N''), N'')
		FROM sys.procedures AS p
		LEFT JOIN sys.parameters AS a ON a.object_id = p.object_id
		LEFT JOIN sys.types AS t ON t.user_type_id = a.user_type_id
		WHERE p.schema_id = SCHEMA_ID(@p1)
		ORDER BY p.name, a.parameter_id`, schema)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name, roles string
		var a parameter
		if err := rows.Scan(&name, &a.name, &a.kind, &a.size, &a.output, &roles); err != nil {
			return nil, err
		}
		if len(list) == 0 || list[len(list)-1].name != name {
			list = append(list, procedure{name: name, roles: strings.FieldsFunc(roles, func(r rune) bool { return r == ',' })})
		}
		if a.name != "" {
			a.columns = types[a.kind]
			last := &list[len(list)-1]
			last.parameters = append(last.parameters, a)
		}
	}
	return list, rows.Err()
}

// tableTypes reads the columns of the table types that a statement may fill.
func tableTypes(ctx context.Context, db *sql.DB) (types map[string][]parameter, err error) {
	rows, err := db.QueryContext(ctx, `SELECT tt.name, c.name, t.name, c.max_length
		FROM sys.table_types AS tt
		INNER JOIN sys.columns AS c ON c.object_id = tt.type_table_object_id
		INNER JOIN sys.types AS t ON t.user_type_id = c.user_type_id
		WHERE tt.schema_id = SCHEMA_ID(@p1) AND c.is_identity = 0 AND c.is_computed = 0
		ORDER BY tt.name, c.column_id`, schema)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	types = map[string][]parameter{}
	for rows.Next() {
		var name string
		var c parameter
		if err := rows.Scan(&name, &c.name, &c.kind, &c.size); err != nil {
			return nil, err
		}
		types[name] = append(types[name], c)
	}
	return types, rows.Err()
}

// declaration is the parameter's type in a DECLARE.
func (p parameter) declaration() string {
	size := p.size
	switch {
	case p.columns != nil:
		return schema + "." + p.kind
	case p.kind == "nvarchar" || p.kind == "nchar":
		size /= 2
	case p.kind != "varchar" && p.kind != "char" && p.kind != "varbinary" && p.kind != "binary":
		return p.kind
	}
	if p.size < 0 {
		return p.kind + "(MAX)"
	}
	return fmt.Sprintf("%s(%d)", p.kind, size)
}

// subject is the instance that calls are about: [checkWork] has run it.
const subject = "first day"

// value is an argument of the parameter's type that means something: an instance that is there, an amount of one.
func (p parameter) value() string {
	name := strings.ToLower(p.name)
	switch p.kind {
	case "nvarchar", "varchar", "nchar", "char":
		switch {
		case strings.Contains(name, "status"):
			return "N'Running'"
		case p.size < 0:
			return "N'{}'"
		case p.size > 0 && p.size < 2*len(subject):
			return "N'1'"
		}
		return "N'" + subject + "'"
	case "uniqueidentifier":
		return "NEWID()"
	case "varbinary", "binary":
		return "0x01"
	case "bit":
		return "0"
	case "date", "datetime", "datetime2", "datetimeoffset", "smalldatetime":
		return "SYSUTCDATETIME()"
	}
	return "1"
}

// batch is a call of the procedure with a value for each parameter, and a row in each table.
func (p procedure) batch() string {
	var declares, arguments []string
	for _, a := range p.parameters {
		variable := "@v_" + strings.TrimPrefix(a.name, "@")
		argument := a.name + " = " + variable
		if a.columns == nil {
			declares = append(declares, fmt.Sprintf("DECLARE %s %s = %s;", variable, a.declaration(), a.value()))
		} else {
			names, values := make([]string, len(a.columns)), make([]string, len(a.columns))
			for i, c := range a.columns {
				names[i], values[i] = "["+c.name+"]", c.value()
			}
			declares = append(declares, fmt.Sprintf("DECLARE %s %s; INSERT INTO %s (%s) VALUES (%s);",
				variable, a.declaration(), variable, strings.Join(names, ", "), strings.Join(values, ", ")))
		}
		if a.output {
			argument += " OUTPUT"
		}
		arguments = append(arguments, argument)
	}
	return fmt.Sprintf("%s\nEXEC %s.%s %s;", strings.Join(declares, "\n"), schema, p.name, strings.Join(arguments, ", "))
}

// ours is the lowest number of an error that the procedures raise themselves.
const ours = 50000

// refusals are errors about an argument or a row, which our guesses at arguments may meet: a conversion, a length,
// NULL, a constraint, a key that is there; and what the server adds when a procedure ends the transaction of its
// caller.
var refusals = map[int32]bool{
	220: true, 245: true, 248: true, 515: true, 547: true, 2601: true, 2627: true, 2628: true, 8114: true, 8115: true, 8152: true,
	mismatch: true, 3903: true, 3930: true,
}

// engineError is what an error says of the engine: "" if all of it is an answer to the arguments.
func engineError(err error) string {
	if err == nil {
		return ""
	}
	list := numbersOf(err)
	for _, number := range list {
		if number < ours && !refusals[number] {
			return said(err)
		}
	}
	if len(list) == 0 {
		return err.Error()
	}
	return ""
}

// said is an error in few words: what the server reported, without what it adds when a transaction has ended.
func said(err error) string {
	reported, ok := errors.AsType[sqlserver.Error](err)
	if !ok {
		return err.Error()
	}
	var texts []string
	for _, e := range reported.All {
		if e.Number != mismatch {
			texts = append(texts, fmt.Sprintf("%d %s", e.Number, e.Message))
		}
	}
	if len(texts) == 0 {
		return err.Error()
	}
	return strings.Join(texts, "; ")
}

// mismatch is the error that the server adds when a procedure has ended the transaction of its caller.
const mismatch = 266

// checkProcedures calls each procedure: a helper in a transaction, which is rolled back, the others as the store does.
func checkProcedures(ctx context.Context, at *site) result {
	list, err := procedures(ctx, at.db)
	if err != nil || len(list) == 0 {
		return fails("reading the procedures: %v", err)
	}
	var bad, refused [][]string
	var answered, batches []string
	for _, p := range list {
		name, err := "`"+p.name+"`", at.call(ctx, p)
		switch text := engineError(err); {
		case err == nil:
			answered = append(answered, name)
		case text == "":
			refused = append(refused, []string{name, said(err)})
		default:
			bad = append(bad, []string{name, text})
			batches = append(batches, name+":", "", "```sql", p.batch(), "```", "")
		}
	}
	details := append(table([]string{"Procedure", "Error of the engine"}, bad), batches...)
	details = append(details, table([]string{"Procedure", "Refused the arguments that we guessed"}, refused)...)
	details = append(details, "Answered: "+strings.Join(answered, ", ")+".")
	if len(bad) > 0 {
		return fails("%d of %s met an error of the engine.", len(bad), counted(len(list), "procedure")).with(details...)
	}
	return holds("All of %s were compiled and called. %d refused a lock token or another argument with an error of their own, after which nothing more of them ran here; *work*, *locks* and *damaged indexes* run them in full.",
		counted(len(list), "procedure"), len(refused)).with(details...)
}

// call calls a procedure on a connection of its own.
func (at *site) call(ctx context.Context, p procedure) (err error) {
	conn, err := at.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if len(p.roles) > 0 {
		return execute(ctx, conn, p.batch())
	}
	if err := execute(ctx, conn, "BEGIN TRANSACTION;"); err != nil {
		return err
	}
	err = execute(ctx, conn, p.batch())
	return errors.Join(err, execute(ctx, conn, "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;"))
}
