package sysview

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// tableFunction makes a function as relation makes a view.
func tableFunction[T any](
	name string, parameters []value.Type, required int, text string, rows func(c *Context, args []Value) ([]T, error), maps ...getters[T],
) *Function {
	schemaName, short, _ := strings.Cut(name, ".")
	f := &Function{Schema: schemaName, Name: short, Parameters: parameters, Required: required, definition: define(name, text)}
	get := merge(name, f.definition, maps)
	f.rows = func(c *Context, args []Value) ([][]Value, error) {
		list, err := rows(c, args)
		if err != nil {
			return nil, err
		}
		return fill(list, f.definition, get, nil), nil
	}
	return f
}

var (
	longText  = value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: sqltype.Max}}
	sysname   = value.Type{Type: sqltype.Type{Kind: sqltype.NVarChar, Length: 128}}
	tinyInt   = value.Type{Type: sqltype.Type{Kind: sqltype.TinyInt}}
	varBinary = value.Type{Type: sqltype.Type{Kind: sqltype.VarBinary, Length: 64}}
)

// describeBatch is sys.dm_exec_describe_first_result_set.
func describeBatch(c *Context, args []Value) ([]described, error) {
	if c.Describer == nil || args[0].IsNull() {
		return nil, nil
	}
	parameters := ""
	if !args[1].IsNull() {
		parameters = args[1].Str()
	}
	columns, err := c.Describer.FirstResultSet(args[0].Str(), parameters)
	return describe(c.Database, columns, err)
}

// describeModule is sys.dm_exec_describe_first_result_set_for_object. Who may not see the object gets nothing, as for
// an id that is none.
func describeModule(c *Context, args []Value) ([]described, error) {
	if c.Describer == nil || args[0].IsNull() {
		return nil, nil
	}
	m, ok := c.Database.Objects[int32(args[0].Int())].(*schema.Module)
	if !ok || !c.sees(m) {
		return nil, nil
	}
	columns, err := c.Describer.FirstResultSetOf(m)
	return describe(c.Database, columns, err)
}

// textOf is sys.dm_exec_sql_text.
func textOf(c *Context, args []Value) ([]string, error) {
	if c.Activity == nil {
		return nil, nil
	}
	s := c.Activity.Session(fromHandle(args[0]))
	switch {
	case s == nil:
		return nil, nil
	case s.Request != nil:
		return []string{s.Request.Text}, nil
	default:
		return []string{s.LastText}, nil
	}
}

// mine is a row of sys.fn_my_permissions.
type mine struct{ entity, part, permission string }

// myPermissions tells what who asks may do with a thing: the server, the database, an object, a schema, a type.
func myPermissions(c *Context, args []Value) ([]mine, error) {
	if args[1].IsNull() {
		return nil, nil
	}
	class, name := strings.ToUpper(args[1].Str()), ""
	if !args[0].IsNull() {
		name = args[0].Str()
	}
	if class == "SERVER" {
		return serverRights(c), nil
	}
	on, ok := c.securable(class, name)
	if !ok {
		return nil, nil
	}
	if class == "DATABASE" {
		name = "database"
	}
	var list []mine
	for _, p := range schema.PermissionsOf(on.Class) {
		if c.User == nil || c.Database.May(c.User, p, on) {
			list = append(list, mine{entity: name, permission: p})
		}
	}
	return list, nil
}

// serverRights are what everybody may do, and what only administrators may.
func serverRights(c *Context) []mine {
	list := []mine{{"server", "", "CONNECT SQL"}, {"server", "", "VIEW ANY DATABASE"}}
	for _, p := range append([]string{"ALTER ANY DATABASE", "CONTROL SERVER"}, schema.ServerPermissions...) {
		if c.Login == nil || c.Server.MayLogin(c.Login, p, nil) {
			list = append(list, mine{"server", "", p})
		}
	}
	return list
}

// securable finds a thing by its class and name.
func (c *Context) securable(class, name string) (schema.Securable, bool) {
	schemaName, short := splitName(name)
	switch class {
	case "DATABASE":
		return schema.Securable{Class: class}, name == "" || c.Database.Fold(name) == c.Database.Fold(c.Database.Name)
	case "OBJECT":
		if o := c.Database.Find(schemaName, short, c.home()); o != nil && c.sees(o) {
			return c.Database.SecurableOf(o), true
		}
	case "SCHEMA":
		if s := c.Database.Schema(short); s != nil {
			return schema.Securable{Class: class, ID: s.ID}, true
		}
	case "TYPE":
		if u := c.Database.FindType(schemaName, short, c.home()); u != nil && c.seesType(u) {
			return schema.Securable{Class: class, ID: u.ID}, true
		}
	case "USER", "ROLE":
		if p := c.Database.Principal(short); p != nil && p.Role == (class == "ROLE") {
			return schema.Securable{Class: class, ID: p.ID}, true
		}
	}
	return schema.Securable{}, false
}

