package sysview

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// moduleKinds are the objects that have a text.
var moduleKinds = []string{"P", "V", "TR", "FN", "IF", "TF"}

// header is what is written between a module's name and its body.
type header struct {
	params  []*syntax.Param
	returns *syntax.TypeName // of a scalar function
	options []syntax.Option
}

func headerOf(m *schema.Module) header {
	switch def := m.Stmt.(type) {
	case *syntax.CreateProcedure:
		return header{params: def.Params, options: def.Options}
	case *syntax.CreateFunction:
		return header{params: def.Params, returns: def.Returns, options: def.Options}
	case *syntax.CreateView:
		return header{options: def.Options}
	case *syntax.CreateTrigger:
		return header{options: def.Options}
	default:
		return header{}
	}
}

func hasOption(m *schema.Module, name string) bool {
	return syntax.HasOption(headerOf(m).options, name)
}

var moduleRow = getters[object]{
	"object_id": objectRow["object_id"],
	"definition": func(o object) Value {
		if hasOption(o.module(), "ENCRYPTION") || !o.c.seesDefinition(o.Object) {
			return Value{}
		}
		return str(o.module().Text)
	},
	"uses_ansi_nulls":        func(o object) Value { return flag(o.module().AnsiNulls) },
	"uses_quoted_identifier": func(o object) Value { return flag(o.module().QuotedIdentifier) },
	"is_schema_bound":        func(o object) Value { return flag(hasOption(o.module(), "SCHEMABINDING")) },
	"is_recompiled":          func(o object) Value { return flag(hasOption(o.module(), "RECOMPILE")) },
	"null_on_null_input":     func(o object) Value { return flag(hasOption(o.module(), "RETURNS NULL ON NULL INPUT")) },
	// OWNER is -2; EXECUTE AS CALLER, the default, is NULL.
	"execute_as_principal_id": func(o object) Value {
		switch m := o.module(); {
		case m.AsOwner:
			return number(-2)
		case m.As != nil:
			return number(m.As.ID)
		default:
			return Value{}
		}
	},
}

// parameter is a row of sys.parameters.
type parameter struct {
	of   object
	id   int
	name string
	typ  dataType
	def  *syntax.Param // nil for what a function returns
}

func (p parameter) dataType() dataType { return p.typ }

// listParameters lists the parameters of the visible procedures and functions. What a scalar function returns is its
// parameter 0, without a name.
func listParameters(c *Context) ([]parameter, error) {
	var list []parameter
	objects, err := listObjects("P", "FN", "IF", "TF")(c)
	for _, o := range objects {
		m := o.module()
		h, home := headerOf(m), m.Schema.Name
		if h.returns != nil {
			list = append(list, parameter{of: o, typ: resolve(c.Database, h.returns, home)})
		}
		for i, p := range h.params {
			list = append(list, parameter{of: o, id: i + 1, name: p.Name, typ: resolve(c.Database, p.Type, home), def: p})
		}
	}
	return list, err
}

// Of a procedure in T-SQL, has_default_value is 0 and default_value NULL whatever its text says, as documented.
const parameterColumns = `
	object_id int, name sysname?, parameter_id int, system_type_id tinyint, user_type_id int, max_length smallint
	precision tinyint, scale tinyint, is_output bit, is_cursor_ref bit, has_default_value bit = 0, is_xml_document bit = 0
	default_value sql_variant? = NULL, xml_collection_id int = 0, is_readonly bit, is_nullable bit? = 1
	encryption_type int? = NULL, encryption_type_desc nvarchar(64)? = NULL, encryption_algorithm_name sysname? = NULL
	column_encryption_key_id int? = NULL, column_encryption_key_database_name sysname? = NULL`

var parameterRow = getters[parameter]{
	"object_id":     func(p parameter) Value { return number(p.of.Head().ID) },
	"name":          func(p parameter) Value { return str(p.name) },
	"parameter_id":  func(p parameter) Value { return number(p.id) },
	"is_output":     func(p parameter) Value { return flag(p.def == nil || p.def.Output) },
	"is_cursor_ref": func(p parameter) Value { return flag(p.typ.Kind == sqltype.Cursor) },
	"is_readonly":   func(p parameter) Value { return flag(p.def != nil && p.def.ReadOnly) },
}

func triggerDef(o object) *syntax.CreateTrigger {
	def, ok := o.module().Stmt.(*syntax.CreateTrigger)
	if !ok {
		return &syntax.CreateTrigger{}
	}
	return def
}

const triggerColumns = `
	name sysname, object_id int, parent_class tinyint = 1, parent_class_desc nvarchar(60)? = 'OBJECT_OR_COLUMN'
	parent_id int, type char(2), type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit = 0
	is_disabled bit, is_not_for_replication bit = 0, is_instead_of_trigger bit`

var triggerRow = getters[object]{
	"parent_id":             objectRow["parent_object_id"],
	"is_disabled":           func(o object) Value { return flag(o.module().Disabled) },
	"is_instead_of_trigger": func(o object) Value { return flag(triggerDef(o).InsteadOf) },
}

// triggerEvent is a row of sys.trigger_events.
type triggerEvent struct {
	object
	event string
}

