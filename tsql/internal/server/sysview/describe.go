package sysview

import (
	"errors"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// ResultColumn is a column of a result set that is not there yet.
type ResultColumn struct {
	Name     string
	Type     value.Type
	UserType *schema.UserType // the alias type of the table's column that it is; nil if none
	Nullable bool
	Identity bool
	Computed bool
}

// described is a row of a description: a column, or the error for which there is none.
type described struct {
	ordinal int
	column  ResultColumn
	failed  *fault.Error
	db      *schema.Database
}

func (d described) dataType() dataType {
	return dataType{Type: d.column.Type, user: d.column.UserType}
}

// describe makes the rows of a description. An error becomes a row, as it does in SQL Server.
func describe(db *schema.Database, columns []ResultColumn, err error) ([]described, error) {
	if err != nil {
		failed, ok := errors.AsType[*fault.Error](err)
		if !ok {
			return nil, err
		}
		return []described{{failed: failed, db: db}}, nil
	}
	list := make([]described, len(columns))
	for i, c := range columns {
		list[i] = described{ordinal: i + 1, column: c, db: db}
	}
	return list, nil
}

const describedColumns = `
	is_hidden bit, column_ordinal int, name sysname?, is_nullable bit, system_type_id int, system_type_name nvarchar(256)?
	max_length smallint, precision tinyint, scale tinyint, collation_name sysname?, user_type_id int?
	user_type_database sysname?, user_type_schema sysname?, user_type_name sysname?
	assembly_qualified_type_name nvarchar(4000)? = NULL, xml_collection_id int? = NULL
	xml_collection_database sysname? = NULL, xml_collection_schema sysname? = NULL, xml_collection_name sysname? = NULL
	is_xml_document bit, is_case_sensitive bit, is_fixed_length_clr_type bit, source_server sysname? = NULL
	source_database sysname? = NULL, source_schema sysname? = NULL, source_table sysname? = NULL
	source_column sysname? = NULL, is_identity_column bit?, is_part_of_unique_key bit? = NULL, is_updateable bit?
	is_computed_column bit?, is_sparse_column_set bit?, ordinal_in_order_by_list smallint? = NULL`

const describedErrors = describedColumns + `
	order_by_is_descending smallint? = NULL, order_by_list_length smallint? = NULL, error_number int?
	error_severity int?, error_state int?, error_message nvarchar(max)?, error_type int?, error_type_desc nvarchar(60)?`

// describedForClients is what sp_describe_first_result_set returns.
const describedForClients = describedColumns + `
	order_by_list_length smallint? = NULL, order_by_is_descending smallint? = NULL, tds_type_id int, tds_length int
	tds_collation_id int? = NULL, tds_collation_sort_id tinyint? = NULL`

// unlessFailed makes a getter for columns, which shows NULL in the row of an error.
func unlessFailed(get func(d described) Value) func(d described) Value {
	return func(d described) Value {
		if d.failed != nil {
			return Value{}
		}
		return get(d)
	}
}

// zeroIfFailed makes a getter for columns that are never NULL, which are 0 in the row of an error.
func zeroIfFailed(get func(d described) Value) func(d described) Value {
	return func(d described) Value {
		if d.failed != nil {
			return number(0)
		}
		return get(d)
	}
}

// ofError makes a getter for the row of an error.
func ofError(get func(e *fault.Error) Value) func(d described) Value {
	return func(d described) Value {
		if d.failed == nil {
			return Value{}
		}
		return get(d.failed)
	}
}

func describedRow() getters[described] {
	types := typeGetters[described]()
	row := getters[described]{
		"is_hidden":      func(described) Value { return flag(false) },
		"column_ordinal": func(d described) Value { return number(d.ordinal) },
		"name":           unlessFailed(func(d described) Value { return orNull(d.column.Name) }),
		"is_nullable":    zeroIfFailed(func(d described) Value { return flag(d.column.Nullable) }),
		"system_type_name": unlessFailed(func(d described) Value {
			if t := d.column.Type.Type; t.Kind != sqltype.Null {
				return str(t.String())
			}
			return str("int")
		}),
		"collation_name":           unlessFailed(func(d described) Value { return d.dataType().collation(d.db) }),
		"is_xml_document":          zeroIfFailed(func(described) Value { return flag(false) }),
		"is_case_sensitive":        zeroIfFailed(func(d described) Value { return flag(isCaseSensitive(d)) }),
		"is_fixed_length_clr_type": zeroIfFailed(func(described) Value { return flag(false) }),
		"is_identity_column":       unlessFailed(func(d described) Value { return flag(d.column.Identity) }),
		"is_updateable":            unlessFailed(func(d described) Value { return flag(!d.column.Computed && !d.column.Identity) }),
		"is_computed_column":       unlessFailed(func(d described) Value { return flag(d.column.Computed) }),
		"is_sparse_column_set":     unlessFailed(func(described) Value { return flag(false) }),
		"tds_type_id":              zeroIfFailed(func(d described) Value { return number(tdsTypes[d.column.Type.Kind]) }),
		"tds_length":               zeroIfFailed(func(d described) Value { return number(tdsLength(d.column.Type)) }),
		"error_number":             ofError(func(e *fault.Error) Value { return number(e.Number) }),
		"error_severity":           ofError(func(e *fault.Error) Value { return number(e.Class) }),
		"error_state":              ofError(func(e *fault.Error) Value { return number(e.State) }),
		"error_message":            ofError(func(e *fault.Error) Value { return str(e.Message) }),
		"error_type":               ofError(func(*fault.Error) Value { return number(1) }),
		"error_type_desc":          ofError(func(*fault.Error) Value { return str("MISC") }),
	}
	for _, c := range []string{"system_type_id", "max_length", "precision", "scale"} {
		row[c] = zeroIfFailed(types[c])
	}
	for c, get := range map[string]func(u *schema.UserType, db *schema.Database) Value{
		"user_type_id":       func(u *schema.UserType, _ *schema.Database) Value { return number(u.ID) },
		"user_type_database": func(_ *schema.UserType, db *schema.Database) Value { return str(db.Name) },
		"user_type_schema":   func(u *schema.UserType, _ *schema.Database) Value { return str(u.Schema.Name) },
		"user_type_name":     func(u *schema.UserType, _ *schema.Database) Value { return str(u.Name) },
	} {
		row[c] = func(d described) Value {
			if d.column.UserType == nil {
				return Value{}
			}
			return get(d.column.UserType, d.db)
		}
	}
	return row
}

func isCaseSensitive(d described) bool {
	name := d.dataType().collation(d.db)
	if name.IsNull() {
		return false
	}
	words := strings.ToUpper(name.Str()) + "_"
	return strings.Contains(words, "_CS_") || strings.Contains(words, "_BIN_") || strings.Contains(words, "_BIN2_")
}

// tdsTypes are the numbers of types on the wire.
var tdsTypes = map[sqltype.Kind]int{
	sqltype.Bit: 104, sqltype.TinyInt: 38, sqltype.SmallInt: 38, sqltype.Int: 38, sqltype.BigInt: 38, sqltype.Decimal: 106,
	sqltype.SmallMoney: 110, sqltype.Money: 110, sqltype.Real: 109, sqltype.Float: 109, sqltype.Char: 175, sqltype.VarChar: 167,
	sqltype.NChar: 239, sqltype.NVarChar: 231, sqltype.Text: 35, sqltype.NText: 99, sqltype.Binary: 173, sqltype.VarBinary: 165,
	sqltype.Image: 34, sqltype.Date: 40, sqltype.Time: 41, sqltype.SmallDateTime: 111, sqltype.DateTime: 111,
	sqltype.DateTime2: 42, sqltype.DateTimeOffset: 43, sqltype.UniqueIdentifier: 36, sqltype.RowVersion: 173, sqltype.XML: 241,
	sqltype.SQLVariant: 98, sqltype.Null: 38,
}

// tdsLength is the length of a column on the wire: 65,535 stands for (max).
func tdsLength(t value.Type) int {
	if length := maxLength(t); length >= 0 {
		return length
	}
	return 65535
}

// DescribeFirstResultSet returns what sp_describe_first_result_set sends for the columns of a first result set.
func DescribeFirstResultSet(db *schema.Database, result []ResultColumn) ([]Column, [][]Value) {
	list, _ := describe(db, result, nil)
	v := clientDescription()
	rows := fill(list, v.definition, v.get, nil)
	return columns(v.definition, db), rows
}

// description is a shape of descriptions with its getters.
type description struct {
	definition []definition
	get        []func(described) Value
}

func newDescription(name, text string) description {
	d := define(name, text)
	return description{d, merge(name, d, []getters[described]{describedRow()})}
}
