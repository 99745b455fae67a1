package sysview

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// The ids of what is not among schema.SystemTypes, or has to be told apart.
const (
	schemaSys    = 4
	tableType    = 243
	assemblyType = 240
)

// systemTypeOf returns the row of a built-in type.
func systemTypeOf(t sqltype.Type) schema.SystemType {
	switch t.Kind {
	case sqltype.Table:
		return schema.SystemType{Name: t.Name, SystemID: tableType, UserID: tableType, MaxLength: -1}
	case sqltype.Null:
		t.Kind = sqltype.Int // SELECT NULL is an int
	case sqltype.Invalid:
		return schema.SystemType{}
	default: // has a row
	}
	i := slices.IndexFunc(schema.SystemTypes, func(s schema.SystemType) bool { return s.Kind == t.Kind })
	if i < 0 {
		return schema.SystemType{Name: string(t.Kind)}
	}
	return schema.SystemTypes[i]
}

// maxLength is the column of that name. Table types have none.
func maxLength(t value.Type) int {
	if t.Kind == sqltype.Table {
		return -1
	}
	return schema.MaxLength(t)
}

// dataType is a type as columns and parameters show it: the type itself, and the name under which it was declared.
type dataType struct {
	value.Type
	user    *schema.UserType
	sysname bool
}

func (d dataType) systemID() int { return int(systemTypeOf(d.Type.Type).SystemID) }

func (d dataType) userID() int {
	switch {
	case d.user != nil:
		return int(d.user.ID)
	case d.sysname:
		return int(schema.SysnameID)
	default:
		return int(systemTypeOf(d.Type.Type).UserID)
	}
}

func (d dataType) collation(db *schema.Database) Value {
	switch {
	case !d.IsCharacter():
		return Value{}
	case d.Collation != nil:
		return str(d.Collation.Name)
	case db.Collation != nil:
		return str(db.Collation.Name)
	default:
		return Value{}
	}
}

// typed has a type: the getters of its columns serve all who do.
type typed interface{ dataType() dataType }

func typeGetters[T typed]() getters[T] {
	return getters[T]{
		"system_type_id": func(r T) Value { return number(r.dataType().systemID()) },
		"user_type_id":   func(r T) Value { return number(r.dataType().userID()) },
		"max_length":     func(r T) Value { return number(maxLength(r.dataType().Type)) },
		"precision":      func(r T) Value { return number(schema.Precision(r.dataType().Type)) },
		"scale":          func(r T) Value { return number(schema.Scale(r.dataType().Type)) },
	}
}

// resolve reads a type that stands in a module's text. The zero dataType is one that isn't known any more.
func resolve(db *schema.Database, t *syntax.TypeName, home string) dataType {
	if t == nil {
		return dataType{}
	}
	parts := t.Name.Parts
	short := parts[len(parts)-1].Value
	qualified := len(parts) > 1 && fold(parts[len(parts)-2].Value) != "sys"
	if !qualified && sqltype.Known(short) {
		args := make([]string, len(t.Args))
		for i, a := range t.Args {
			args[i] = a.Value
		}
		found, err := sqltype.Parse(short, args)
		if err != nil {
			return dataType{}
		}
		return dataType{Type: value.Type{Type: found}, sysname: sqltype.IsSysname(short)}
	}
	place := ""
	if len(parts) > 1 {
		place = parts[len(parts)-2].Value
	}
	if u := db.FindType(place, short, home); u != nil {
		return userDataType(u)
	}
	return dataType{}
}

func userDataType(u *schema.UserType) dataType {
	d := dataType{Type: u.Type, user: u}
	if u.Table != nil {
		d.Type = value.Type{Type: sqltype.Type{Kind: sqltype.Table, Name: u.Schema.Name + "." + u.Name}}
	}
	return d
}

// aType is a row of sys.types: one of the two is set.
type aType struct {
	db      *schema.Database
	builtin *schema.SystemType
	user    *schema.UserType
}

