package sysview

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// longestText is how much of a text the views of INFORMATION_SCHEMA show: 4000 characters.
const longestText = 4000

// excerpt is a text that may be longer than the views show.
func excerpt(s string) Value {
	if runes := []rune(s); len(runes) > longestText {
		s = string(runes[:longestText])
	}
	return str(s)
}

// describedTypes are the getters of the columns that tell a type in the way of the standard, for what has a type.
func describedTypes[T typed](db func(T) *schema.Database) getters[T] {
	kind := func(r T) sqltype.Type { return r.dataType().Type.Type }
	return getters[T]{
		"DATA_TYPE": func(r T) Value {
			if d := r.dataType(); d.user != nil && d.user.Table != nil {
				return str("table type")
			}
			return orNull(systemTypeOf(kind(r)).Name)
		},
		"CHARACTER_MAXIMUM_LENGTH": func(r T) Value { return characters(kind(r), false) },
		"CHARACTER_OCTET_LENGTH":   func(r T) Value { return characters(kind(r), true) },
		"NUMERIC_PRECISION": func(r T) Value {
			if t := kind(r); t.IsNumeric() && t.Kind != sqltype.Bit {
				return number(schema.Precision(r.dataType().Type))
			}
			return Value{}
		},
		"NUMERIC_PRECISION_RADIX": func(r T) Value { return radix(kind(r)) },
		"NUMERIC_SCALE": func(r T) Value {
			if t := kind(r); t.IsNumeric() && t.Kind != sqltype.Bit && !t.IsApproximate() {
				return number(schema.Scale(r.dataType().Type))
			}
			return Value{}
		},
		"DATETIME_PRECISION": func(r T) Value { return secondDigits(kind(r)) },
		"CHARACTER_SET_NAME": func(r T) Value {
			switch t := kind(r); {
			case t.IsNational():
				return str("UNICODE")
			case t.IsCharacter():
				return str("iso_1")
			default:
				return Value{}
			}
		},
		"COLLATION_NAME": func(r T) Value { return r.dataType().collation(db(r)) },
		"DOMAIN_CATALOG": func(r T) Value {
			if r.dataType().user == nil {
				return Value{}
			}
			return str(db(r).Name)
		},
		"DOMAIN_SCHEMA": func(r T) Value {
			if r.dataType().user == nil {
				return Value{}
			}
			return str(r.dataType().user.Schema.Name)
		},
		"DOMAIN_NAME": func(r T) Value {
			switch d := r.dataType(); {
			case d.user != nil:
				return str(d.user.Name)
			case d.sysname:
				return str("sysname")
			default:
				return Value{}
			}
		},
	}
}

// radix is the base in which the precision of a number counts; NULL for others.
func radix(t sqltype.Type) Value {
	switch {
	case t.IsApproximate():
		return number(2)
	case t.IsNumeric() && t.Kind != sqltype.Bit:
		return number(10)
	default:
		return Value{}
	}
}

// secondDigits is how many fractional digits of a second dates and times have; NULL for others.
func secondDigits(t sqltype.Type) Value {
	switch t.Kind {
	case sqltype.Date, sqltype.SmallDateTime:
		return number(0)
	case sqltype.DateTime:
		return number(3)
	case sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		return number(t.Scale)
	default:
		return Value{}
	}
}

// characters is the length of texts and binaries, in characters or bytes; NULL for others.
func characters(t sqltype.Type, bytes bool) Value {
	const most = 1<<31 - 1
	switch {
	case t.Kind == sqltype.NText && !bytes:
		return number(most / 2)
	case t.Kind == sqltype.NText, t.Kind == sqltype.Text, t.Kind == sqltype.Image:
		return number(most &^ 1)
	case !t.IsCharacter() && !t.IsBinary() || t.Kind == sqltype.RowVersion:
		return Value{}
	case bytes && t.IsNational() && t.Length > 0:
		return number(2 * t.Length)
	default:
		return number(t.Length)
	}
}

// catalogName, schemaName and objectName tell where an object is, under any of the many names for it.
func placeOf[T any](prefix, name string, of func(T) (*schema.Database, schema.Object)) getters[T] {
	return getters[T]{
		prefix + "_CATALOG": func(r T) Value { db, _ := of(r); return str(db.Name) },
		prefix + "_SCHEMA":  func(r T) Value { _, o := of(r); return str(o.Head().Schema.Name) },
		name:                func(r T) Value { _, o := of(r); return str(o.Head().Name) },
	}
}

