package sysview

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// column is a row of sys.columns: a column of a table, of a view or of what a function returns.
type column struct {
	db       *schema.Database
	owner    schema.Object
	name     string
	id       int32
	typ      dataType
	nullable bool
	mayRead  bool           // definitions may be read
	of       *schema.Column // nil for views and functions
	table    *schema.Table
}

func (c column) dataType() dataType { return c.typ }

// declaredAs is the type of a table's column.
func declaredAs(c *schema.Column) dataType { return dataType{Type: c.Type, user: c.UserType} }

// columnsOf returns the columns of an object. A view that can't be described, because what it reads is gone, has none.
func columnsOf(c *Context, o schema.Object) []column {
	switch o := o.(type) {
	case *schema.Table:
		list := make([]column, len(o.Columns))
		for i, of := range o.Columns {
			list[i] = column{
				db: c.Database, owner: o, name: of.Name, id: of.ID, typ: declaredAs(of), nullable: of.Nullable, of: of, table: o,
			}
		}
		slices.SortFunc(list, func(a, b column) int { return int(a.id) - int(b.id) })
		return list
	case *schema.Module:
		if c.Describer == nil || !slices.Contains([]string{"V", "IF", "TF"}, o.Kind) {
			return nil
		}
		described, err := c.Describer.Columns(o)
		if err != nil {
			return nil
		}
		list := make([]column, len(described))
		for i, d := range described {
			id := int32(i) + 1
			list[i] = column{db: c.Database, owner: o, name: d.Name, id: id, typ: dataType{Type: d.Type}, nullable: d.Nullable}
		}
		return list
	}
	return nil
}

// ColumnName is the name of an object's column by its id, for COL_NAME; empty if there is none.
func ColumnName(c *Context, o schema.Object, id int32) string {
	for _, column := range columnsOf(c, o) {
		if column.id == id {
			return column.name
		}
	}
	return ""
}

// listColumns lists the columns of all visible objects, for which keep is true.
func listColumns(keep func(c column) bool) func(c *Context) ([]column, error) {
	return func(c *Context) ([]column, error) {
		var list []column
		objects, err := listObjects("U", "V", "IF", "TF", "TT")(c)
		for _, o := range objects {
			mayRead := c.seesDefinition(o.Object)
			for _, one := range columnsOf(c, o.Object) {
				if one.mayRead = mayRead; keep == nil || keep(one) {
					list = append(list, one)
				}
			}
		}
		return list, err
	}
}

const columnColumns = `
	object_id int, name sysname?, column_id int, system_type_id tinyint, user_type_id int, max_length smallint
	precision tinyint, scale tinyint, collation_name sysname?, is_nullable bit?, is_ansi_padded bit, is_rowguidcol bit
	is_identity bit, is_computed bit, is_filestream bit = 0, is_replicated bit? = 0, is_non_sql_subscribed bit? = 0
	is_merge_published bit? = 0, is_dts_replicated bit? = 0, is_xml_document bit = 0, xml_collection_id int = 0
	default_object_id int, rule_object_id int = 0`

const lateColumns = `
	is_sparse bit? = 0, is_column_set bit? = 0, generated_always_type tinyint?
	generated_always_type_desc nvarchar(60)?, encryption_type int? = NULL
	encryption_type_desc nvarchar(64)? = NULL, encryption_algorithm_name sysname? = NULL
	column_encryption_key_id int? = NULL, column_encryption_key_database_name sysname? = NULL, is_hidden bit?
	is_masked bit = 0, graph_type int? = NULL, graph_type_desc nvarchar(60)? = NULL
	is_data_deletion_filter_column bit? = 0, ledger_view_column_type int? = NULL
	ledger_view_column_type_desc nvarchar(60)? = NULL, is_dropped_ledger_column bit? = 0`

// generatedTypes are what GENERATED ALWAYS AS says, with their numbers.
var generatedTypes = map[string]int{"": 0, "ROW START": 1, "ROW END": 2}

var columnRow = getters[column]{
	"object_id":      func(c column) Value { return number(c.owner.Head().ID) },
	"name":           func(c column) Value { return orNull(c.name) },
	"column_id":      func(c column) Value { return number(c.id) },
	"collation_name": func(c column) Value { return c.typ.collation(c.db) },
	"is_nullable":    func(c column) Value { return flag(c.nullable) },
	"is_ansi_padded": func(c column) Value {
		t := c.typ.Type
		return flag(t.IsCharacter() && !t.IsNational() || t.IsBinary() && t.Kind != sqltype.RowVersion || t.Kind == sqltype.SQLVariant)
	},
	"is_rowguidcol": func(c column) Value { return flag(c.of != nil && c.of.RowGUID) },
	"is_identity":   func(c column) Value { return flag(c.of != nil && c.of.Identity) },
	"is_computed":   func(c column) Value { return flag(c.of != nil && c.of.Computed != nil) },
	"is_hidden":     func(c column) Value { return flag(c.of != nil && c.of.Hidden) },
	"generated_always_type": func(c column) Value {
		if c.of == nil {
			return number(0)
		}
		return number(generatedTypes[c.of.Generated])
	},
	"generated_always_type_desc": func(c column) Value {
		if c.of == nil || c.of.Generated == "" {
			return str("NOT_APPLICABLE")
		}
		return str("AS_" + strings.ReplaceAll(c.of.Generated, " ", "_"))
	},
	"default_object_id": func(c column) Value {
		if c.of == nil || c.of.Default == nil {
			return number(0)
		}
		return number(c.of.Default.ID)
	},
}

var computedRow = getters[column]{
	"definition": func(c column) Value {
		if !c.mayRead {
			return Value{}
		}
		return str(Definition(c.of.Computed))
	},
	"is_persisted": func(c column) Value { return flag(c.of.Persisted) },
}

var identityRow = getters[column]{
	"seed_value":      func(c column) Value { return identityValue(c, c.table.Identity.Seed) },
	"increment_value": func(c column) Value { return identityValue(c, c.table.Identity.Increment) },
	"last_value": func(c column) Value {
		if c.table.Identity.Last == nil {
			return Value{}
		}
		return identityValue(c, *c.table.Identity.Last)
	},
}

// identityValue is a number in the type of the identity column.
func identityValue(c column, n int64) Value { return variant(n, c.typ.Type) }

// variant is an integer as a sql_variant of a type.
func variant(n int64, t value.Type) Value {
	v, err := value.Convert(value.OfInt(n), bigInt, t, 0)
	if err != nil {
		v, t = value.OfInt(n), bigInt
	}
	return value.OfVariant(v, t)
}

var bigInt = value.Type{Type: sqltype.Type{Kind: sqltype.BigInt}}

func columnViews() []*View {
	row := []getters[column]{typeGetters[column](), columnRow}
	return []*View{
		relation("sys.columns", columnColumns+lateColumns, listColumns(nil), row...),
		relation("sys.all_columns", columnColumns+lateColumns, listColumns(nil), row...),
		relation("sys.computed_columns", columnColumns+`
			definition nvarchar(max)?, uses_database_collation bit = 1, is_persisted bit`+lateColumns,
			listColumns(func(c column) bool { return c.of != nil && c.of.Computed != nil }), append(row, computedRow)...),
		relation("sys.identity_columns", columnColumns+`
			seed_value sql_variant?, increment_value sql_variant?, last_value sql_variant?
			is_not_for_replication bit? = 0`+lateColumns,
			listColumns(func(c column) bool { return c.of != nil && c.of.Identity && c.table.Identity != nil }),
			append(row, identityRow)...),
	}
}
