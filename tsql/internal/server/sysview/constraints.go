package sysview

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

const keyColumns = objectColumns + `
	unique_index_id int?, is_system_named bit, is_enforced bit? = 1`

var keyRow = getters[object]{
	"unique_index_id": func(o object) Value {
		if key := as[*schema.Key](o); key.Index != nil {
			return number(key.Index.ID)
		}
		return Value{}
	},
	"is_system_named": func(o object) Value { return flag(as[*schema.Key](o).SystemNamed) },
}

const checkColumns = objectColumns + `
	is_disabled bit, is_not_for_replication bit = 0, is_not_trusted bit, parent_column_id int
	definition nvarchar(max)?, uses_database_collation bit? = 1, is_system_named bit`

var checkRow = getters[object]{
	"is_disabled":    func(o object) Value { return flag(as[*schema.Check](o).Disabled) },
	"is_not_trusted": func(o object) Value { return flag(as[*schema.Check](o).Untrusted) },
	"parent_column_id": func(o object) Value {
		if t, ok := o.parent().(*schema.Table); ok && as[*schema.Check](o).Column >= 0 {
			return number(columnID(t, as[*schema.Check](o).Column))
		}
		return number(0)
	},
	"definition": func(o object) Value {
		return o.readable(func() string { return Definition(as[*schema.Check](o).Expr) })
	},
	"is_system_named": func(o object) Value { return flag(as[*schema.Check](o).SystemNamed) },
}

const defaultColumns = objectColumns + `
	parent_column_id int, definition nvarchar(max)?, is_system_named bit`

var defaultRow = getters[object]{
	"parent_column_id": func(o object) Value {
		if t, ok := o.parent().(*schema.Table); ok {
			return number(columnID(t, as[*schema.Default](o).Column))
		}
		return number(0)
	},
	"definition": func(o object) Value {
		return o.readable(func() string { return Definition(as[*schema.Default](o).Expr) })
	},
	"is_system_named": func(o object) Value { return flag(as[*schema.Default](o).SystemNamed) },
}

// readable is a definition, for who may read it: it belongs to the table that the constraint is on.
func (o object) readable(definition func() string) Value {
	if !o.c.seesDefinition(o.parent()) {
		return Value{}
	}
	return str(definition())
}

const foreignColumns = objectColumns + `
	referenced_object_id int?, key_index_id int?, is_disabled bit, is_not_for_replication bit = 0, is_not_trusted bit
	delete_referential_action tinyint?, delete_referential_action_desc nvarchar(60)?
	update_referential_action tinyint?, update_referential_action_desc nvarchar(60)?, is_system_named bit`

// actions are what happens to rows whose key goes, by their numbers.
var actions = []string{"NO ACTION", "CASCADE", "SET NULL", "SET DEFAULT"}

func actionNumber(action string) Value { return number(max(0, slices.Index(actions, action))) }

func actionWord(action string) Value {
	words := []string{"NO_ACTION", "CASCADE", "SET_NULL", "SET_DEFAULT"}
	return str(words[max(0, slices.Index(actions, action))])
}

var foreignRow = getters[object]{
	"referenced_object_id": func(o object) Value { return number(foreign(o).References.ID) },
	"key_index_id": func(o object) Value {
		if foreign(o).Key == nil {
			return Value{}
		}
		return number(foreign(o).Key.ID)
	},
	"is_disabled":                    func(o object) Value { return flag(foreign(o).Disabled) },
	"is_not_trusted":                 func(o object) Value { return flag(foreign(o).Untrusted) },
	"delete_referential_action":      func(o object) Value { return actionNumber(foreign(o).OnDelete) },
	"delete_referential_action_desc": func(o object) Value { return actionWord(foreign(o).OnDelete) },
	"update_referential_action":      func(o object) Value { return actionNumber(foreign(o).OnUpdate) },
	"update_referential_action_desc": func(o object) Value { return actionWord(foreign(o).OnUpdate) },
	"is_system_named":                func(o object) Value { return flag(foreign(o).SystemNamed) },
}

func foreign(o object) *schema.ForeignKey { return as[*schema.ForeignKey](o) }

// foreignColumn is a row of sys.foreign_key_columns.
type foreignColumn struct {
	object
	place int
}

func (f foreignColumn) key() *schema.ForeignKey { return foreign(f.object) }

var foreignColumnRow = getters[foreignColumn]{
	"constraint_object_id": func(f foreignColumn) Value { return number(f.key().ID) },
	"constraint_column_id": func(f foreignColumn) Value { return number(f.place + 1) },
	"parent_object_id":     func(f foreignColumn) Value { return number(f.key().Parent) },
	"parent_column_id": func(f foreignColumn) Value {
		if t, ok := f.parent().(*schema.Table); ok {
			return number(columnID(t, f.key().Columns[f.place]))
		}
		return number(0)
	},
	"referenced_object_id": func(f foreignColumn) Value { return number(f.key().References.ID) },
	"referenced_column_id": func(f foreignColumn) Value {
		return number(columnID(f.key().References, f.key().Referenced[f.place]))
	},
}

func listForeignColumns(c *Context) ([]foreignColumn, error) {
	var list []foreignColumn
	objects, err := listObjects("F")(c)
	for _, o := range objects {
		for place := range foreign(o).Columns {
			list = append(list, foreignColumn{o, place})
		}
	}
	return list, err
}

func constraintViews() []*View {
	return []*View{
		relation("sys.key_constraints", keyColumns, listObjects("PK", "UQ"), objectRow, keyRow),
		relation("sys.check_constraints", checkColumns, listObjects("C"), objectRow, checkRow),
		relation("sys.default_constraints", defaultColumns, listObjects("D"), objectRow, defaultRow),
		relation("sys.foreign_keys", foreignColumns, listObjects("F"), objectRow, foreignRow),
		relation("sys.foreign_key_columns", `
			constraint_object_id int, constraint_column_id int, parent_object_id int, parent_column_id int
			referenced_object_id int, referenced_column_id int`, listForeignColumns, foreignColumnRow),
	}
}