func itself(o object) (*schema.Database, schema.Object) { return o.c.Database, o.Object }

func itsTable(o object) (*schema.Database, schema.Object) { return o.c.Database, o.parent() }

func yesNo(b bool) Value {
	if b {
		return str("YES")
	}
	return str("NO")
}

const typeWords = `
	CHARACTER_MAXIMUM_LENGTH int?, CHARACTER_OCTET_LENGTH int?`

const columnWords = `
	TABLE_CATALOG nvarchar(128)?, TABLE_SCHEMA nvarchar(128)?, TABLE_NAME nvarchar(128), COLUMN_NAME nvarchar(128)?
	ORDINAL_POSITION int?, COLUMN_DEFAULT nvarchar(4000)?, IS_NULLABLE varchar(3)?, DATA_TYPE nvarchar(128)?` + typeWords + `
	NUMERIC_PRECISION tinyint?, NUMERIC_PRECISION_RADIX smallint?, NUMERIC_SCALE int?, DATETIME_PRECISION smallint?
	CHARACTER_SET_CATALOG sysname? = NULL, CHARACTER_SET_SCHEMA sysname? = NULL, CHARACTER_SET_NAME sysname?
	COLLATION_CATALOG sysname? = NULL, COLLATION_SCHEMA sysname? = NULL, COLLATION_NAME sysname?, DOMAIN_CATALOG sysname?
	DOMAIN_SCHEMA sysname?, DOMAIN_NAME sysname?`

var informationColumn = getters[column]{
	"COLUMN_NAME":      func(c column) Value { return orNull(c.name) },
	"ORDINAL_POSITION": func(c column) Value { return number(c.id) },
	"COLUMN_DEFAULT": func(c column) Value {
		if c.of == nil || c.of.Default == nil || !c.mayRead {
			return Value{}
		}
		return excerpt(Definition(c.of.Default.Expr))
	},
	"IS_NULLABLE": func(c column) Value { return yesNo(c.nullable) },
}

// inTables leaves out the columns of functions and types.
func inTables(c column) bool { return c.owner.Head().Kind == "U" || c.owner.Head().Kind == "V" }

const routineWords = `
	SPECIFIC_CATALOG nvarchar(128)?, SPECIFIC_SCHEMA nvarchar(128)?, SPECIFIC_NAME nvarchar(128)
	ROUTINE_CATALOG nvarchar(128)?, ROUTINE_SCHEMA nvarchar(128)?, ROUTINE_NAME nvarchar(128)?, ROUTINE_TYPE nvarchar(20)?
	MODULE_CATALOG nvarchar(128)? = NULL, MODULE_SCHEMA nvarchar(128)? = NULL, MODULE_NAME nvarchar(128)? = NULL
	UDT_CATALOG nvarchar(128)? = NULL, UDT_SCHEMA nvarchar(128)? = NULL, UDT_NAME nvarchar(128)? = NULL
	DATA_TYPE nvarchar(128)?` + typeWords + `
	COLLATION_CATALOG nvarchar(128)? = NULL, COLLATION_SCHEMA nvarchar(128)? = NULL, COLLATION_NAME nvarchar(128)?
	CHARACTER_SET_CATALOG nvarchar(128)? = NULL, CHARACTER_SET_SCHEMA nvarchar(128)? = NULL
	CHARACTER_SET_NAME nvarchar(128)?, NUMERIC_PRECISION smallint?, NUMERIC_PRECISION_RADIX smallint?
	NUMERIC_SCALE smallint?, DATETIME_PRECISION smallint?, INTERVAL_TYPE nvarchar(30)? = NULL
	INTERVAL_PRECISION smallint? = NULL, TYPE_UDT_CATALOG nvarchar(128)? = NULL, TYPE_UDT_SCHEMA nvarchar(128)? = NULL
	TYPE_UDT_NAME nvarchar(128)? = NULL, SCOPE_CATALOG nvarchar(128)? = NULL, SCOPE_SCHEMA nvarchar(128)? = NULL
	SCOPE_NAME nvarchar(128)? = NULL, MAXIMUM_CARDINALITY bigint? = NULL, DTD_IDENTIFIER nvarchar(128)? = NULL
	ROUTINE_BODY nvarchar(30)? = 'SQL', ROUTINE_DEFINITION nvarchar(4000)?, EXTERNAL_NAME nvarchar(128)? = NULL
	EXTERNAL_LANGUAGE nvarchar(30)? = NULL, PARAMETER_STYLE nvarchar(30)? = NULL, IS_DETERMINISTIC nvarchar(10)? = 'NO'
	SQL_DATA_ACCESS nvarchar(30)?, IS_NULL_CALL nvarchar(10)?, SCHEMA_LEVEL_ROUTINE nvarchar(10)? = 'YES'
	MAX_DYNAMIC_RESULT_SETS smallint?, IS_USER_DEFINED_CAST nvarchar(10)? = 'NO'
	IS_IMPLICITLY_INVOCABLE nvarchar(10)? = 'NO', CREATED datetime, LAST_ALTERED datetime`