// pick reads a column of a built-in type, or of the user's own.
func pick(builtin func(s *schema.SystemType) Value, user func(u *schema.UserType) Value) func(a aType) Value {
	return func(a aType) Value {
		if a.user != nil {
			return user(a.user)
		}
		return builtin(a.builtin)
	}
}

const typeColumns = `
	name sysname, system_type_id tinyint, user_type_id int, schema_id int, principal_id int? = NULL, max_length smallint
	precision tinyint, scale tinyint, collation_name sysname?, is_nullable bit?, is_user_defined bit, is_assembly_type bit
	default_object_id int = 0, rule_object_id int = 0, is_table_type bit`

var typeRow = getters[aType]{
	"name": pick(func(s *schema.SystemType) Value { return str(s.Name) },
		func(u *schema.UserType) Value { return str(u.Name) }),
	"schema_id": pick(func(*schema.SystemType) Value { return number(schemaSys) },
		func(u *schema.UserType) Value { return number(u.Schema.ID) }),
	"system_type_id": pick(func(s *schema.SystemType) Value { return number(s.SystemID) },
		func(u *schema.UserType) Value { return number(userDataType(u).systemID()) }),
	"user_type_id": pick(func(s *schema.SystemType) Value { return number(s.UserID) },
		func(u *schema.UserType) Value { return number(u.ID) }),
	"max_length": pick(func(s *schema.SystemType) Value { return number(s.MaxLength) },
		func(u *schema.UserType) Value { return number(maxLength(userDataType(u).Type)) }),
	"precision": pick(func(s *schema.SystemType) Value { return number(s.Precision) },
		func(u *schema.UserType) Value { return number(schema.Precision(userDataType(u).Type)) }),
	"scale": pick(func(s *schema.SystemType) Value { return number(s.Scale) },
		func(u *schema.UserType) Value { return number(schema.Scale(userDataType(u).Type)) }),
	"collation_name": func(a aType) Value {
		switch {
		case a.user != nil:
			return userDataType(a.user).collation(a.db)
		case a.builtin.Collated && a.db.Collation != nil:
			return str(a.db.Collation.Name)
		default:
			return Value{}
		}
	},
	"is_nullable": pick(func(s *schema.SystemType) Value { return flag(s.Nullable) },
		func(u *schema.UserType) Value { return flag(u.Nullable && u.Table == nil) }),
	"is_user_defined": func(a aType) Value { return flag(a.user != nil) },
	"is_assembly_type": pick(func(s *schema.SystemType) Value { return flag(s.SystemID == assemblyType) },
		func(*schema.UserType) Value { return flag(false) }),
	"is_table_type": func(a aType) Value { return flag(a.user != nil && a.user.Table != nil) },
	"type_table_object_id": func(a aType) Value {
		if a.user == nil || a.user.Table == nil {
			return Value{}
		}
		return number(a.user.Table.ID)
	},
}

// listTypes lists the built-in types and those of the user that are visible.
func listTypes(c *Context) ([]aType, error) {
	var list []aType
	for i := range schema.SystemTypes {
		list = append(list, aType{db: c.Database, builtin: &schema.SystemTypes[i]})
	}
	return append(list, userTypes(c)...), nil
}

func userTypes(c *Context) []aType {
	var list []aType
	for _, u := range c.Database.Types {
		if c.seesType(u) {
			list = append(list, aType{db: c.Database, user: u})
		}
	}
	slices.SortFunc(list, func(a, b aType) int { return int(a.user.ID) - int(b.user.ID) })
	return list
}

func typeViews() []*View {
	return []*View{
		relation("sys.types", typeColumns, listTypes, typeRow),
		relation("sys.table_types", typeColumns+`
			type_table_object_id int, is_memory_optimized bit? = 0`,
			func(c *Context) ([]aType, error) {
				return slices.DeleteFunc(userTypes(c), func(a aType) bool { return a.user.Table == nil }), nil
			}, typeRow),
	}
}
