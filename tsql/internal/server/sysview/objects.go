package sysview

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// object is a row of sys.objects and of the views that show one kind of object.
type object struct {
	schema.Object
	c *Context
}

func (o object) table() *schema.Table   { return as[*schema.Table](o) }
func (o object) module() *schema.Module { return as[*schema.Module](o) }

// parent is the table of a constraint, or the object itself.
func (o object) parent() schema.Object {
	if parent := o.c.Database.Objects[o.Head().Parent]; parent != nil {
		return parent
	}
	return o.Object
}

func as[T schema.Object](o object) T {
	t, _ := o.Object.(T)
	return t
}

// kindNames are what sys.objects calls the types of objects.
var kindNames = map[string]string{
	"U": "USER_TABLE", "V": "VIEW", "P": "SQL_STORED_PROCEDURE", "FN": "SQL_SCALAR_FUNCTION",
	"IF": "SQL_INLINE_TABLE_VALUED_FUNCTION", "TF": "SQL_TABLE_VALUED_FUNCTION", "TR": "SQL_TRIGGER",
	"SO": "SEQUENCE_OBJECT", "SN": "SYNONYM", "PK": "PRIMARY_KEY_CONSTRAINT", "UQ": "UNIQUE_CONSTRAINT",
	"C": "CHECK_CONSTRAINT", "D": "DEFAULT_CONSTRAINT", "F": "FOREIGN_KEY_CONSTRAINT", "TT": "TYPE_TABLE",
}

// listObjects lists the visible objects of some kinds by their ids; of all kinds if none is given. Types have tables of
// their own, which are in schema sys.
func listObjects(kinds ...string) func(c *Context) ([]object, error) {
	return func(c *Context) ([]object, error) {
		var list []object
		among := c.among
		if among == nil {
			among = everyObject(c.Database)
		}
		for _, o := range among {
			if len(kinds) > 0 && !slices.Contains(kinds, o.Head().Kind) || !c.sees(o) {
				continue
			}
			list = append(list, object{o, c})
		}
		return list, nil
	}
}

// everyObject returns the objects of a database by their ids, with the tables of its table types.
func everyObject(db *schema.Database) []schema.Object {
	byID := map[int32]schema.Object{}
	maps.Copy(byID, db.Objects)
	for _, u := range db.Types {
		if u.Table != nil {
			byID[u.Table.ID] = u.Table
		}
	}
	return slices.SortedFunc(maps.Values(byID), byObjectID)
}

func byObjectID(a, b schema.Object) int { return cmp.Compare(a.Head().ID, b.Head().ID) }

// objectsWithID are the object, or the table of a table type, with the id.
func objectsWithID(db *schema.Database, id int32) []schema.Object {
	if o := db.Objects[id]; o != nil {
		return []schema.Object{o}
	}
	for _, u := range db.Types {
		if u.Table != nil && u.Table.ID == id {
			return []schema.Object{u.Table}
		}
	}
	return []schema.Object{}
}

// objectsInSchema are the objects that sys.objects shows in a schema.
func objectsInSchema(db *schema.Database, id int32) []schema.Object {
	if id == schemaSys {
		return slices.DeleteFunc(everyObject(db), func(o schema.Object) bool { return o.Head().Kind != "TT" })
	}
	for _, s := range db.Schemas {
		if s.ID == id {
			return append([]schema.Object{}, slices.SortedFunc(maps.Values(s.Objects), byObjectID)...)
		}
	}
	return []schema.Object{}
}

// objectKind is the type column, which is padded to two characters.
func objectKind(h *schema.Header) string { return (h.Kind + " ")[:2] }

const objectColumns = `
	name sysname, object_id int, principal_id int?, schema_id int, parent_object_id int, type char(2)?
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit = 0, is_published bit = 0
	is_schema_published bit = 0`

var objectRow = getters[object]{
	"name":      func(o object) Value { return str(o.Head().Name) },
	"object_id": func(o object) Value { return number(o.Head().ID) },
	"schema_id": func(o object) Value {
		if o.Head().Kind == "TT" {
			return number(schemaSys)
		}
		return number(o.Head().Schema.ID)
	},
	"principal_id": func(o object) Value {
		if owner := o.Head().Owner; owner != nil {
			return number(owner.ID)
		}
		return Value{}
	},
	"parent_object_id": func(o object) Value { return number(o.Head().Parent) },
	"type":             func(o object) Value { return str(objectKind(o.Head())) },
	"type_desc":        func(o object) Value { return orNull(kindNames[o.Head().Kind]) },
	"create_date":      func(o object) Value { return o.Head().Created },
	"modify_date":      func(o object) Value { return o.Head().Modified },
}