// dataType is what a scalar function returns; no type for other objects.
func (o object) dataType() dataType {
	if m := o.module(); m != nil {
		return resolve(o.c.Database, headerOf(m).returns, m.Schema.Name)
	}
	return dataType{}
}

func isProcedure(o object) bool { return o.Head().Kind == "P" }

var routineRow = getters[object]{
	"ROUTINE_TYPE": func(o object) Value {
		if isProcedure(o) {
			return str("PROCEDURE")
		}
		return str("FUNCTION")
	},
	"DATA_TYPE": func(o object) Value {
		if kind := o.Head().Kind; kind == "IF" || kind == "TF" {
			return str("TABLE")
		}
		return orNull(systemTypeOf(o.dataType().Type.Type).Name)
	},
	"ROUTINE_DEFINITION": func(o object) Value {
		definition := moduleRow["definition"](o)
		if definition.IsNull() {
			return definition
		}
		return excerpt(definition.Str())
	},
	"SQL_DATA_ACCESS": func(o object) Value {
		if isProcedure(o) {
			return str("MODIFIES")
		}
		return str("READS")
	},
	"IS_NULL_CALL": func(o object) Value {
		if isProcedure(o) {
			return Value{}
		}
		return str("NO")
	},
	"MAX_DYNAMIC_RESULT_SETS": func(o object) Value {
		if isProcedure(o) {
			return number(-1)
		}
		return number(0)
	},
	"CREATED":      objectRow["create_date"],
	"LAST_ALTERED": objectRow["modify_date"],
}

const parameterWords = `
	SPECIFIC_CATALOG nvarchar(128)?, SPECIFIC_SCHEMA nvarchar(128)?, SPECIFIC_NAME nvarchar(128), ORDINAL_POSITION int
	PARAMETER_MODE nvarchar(10)?, IS_RESULT nvarchar(10)?, AS_LOCATOR nvarchar(10)? = 'NO', PARAMETER_NAME nvarchar(128)?
	DATA_TYPE nvarchar(128)?` + typeWords + `
	COLLATION_CATALOG nvarchar(128)? = NULL, COLLATION_SCHEMA nvarchar(128)? = NULL, COLLATION_NAME nvarchar(128)?
	CHARACTER_SET_CATALOG nvarchar(128)? = NULL, CHARACTER_SET_SCHEMA nvarchar(128)? = NULL
	CHARACTER_SET_NAME nvarchar(128)?, NUMERIC_PRECISION tinyint?, NUMERIC_PRECISION_RADIX smallint?, NUMERIC_SCALE int?
	DATETIME_PRECISION smallint?, INTERVAL_TYPE nvarchar(30)? = NULL, INTERVAL_PRECISION smallint? = NULL
	USER_DEFINED_TYPE_CATALOG nvarchar(128)?, USER_DEFINED_TYPE_SCHEMA nvarchar(128)?
	USER_DEFINED_TYPE_NAME nvarchar(128)?, SCOPE_CATALOG nvarchar(128)? = NULL, SCOPE_SCHEMA nvarchar(128)? = NULL
	SCOPE_NAME nvarchar(128)? = NULL`

