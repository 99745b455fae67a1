package live

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/internal/tsql/sqltype"
)

// traits are what a server turned out to tell.
type traits struct {
	// nullability: the metadata of rows says which columns can't be NULL.
	nullability bool
	// odd holds the kinds of expressions that the server types otherwise than T-SQL is defined, with an example. A
	// difference between such kinds says nothing about drift.
	odd map[kinds]string
	// stored holds what the server makes of a type in a table, for those that it can't store as declared.
	stored map[sqltype.Type]sqltype.Type
	// describe: procedures can be described without executing them.
	describe bool
}

// kinds is a pair of what T-SQL makes of an expression and what this server says. Only the kinds count and not the
// lengths, which would make the table of oddities endless.
type kinds struct {
	want, have sqltype.Kind
}

// expressions are typed by the server to find out whether its types mean anything. Each makes a whole pair of kinds
// incomparable, so that only those are here whose pairs nobody confuses by mistake: not int with bigint.
var expressions = []struct {
	text string
	want sqltype.Type
}{
	{"N'a' + N'b'", sqltype.Type{Kind: sqltype.NVarChar, Length: 2}},
	{"'a' + 'b'", sqltype.Type{Kind: sqltype.VarChar, Length: 2}},
	{"0x01 + 0x02", sqltype.Type{Kind: sqltype.VarBinary, Length: 2}},
	{"CAST('a' AS char(1)) + CAST('b' AS char(1))", sqltype.Type{Kind: sqltype.Char, Length: 2}},
	{"CAST(1 AS decimal(10, 2)) * CAST(1 AS bigint)", sqltype.Type{Kind: sqltype.Decimal, Precision: 30, Scale: 2}},
	{"SUM(CAST(1 AS decimal(10, 2)))", sqltype.Type{Kind: sqltype.Decimal, Precision: 38, Scale: 2}},
	{"1e0", sqltype.Type{Kind: sqltype.Float}},
	{"$1.50", sqltype.Type{Kind: sqltype.Money}},
	{"2147483648", sqltype.Type{Kind: sqltype.Decimal, Precision: 10}},
	{"~CAST(1 AS tinyint)", sqltype.Type{Kind: sqltype.TinyInt}},
	{"DATENAME(month, '20000101')", sqltype.Type{Kind: sqltype.NVarChar, Length: 30}},
	{"CAST(1 AS smallint) + CAST(1 AS tinyint)", sqltype.Type{Kind: sqltype.SmallInt}},
	{"CAST(1 AS tinyint) + CAST(1 AS tinyint)", sqltype.Type{Kind: sqltype.TinyInt}},
	{"CAST(1 AS real) + CAST(1 AS real)", sqltype.Type{Kind: sqltype.Real}},
	{"AVG(CAST(1 AS real))", sqltype.Type{Kind: sqltype.Float}},
	{"ISNULL(CAST(NULL AS varchar(3)), 'abcdef')", sqltype.Type{Kind: sqltype.VarChar, Length: 3}},
	{"CASE WHEN 1 = 1 THEN 'a' ELSE N'b' END", sqltype.Type{Kind: sqltype.NVarChar, Length: 1}},
	{"CAST(N'a' AS nchar(2))", sqltype.Type{Kind: sqltype.NChar, Length: 2}},
	{"CAST(0x01 AS binary(2))", sqltype.Type{Kind: sqltype.Binary, Length: 2}},
	{"MAX(CAST('2000-01-01' AS datetime2(3)))", sqltype.Type{Kind: sqltype.DateTime2, Scale: 3}},
	{"MAX(CAST('2000-01-01' AS datetimeoffset(0)))", sqltype.Type{Kind: sqltype.DateTimeOffset}},
	{"MAX(CAST('12:00' AS time(0)))", sqltype.Type{Kind: sqltype.Time}},
	{"CAST('2000-01-01' AS smalldatetime)", sqltype.Type{Kind: sqltype.SmallDateTime}},
	{"CAST(1 AS smallmoney)", sqltype.Type{Kind: sqltype.SmallMoney}},
}

// probe finds out what the server tells. Everything is asked by executing it, since sys.fn_… and version numbers of
// compatible servers are made up to please clients.
func (v *verifier) probe(ctx context.Context) error {
	var version string
	if err := v.conn.QueryRowContext(ctx, "SELECT @@VERSION").Scan(&version); err != nil {
		return err
	}
	v.report.Server, _, _ = strings.Cut(version, "\n")
	v.report.Server = strings.TrimSpace(v.report.Server)
	v.traits.odd = map[kinds]string{}

	// A constant can't be NULL on any server: one that says it may be doesn't know.
	columns, err := v.shape(ctx, "SELECT 1 AS one")
	if err != nil {
		return err
	}
	v.traits.nullability = len(columns) == 1 && columns[0].nullable == no
	if !v.traits.nullability {
		v.report.unchecked("", "nullability of result columns: the server says of the constant 1 that it may be NULL; "+
			"that of the tables is compared instead")
	}
	for _, e := range expressions {
		columns, err := v.shape(ctx, "SELECT "+e.text+" AS x")
		// A server that refuses the expression can't return it from a procedure either.
		if err != nil || len(columns) != 1 || columns[0].Type == e.want {
			continue // what it can't compute it can't return either
		}
		v.traits.odd[kinds{e.want.Kind, columns[0].Type.Kind}] = fmt.Sprintf("it types %s as %s", e.text, columns[0].Type)
	}
	_, err = v.conn.ExecContext(ctx, "SELECT TOP (0) name FROM sys.dm_exec_describe_first_result_set(N'SELECT 1 AS x', NULL, 0)")
	v.traits.describe = err == nil
	if err := dead(ctx, err); err != nil {
		return err
	}
	if !v.traits.describe {
		v.report.unchecked("", "result sets without executing procedures: %s", brief(err))
	}
	return nil
}

// shape executes a statement and returns the columns of its first result set. The error is nil if the server merely
// refused the statement and the connection goes on; then there are no columns.
func (v *verifier) shape(ctx context.Context, statement string) ([]column, error) {
	sets, err := v.sets(ctx, statement)
	if len(sets) == 0 {
		return nil, errors.Join(err, dead(ctx, err))
	}
	return sets[0].columns, dead(ctx, err)
}