const tableColumns = objectColumns + `
	lob_data_space_id int, filestream_data_space_id int? = NULL, max_column_id_used int, lock_on_bulk_load bit = 0
	uses_ansi_nulls bit? = 1, is_replicated bit? = 0, has_replication_filter bit? = 0, is_merge_published bit? = 0
	is_sync_tran_subscribed bit? = 0, has_unchecked_assembly_data bit = 0, text_in_row_limit int? = 0
	large_value_types_out_of_row bit?, is_tracked_by_cdc bit? = 0, lock_escalation tinyint?
	lock_escalation_desc nvarchar(60)?, is_filetable bit? = 0, is_memory_optimized bit? = 0, durability tinyint? = 0
	durability_desc nvarchar(60)? = 'SCHEMA_AND_DATA', temporal_type tinyint?
	temporal_type_desc nvarchar(60)?, history_table_id int?
	is_remote_data_archive_enabled bit? = 0, is_external bit = 0, history_retention_period int?
	history_retention_period_unit int?, history_retention_period_unit_desc nvarchar(10)?, is_node bit? = 0
	is_edge bit? = 0, data_retention_period int? = -1, data_retention_period_unit int? = -1
	data_retention_period_unit_desc nvarchar(10)? = 'INFINITE', ledger_type tinyint? = 0
	ledger_type_desc nvarchar(60)? = 'NON_LEDGER_TABLE', ledger_view_id int? = NULL, is_dropped_ledger_table bit? = 0`

// lockEscalations are the values of LOCK_ESCALATION with their numbers.
var lockEscalations = map[string]int{"TABLE": 0, "DISABLE": 1, "AUTO": 2}

var tableRow = getters[object]{
	"lob_data_space_id": func(o object) Value {
		return flag(slices.ContainsFunc(o.table().Columns, func(c *schema.Column) bool { return c.Type.IsLOB() }))
	},
	"max_column_id_used": func(o object) Value {
		var last int32
		for _, c := range o.table().Columns {
			last = max(last, c.ID)
		}
		return number(last)
	},
	"large_value_types_out_of_row": func(o object) Value {
		return flag(isOn(o.table().Options, "large value types out of row"))
	},
	"temporal_type": func(o object) Value { return number(temporalType(o.table())) },
	"temporal_type_desc": func(o object) Value {
		return str([]string{"NON_TEMPORAL_TABLE", "HISTORY_TABLE", "SYSTEM_VERSIONED_TEMPORAL_TABLE"}[temporalType(o.table())])
	},
	"history_table_id": func(o object) Value {
		if h := o.table().History; h != nil {
			return number(h.ID)
		}
		return Value{}
	},
	"history_retention_period": func(o object) Value {
		if o.table().History == nil {
			return Value{}
		}
		return number(-1)
	},
	"history_retention_period_unit": func(o object) Value {
		if o.table().History == nil {
			return Value{}
		}
		return number(-1)
	},
	"history_retention_period_unit_desc": func(o object) Value {
		if o.table().History == nil {
			return Value{}
		}
		return str("INFINITE")
	},
	"lock_escalation":      func(o object) Value { return number(lockEscalations[escalation(o.table())]) },
	"lock_escalation_desc": func(o object) Value { return str(escalation(o.table())) },
}

// listPeriods lists the tables that have a period.
func listPeriods(c *Context) ([]object, error) {
	list, err := listObjects("U")(c)
	return slices.DeleteFunc(list, func(o object) bool { return o.table().Period == nil }), err
}

// temporalType is temporal_type of sys.tables: 1 of a history, 2 of a table that has one.
func temporalType(t *schema.Table) int {
	switch {
	case t.HistoryOf != nil:
		return 1
	case t.History != nil:
		return 2
	default:
		return 0
	}
}

// option finds an option by its name in any case.
func option(options map[string]string, name string) string {
	for key, value := range options {
		if strings.EqualFold(key, name) {
			return strings.ToUpper(value)
		}
	}
	return ""
}

func isOn(options map[string]string, name string) bool {
	return slices.Contains([]string{"ON", "1", "TRUE"}, option(options, name))
}

func escalation(t *schema.Table) string {
	if v := option(t.Options, "LOCK_ESCALATION"); v != "" {
		return v
	}
	return "TABLE"
}

const viewColumns = objectColumns + `
	is_replicated bit? = 0, has_replication_filter bit? = 0, has_opaque_metadata bit = 0
	has_unchecked_assembly_data bit = 0, with_check_option bit, is_date_correlation_view bit = 0
	is_tracked_by_cdc bit? = 0, has_snapshot bit? = 0, ledger_view_type tinyint? = 0
	ledger_view_type_desc nvarchar(60)? = 'NON_LEDGER_VIEW', is_dropped_ledger_view bit? = 0`

var viewRow = getters[object]{
	"with_check_option": func(o object) Value {
		def, ok := o.module().Stmt.(*syntax.CreateView)
		return flag(ok && def.CheckOption)
	},
}