var eventNumbers = map[string]int{"INSERT": 1, "UPDATE": 2, "DELETE": 3}

func listTriggerEvents(c *Context) ([]triggerEvent, error) {
	var list []triggerEvent
	objects, err := listObjects("TR")(c)
	for _, o := range objects {
		for _, event := range triggerDef(o).Events {
			list = append(list, triggerEvent{o, event})
		}
	}
	return list, err
}

func moduleViews() []*View {
	const modules = `
		object_id int, definition nvarchar(max)?, uses_ansi_nulls bit?, uses_quoted_identifier bit?, is_schema_bound bit?
		uses_database_collation bit? = 0, is_recompiled bit?, null_on_null_input bit?, execute_as_principal_id int?
		uses_native_compilation bit? = 0, inline_type bit? = 0, is_inlineable bit? = 0`
	event := func(e triggerEvent) object { return e.object }
	return []*View{
		relation("sys.sql_modules", modules, listObjects(moduleKinds...), moduleRow),
		relation("sys.all_sql_modules", modules, listObjects(moduleKinds...), moduleRow),
		relation("sys.parameters", parameterColumns, listParameters, typeGetters[parameter](), parameterRow),
		relation("sys.all_parameters", parameterColumns, listParameters, typeGetters[parameter](), parameterRow),
		relation("sys.triggers", triggerColumns, listObjects("TR"), objectRow, triggerRow),
		relation("sys.trigger_events", `
			object_id int, type int, type_desc nvarchar(60), is_first bit? = 0, is_last bit? = 0
			event_group_type int? = NULL, event_group_type_desc nvarchar(60)? = NULL, is_trigger_event bit = 1`,
			listTriggerEvents, inherit(event, objectRow), getters[triggerEvent]{
				"type":      func(e triggerEvent) Value { return number(eventNumbers[e.event]) },
				"type_desc": func(e triggerEvent) Value { return str(e.event) },
			}),
		relation("sys.sql_expression_dependencies", `
			referencing_id int, referencing_minor_id int = 0, referencing_class tinyint = 1
			referencing_class_desc nvarchar(60)? = 'OBJECT_OR_COLUMN', is_schema_bound_reference bit
			referenced_class tinyint? = 1, referenced_class_desc nvarchar(60)? = 'OBJECT_OR_COLUMN'
			referenced_server_name sysname? = NULL, referenced_database_name sysname?, referenced_schema_name sysname?
			referenced_entity_name sysname?, referenced_id int?, referenced_minor_id int = 0, is_caller_dependent bit
			is_ambiguous bit = 0`, listDependencies, dependencyRow),
	}
}

// dependency is a row of sys.sql_expression_dependencies: a name in the text of a module.
type dependency struct {
	of   object
	name *syntax.ObjectName
	id   int32 // of what it stands for; 0 if there is no such object
}

// listDependencies lists the tables, views, functions and procedures that modules name. Names of one part whose
// meaning depends on the caller's default schema are those of procedures in EXECUTE.
func listDependencies(c *Context) ([]dependency, error) {
	var list []dependency
	objects, err := listObjects(moduleKinds...)(c)
	for _, o := range objects {
		seen := map[string]bool{}
		for name := range namesIn(o.module().Stmt) {
			key := fold(syntax.Dotted(name.Parts))
			if seen[key] {
				continue
			}
			seen[key] = true
			d := dependency{of: o, name: name}
			if found := c.Database.Find(name.Schema(), part(name, 0), o.Head().Schema.Name); found != nil && part(name, 2) == "" {
				d.id = found.Head().ID
			} else if len(name.Parts) == 1 {
				continue // a built-in function, a common table expression, an alias
			}
			if d.id != o.Head().ID {
				list = append(list, d)
			}
		}
	}
	return list, err
}

// namesIn yields the names of objects in a statement.
func namesIn(stmt syntax.Stmt) func(yield func(*syntax.ObjectName) bool) {
	return func(yield func(*syntax.ObjectName) bool) {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.TableRef:
				return yield(n.Name)
			case *syntax.Exec:
				return n.Name == nil || yield(n.Name)
			case *syntax.Call:
				return n.Name == nil || len(n.Name.Parts) == 1 || yield(n.Name)
			}
			return true
		})
	}
}

// part is a part of a name counted from its end.
func part(name *syntax.ObjectName, fromEnd int) string {
	if i := len(name.Parts) - 1 - fromEnd; i >= 0 {
		return name.Parts[i].Value
	}
	return ""
}

var dependencyRow = getters[dependency]{
	"referencing_id":            func(d dependency) Value { return number(d.of.Head().ID) },
	"is_schema_bound_reference": func(d dependency) Value { return flag(hasOption(d.of.module(), "SCHEMABINDING")) },
	"referenced_database_name":  func(d dependency) Value { return orNull(part(d.name, 2)) },
	"referenced_schema_name":    func(d dependency) Value { return orNull(d.name.Schema()) },
	"referenced_entity_name":    func(d dependency) Value { return str(part(d.name, 0)) },
	"referenced_id":             func(d dependency) Value { return optional(d.id) },
	"is_caller_dependent":       func(d dependency) Value { return flag(len(d.name.Parts) == 1 && d.id == 0) },
}