func informationParameter() getters[parameter] {
	types := describedTypes(func(p parameter) *schema.Database { return p.of.c.Database })
	return getters[parameter]{
		"ORDINAL_POSITION": func(p parameter) Value { return number(p.id) },
		"PARAMETER_MODE": func(p parameter) Value {
			switch {
			case p.def == nil:
				return str("OUT")
			case p.def.Output:
				return str("INOUT")
			default:
				return str("IN")
			}
		},
		"IS_RESULT":                 func(p parameter) Value { return yesNo(p.def == nil) },
		"PARAMETER_NAME":            func(p parameter) Value { return str(p.name) },
		"USER_DEFINED_TYPE_CATALOG": types["DOMAIN_CATALOG"],
		"USER_DEFINED_TYPE_SCHEMA":  types["DOMAIN_SCHEMA"],
		"USER_DEFINED_TYPE_NAME":    types["DOMAIN_NAME"],
	}
}

// keyColumn is a column of a key or a foreign key.
type keyColumn struct {
	object
	table   *schema.Table
	ordinal int
	place   int
}

// listKeyColumns lists the columns of keys and foreign keys in their order.
func listKeyColumns(c *Context) ([]keyColumn, error) {
	var list []keyColumn
	objects, err := listObjects("PK", "UQ", "F")(c)
	for _, o := range objects {
		t, ok := o.parent().(*schema.Table)
		if !ok {
			continue
		}
		switch k := o.Object.(type) {
		case *schema.Key:
			for i, column := range k.Index.Columns {
				list = append(list, keyColumn{o, t, column.Ordinal, i + 1})
			}
		case *schema.ForeignKey:
			for i, ordinal := range k.Columns {
				list = append(list, keyColumn{o, t, ordinal, i + 1})
			}
		}
	}
	return list, err
}

var keyColumnRow = getters[keyColumn]{
	"COLUMN_NAME": func(k keyColumn) Value {
		i := slices.IndexFunc(k.table.Columns, func(c *schema.Column) bool { return c.Ordinal == k.ordinal })
		if i < 0 {
			return Value{}
		}
		return str(k.table.Columns[i].Name)
	},
	"ORDINAL_POSITION": func(k keyColumn) Value { return number(k.place) },
}

var constraintWords = map[string]string{"PK": "PRIMARY KEY", "UQ": "UNIQUE", "F": "FOREIGN KEY", "C": "CHECK"}

var referentialRow = getters[object]{
	"UNIQUE_CONSTRAINT_CATALOG": func(o object) Value { return str(o.c.Database.Name) },
	"UNIQUE_CONSTRAINT_SCHEMA":  func(o object) Value { return str(foreign(o).References.Schema.Name) },
	"UNIQUE_CONSTRAINT_NAME": func(o object) Value {
		if foreign(o).Key == nil {
			return Value{}
		}
		return str(foreign(o).Key.Name)
	},
	"UPDATE_RULE": func(o object) Value { return str(actions[max(0, slices.Index(actions, foreign(o).OnUpdate))]) },
	"DELETE_RULE": func(o object) Value { return str(actions[max(0, slices.Index(actions, foreign(o).OnDelete))]) },
}

var informationTable = getters[object]{
	"TABLE_TYPE": func(o object) Value {
		if o.Head().Kind == "V" {
			return str("VIEW")
		}
		return str("BASE TABLE")
	},
}

var informationView = getters[object]{
	"VIEW_DEFINITION": routineRow["ROUTINE_DEFINITION"],
	"CHECK_OPTION": func(o object) Value {
		if def, ok := o.module().Stmt.(*syntax.CreateView); ok && def.CheckOption {
			return str("CASCADE")
		}
		return str("NONE")
	},
}