const sequenceColumns = objectColumns + `
	start_value sql_variant, increment sql_variant, minimum_value sql_variant, maximum_value sql_variant, is_cycling bit?
	is_cached bit? = 1, cache_size int? = NULL, system_type_id tinyint, user_type_id int, precision tinyint, scale tinyint?
	current_value sql_variant, is_exhausted bit, last_used_value sql_variant?`

// sequence is a row of sys.sequences.
type sequence struct {
	object
	*schema.Sequence
}

func (s sequence) Head() *schema.Header { return s.object.Head() }
func (s sequence) dataType() dataType   { return dataType{Type: s.Type} }

// current is what the last NEXT VALUE FOR has returned, or the first that will be.
func (s sequence) current() int64 {
	if s.Used && !s.Exhausted {
		return s.Next - s.Increment
	}
	return s.Next
}

var sequenceRow = getters[sequence]{
	"start_value":   func(s sequence) Value { return variant(s.Start, s.Type) },
	"increment":     func(s sequence) Value { return variant(s.Increment, s.Type) },
	"minimum_value": func(s sequence) Value { return variant(s.Min, s.Type) },
	"maximum_value": func(s sequence) Value { return variant(s.Max, s.Type) },
	"is_cycling":    func(s sequence) Value { return flag(s.Cycle) },
	"current_value": func(s sequence) Value { return variant(s.current(), s.Type) },
	"is_exhausted":  func(s sequence) Value { return flag(s.Exhausted) },
	"last_used_value": func(s sequence) Value {
		if !s.Used {
			return Value{}
		}
		return variant(s.current(), s.Type)
	},
}

func listSequences(c *Context) ([]sequence, error) {
	objects, err := listObjects("SO")(c)
	list := make([]sequence, len(objects))
	for i, o := range objects {
		list[i] = sequence{o, as[*schema.Sequence](o)}
	}
	return list, err
}

// inherit makes getters of what is inside of T out of those of the part.
func inherit[T, P any](part func(T) P, from getters[P]) getters[T] {
	out := getters[T]{}
	for column, get := range from {
		out[column] = func(r T) Value { return get(part(r)) }
	}
	return out
}

// baseName is the name that a synonym stands for, with brackets.
func baseName(s *schema.Synonym) string {
	parts := make([]string, len(s.For))
	for i, p := range s.For {
		parts[i] = bracket(p)
	}
	return strings.Join(parts, ".")
}

func objectViews() []*View {
	procedure := objectColumns + `
		is_auto_executed bit = 0, is_execution_replicated bit? = 0, is_repl_serializable_only bit? = 0
		skips_repl_constraints bit? = 0`
	return []*View{
		relation("sys.objects", objectColumns, listObjects(), objectRow),
		relation("sys.all_objects", strings.Replace(objectColumns, "is_ms_shipped bit", "is_ms_shipped bit?", 1), listObjects(), objectRow),
		relation("sys.tables", tableColumns, listObjects("U"), objectRow, tableRow),
		relation("sys.periods", `
			name sysname? = 'SYSTEM_TIME', period_type tinyint? = 1, period_type_desc nvarchar(60)? = 'SYSTEM_TIME_PERIOD'
			object_id int, start_column_id int, end_column_id int`, listPeriods, getters[object]{
			"object_id":       func(o object) Value { return number(o.Head().ID) },
			"start_column_id": func(o object) Value { return number(o.table().Period.Start.ID) },
			"end_column_id":   func(o object) Value { return number(o.table().Period.End.ID) },
		}),
		relation("sys.views", viewColumns, listObjects("V"), objectRow, viewRow),
		relation("sys.all_views", viewColumns, listObjects("V"), objectRow, viewRow),
		relation("sys.procedures", procedure, listObjects("P"), objectRow),
		relation("sys.sequences", sequenceColumns, listSequences,
			inherit(func(s sequence) object { return s.object }, objectRow), typeGetters[sequence](), sequenceRow),
		relation("sys.synonyms", objectColumns+`
			base_object_name nvarchar(1035)?`, listObjects("SN"), objectRow, getters[object]{
			"base_object_name": func(o object) Value { return str(baseName(as[*schema.Synonym](o))) },
		}),
		relation("sys.schemas", "name sysname, schema_id int, principal_id int?", listSchemas, getters[*schema.Schema]{
			"name":         func(s *schema.Schema) Value { return str(s.Name) },
			"schema_id":    func(s *schema.Schema) Value { return number(s.ID) },
			"principal_id": func(s *schema.Schema) Value { return number(ownerID(s)) },
		}),
	}
}

func ownerID(s *schema.Schema) int32 {
	if s.Owner == nil {
		return 1
	}
	return s.Owner.ID
}

func listSchemas(c *Context) ([]*schema.Schema, error) {
	list := make([]*schema.Schema, 0, len(c.Database.Schemas))
	for _, s := range c.Database.Schemas {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *schema.Schema) int { return int(a.ID) - int(b.ID) })
	return list, nil
}