// home is the schema in which names without one are looked for first.
func (c *Context) home() string {
	if c.User == nil || c.User.DefaultSchema == "" {
		return "dbo"
	}
	return c.User.DefaultSchema
}

// splitName takes a name of one or two parts apart, which may stand in brackets or quotes.
func splitName(name string) (schemaName, short string) {
	var parts []string
	for rest := strings.TrimSpace(name); rest != ""; {
		var one string
		one, rest = cutPart(rest)
		parts = append(parts, one)
	}
	if len(parts) == 0 {
		return "", ""
	}
	if len(parts) > 1 {
		schemaName = parts[len(parts)-2]
	}
	return schemaName, parts[len(parts)-1]
}

// cutPart takes the first part off a name.
func cutPart(name string) (part, rest string) {
	closing := map[byte]byte{'[': ']', '"': '"'}[name[0]]
	if closing == 0 {
		part, rest, _ = strings.Cut(name, ".")
		return strings.TrimSpace(part), rest
	}
	var out []byte
	for i := 1; i < len(name); i++ {
		if name[i] != closing {
			out = append(out, name[i])
			continue
		}
		if i+1 < len(name) && name[i+1] == closing {
			out = append(out, closing)
			i++
			continue
		}
		return string(out), strings.TrimPrefix(name[i+1:], ".")
	}
	return string(out), ""
}

// serverPermission is a row of sys.fn_builtin_permissions.
type serverPermission struct{ class, permission string }

func builtinPermissions(_ *Context, args []Value) ([]serverPermission, error) {
	wanted := ""
	if !args[0].IsNull() {
		wanted = strings.ToUpper(args[0].Str())
	}
	var list []serverPermission
	for _, class := range []string{"DATABASE", "OBJECT", "SCHEMA", "TYPE", "ROLE", "USER"} {
		if wanted != "" && wanted != "DEFAULT" && wanted != class {
			continue
		}
		for _, p := range schema.PermissionsOf(class) {
			list = append(list, serverPermission{class, p})
		}
	}
	slices.SortStableFunc(list, func(a, b serverPermission) int { return strings.Compare(a.class, b.class) })
	return list, nil
}

func systemFunctions() []*Function {
	return []*Function{
		tableFunction("sys.dm_exec_describe_first_result_set", []value.Type{longText, longText, tinyInt}, 3,
			describedErrors, describeBatch, describedRow()),
		tableFunction("sys.dm_exec_describe_first_result_set_for_object", []value.Type{integer, tinyInt}, 2,
			describedErrors, describeModule, describedRow()),
		tableFunction("sys.dm_exec_sql_text", []value.Type{varBinary}, 1, `
			dbid smallint? = NULL, objectid int? = NULL, number smallint? = NULL, encrypted bit = 0, text nvarchar(max)?`,
			textOf, getters[string]{"text": str}),
		tableFunction("sys.fn_my_permissions", []value.Type{sysname, sysname}, 2, `
			entity_name nvarchar(128)?, subentity_name nvarchar(128)?, permission_name nvarchar(60)?`, myPermissions,
			getters[mine]{
				"entity_name":     func(m mine) Value { return str(m.entity) },
				"subentity_name":  func(m mine) Value { return str(m.part) },
				"permission_name": func(m mine) Value { return str(m.permission) },
			}),
		tableFunction("sys.fn_builtin_permissions", []value.Type{sysname}, 1, `
			class_desc nvarchar(60), permission_name nvarchar(60), type varchar(4)?, covering_permission_name nvarchar(60)?
			parent_class_desc nvarchar(60)?, parent_covering_permission_name nvarchar(60)?`, builtinPermissions,
			blank[serverPermission]("covering_permission_name", "parent_class_desc", "parent_covering_permission_name"),
			getters[serverPermission]{
				"class_desc":      func(p serverPermission) Value { return str(p.class) },
				"permission_name": func(p serverPermission) Value { return str(p.permission) },
				"type":            func(p serverPermission) Value { return orNull(abbreviations[p.permission]) },
			}),
		// There are no extended properties.
		tableFunction("sys.fn_listextendedproperty",
			[]value.Type{sysname, sysname, sysname, sysname, sysname, sysname, sysname}, 7, `
			objtype sysname?, objname sysname?, name sysname, value sql_variant?`,
			func(*Context, []Value) ([]property, error) { return nil, nil },
			blank[property]("objtype", "objname", "name", "value")),
	}
}