func informationViews() []*View {
	const (
		constraint = "CONSTRAINT_CATALOG nvarchar(128)?, CONSTRAINT_SCHEMA nvarchar(128)?, CONSTRAINT_NAME sysname"
		table      = "TABLE_CATALOG nvarchar(128)?, TABLE_SCHEMA nvarchar(128)?, TABLE_NAME sysname"
		ofColumns  = constraint + "\n" + table + "\nCOLUMN_NAME nvarchar(128)?"
	)
	keyIn := func(k keyColumn) (*schema.Database, schema.Object) { return itself(k.object) }
	tableOfKey := func(k keyColumn) (*schema.Database, schema.Object) { return k.c.Database, k.table }
	return []*View{
		relation("INFORMATION_SCHEMA.TABLES", `
			TABLE_CATALOG nvarchar(128)?, TABLE_SCHEMA sysname?, TABLE_NAME sysname, TABLE_TYPE varchar(10)?`,
			listObjects("U", "V"), placeOf("TABLE", "TABLE_NAME", itself), informationTable),
		relation("INFORMATION_SCHEMA.VIEWS", table+`
			VIEW_DEFINITION nvarchar(4000)?, CHECK_OPTION varchar(7)?, IS_UPDATABLE varchar(2) = 'NO'`, listObjects("V"),
			placeOf("TABLE", "TABLE_NAME", itself), informationView),
		relation("INFORMATION_SCHEMA.COLUMNS", columnWords, listColumns(inTables),
			describedTypes(func(c column) *schema.Database { return c.db }),
			placeOf("TABLE", "TABLE_NAME", func(c column) (*schema.Database, schema.Object) { return c.db, c.owner }),
			informationColumn),
		relation("INFORMATION_SCHEMA.ROUTINES", routineWords, listObjects("P", "FN", "IF", "TF"),
			describedTypes(func(o object) *schema.Database { return o.c.Database }),
			placeOf("SPECIFIC", "SPECIFIC_NAME", itself), placeOf("ROUTINE", "ROUTINE_NAME", itself), routineRow),
		relation("INFORMATION_SCHEMA.PARAMETERS", parameterWords, listParameters,
			describedTypes(func(p parameter) *schema.Database { return p.of.c.Database }),
			placeOf("SPECIFIC", "SPECIFIC_NAME", func(p parameter) (*schema.Database, schema.Object) { return itself(p.of) }),
			informationParameter()),
		relation("INFORMATION_SCHEMA.SCHEMATA", `
			CATALOG_NAME nvarchar(128)?, SCHEMA_NAME nvarchar(128), SCHEMA_OWNER nvarchar(128)?
			DEFAULT_CHARACTER_SET_CATALOG varchar(6)? = NULL, DEFAULT_CHARACTER_SET_SCHEMA varchar(3)? = NULL
			DEFAULT_CHARACTER_SET_NAME sysname? = 'iso_1'`, listSchemas, getters[*schema.Schema]{
			"CATALOG_NAME": func(s *schema.Schema) Value { return str(s.Database.Name) },
			"SCHEMA_NAME":  func(s *schema.Schema) Value { return str(s.Name) },
			"SCHEMA_OWNER": func(s *schema.Schema) Value {
				if s.Owner == nil {
					return Value{}
				}
				return str(s.Owner.Name)
			},
		}),
		relation("INFORMATION_SCHEMA.TABLE_CONSTRAINTS", constraint+"\n"+table+`
			CONSTRAINT_TYPE varchar(11)?, IS_DEFERRABLE varchar(2) = 'NO', INITIALLY_DEFERRED varchar(2) = 'NO'`,
			listObjects("PK", "UQ", "F", "C"), placeOf("CONSTRAINT", "CONSTRAINT_NAME", itself),
			placeOf("TABLE", "TABLE_NAME", itsTable), getters[object]{
				"CONSTRAINT_TYPE": func(o object) Value { return str(constraintWords[o.Head().Kind]) },
			}),
		relation("INFORMATION_SCHEMA.KEY_COLUMN_USAGE", ofColumns+`
			ORDINAL_POSITION int`, listKeyColumns, placeOf("CONSTRAINT", "CONSTRAINT_NAME", keyIn),
			placeOf("TABLE", "TABLE_NAME", tableOfKey), keyColumnRow),
		relation("INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE", table+"\nCOLUMN_NAME nvarchar(128)?\n"+constraint,
			listKeyColumns, placeOf("CONSTRAINT", "CONSTRAINT_NAME", keyIn), placeOf("TABLE", "TABLE_NAME", tableOfKey), keyColumnRow),
		relation("INFORMATION_SCHEMA.CHECK_CONSTRAINTS", constraint+`
			CHECK_CLAUSE nvarchar(4000)?`, listObjects("C"), placeOf("CONSTRAINT", "CONSTRAINT_NAME", itself),
			getters[object]{"CHECK_CLAUSE": checkRow["definition"]}),
		relation("INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS", constraint+`
			UNIQUE_CONSTRAINT_CATALOG nvarchar(128)?, UNIQUE_CONSTRAINT_SCHEMA nvarchar(128)?, UNIQUE_CONSTRAINT_NAME sysname?
			MATCH_OPTION varchar(7)? = 'SIMPLE', UPDATE_RULE varchar(11)?, DELETE_RULE varchar(11)?`, listObjects("F"),
			placeOf("CONSTRAINT", "CONSTRAINT_NAME", itself), referentialRow),
	}
}
