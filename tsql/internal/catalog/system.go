package catalog

import (
	"strings"
	"sync"

	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// systemViews are the catalog views that scripts commonly ask, as documented for SQL Server 2016, with
// optimize_for_sequential_key of 2019 and is_ledger_on of 2022: a line names a view, and the indented ones after it its
// columns with their types. A column with a question mark may be NULL. Columns that are rarely asked for are left out.
const systemViews = `
sys.objects
	name sysname, object_id int, principal_id int?, schema_id int, parent_object_id int, type char(2)?
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit
sys.sysobjects
	name sysname, id int, xtype char(2), uid smallint?, info smallint?, status int?, parent_obj int, crdate datetime
	type char(2)?, userstat smallint?, sysstat smallint?, refdate datetime, category int?
sys.syscolumns
	name sysname?, id int, xtype tinyint, xusertype smallint?, length smallint, xprec tinyint, xscale tinyint
	colid smallint?, colstat smallint?, number smallint?, colorder smallint?, type tinyint, prec smallint?, scale int?
	iscomputed int?, isnullable int?, collation sysname?
sys.sysindexes
	id int, status int?, first binary(6)?, indid smallint?, root binary(6)?, minlen smallint?, keycnt smallint?
	groupid smallint?, dpages int?, reserved int?, used int?, rowcnt bigint?, rowmodctr int?, reserved3 tinyint?
	reserved4 tinyint?, xmaxlen smallint?, maxirow smallint?, OrigFillFactor tinyint?, StatVersion tinyint?
	reserved2 int?, FirstIAM binary(6)?, impid smallint?, lockflags smallint?, pgmodctr int?, keys varbinary(816)?
	name sysname?, statblob image?, maxlen int?, rows int?
sys.systypes
	name sysname, xtype tinyint, status tinyint?, xusertype smallint?, length smallint, xprec tinyint, xscale tinyint
	tdefault int, domain int, uid smallint?, reserved smallint?, collationid int?, usertype smallint?, variable bit?
	allownulls bit?, type tinyint, printfmt varchar(255)?, prec smallint?, scale tinyint?, collation sysname?
sys.syscomments
	id int, number smallint?, colid smallint, status smallint?, ctext varbinary(8000)?, texttype smallint?
	language smallint?, encrypted bit?, compressed bit?, text nvarchar(4000)?
sys.sql_dependencies
	class tinyint, class_desc nvarchar(60)?, object_id int, column_id int, referenced_major_id int
	referenced_minor_id int, is_selected bit, is_updated bit, is_select_all bit
sys.all_objects
	name sysname, object_id int, principal_id int?, schema_id int, parent_object_id int, type char(2)?
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit?
sys.tables
	name sysname, object_id int, principal_id int?, schema_id int, parent_object_id int, type char(2)?
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit, max_column_id_used int
	uses_ansi_nulls bit?, is_replicated bit?, lock_escalation tinyint?, lock_escalation_desc nvarchar(60)?
	is_memory_optimized bit?, temporal_type tinyint?, history_table_id int?
sys.views
	name sysname, object_id int, principal_id int?, schema_id int, parent_object_id int, type char(2)?
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit, has_opaque_metadata bit
	with_check_option bit
sys.procedures
	name sysname, object_id int, principal_id int?, schema_id int, parent_object_id int, type char(2)?
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit, is_auto_executed bit
sys.columns
	object_id int, name sysname?, column_id int, system_type_id tinyint, user_type_id int, max_length smallint
	precision tinyint, scale tinyint, collation_name sysname?, is_nullable bit?, is_ansi_padded bit, is_rowguidcol bit
	is_identity bit, is_computed bit, default_object_id int, rule_object_id int, is_sparse bit?, is_column_set bit?
sys.all_columns
	object_id int, name sysname?, column_id int, system_type_id tinyint, user_type_id int, max_length smallint
	precision tinyint, scale tinyint, collation_name sysname?, is_nullable bit?, is_ansi_padded bit, is_rowguidcol bit
	is_identity bit, is_computed bit, default_object_id int, rule_object_id int
sys.computed_columns
	object_id int, name sysname?, column_id int, system_type_id tinyint, user_type_id int, max_length smallint
	precision tinyint, scale tinyint, is_nullable bit?, definition nvarchar(max)?, is_persisted bit
sys.identity_columns
	object_id int, name sysname?, column_id int, system_type_id tinyint, user_type_id int, seed_value sql_variant?
	increment_value sql_variant?, last_value sql_variant?
sys.indexes
	object_id int, name sysname?, index_id int, type tinyint, type_desc nvarchar(60)?, is_unique bit?
	data_space_id int?, ignore_dup_key bit?, is_primary_key bit?, is_unique_constraint bit?, fill_factor tinyint
	is_padded bit?, is_disabled bit?, is_hypothetical bit?, allow_row_locks bit?, allow_page_locks bit?
	has_filter bit?, filter_definition nvarchar(max)?, optimize_for_sequential_key bit?
sys.stats
	object_id int, name nvarchar(128)?, stats_id int, auto_created bit?, user_created bit?, no_recompute bit?
	has_filter bit?, filter_definition nvarchar(max)?, is_temporary bit?, is_incremental bit?
sys.index_columns
	object_id int, index_id int, index_column_id int, column_id int, key_ordinal tinyint, partition_ordinal tinyint
	is_descending_key bit?, is_included_column bit?
sys.schemas
	name sysname, schema_id int, principal_id int?
sys.types
	name sysname, system_type_id tinyint, user_type_id int, schema_id int, principal_id int?, max_length smallint
	precision tinyint, scale tinyint, collation_name sysname?, is_nullable bit?, is_user_defined bit, is_assembly_type bit
	default_object_id int, rule_object_id int, is_table_type bit
sys.table_types
	name sysname, system_type_id tinyint, user_type_id int, schema_id int, principal_id int?, max_length smallint
	precision tinyint, scale tinyint, collation_name sysname?, is_nullable bit?, is_user_defined bit
	type_table_object_id int, is_memory_optimized bit?
sys.parameters
	object_id int, name sysname?, parameter_id int, system_type_id tinyint, user_type_id int, max_length smallint
	precision tinyint, scale tinyint, is_output bit, has_default_value bit, default_value sql_variant?, is_readonly bit
sys.sql_modules
	object_id int, definition nvarchar(max)?, uses_ansi_nulls bit?, uses_quoted_identifier bit?, is_schema_bound bit?
	uses_database_collation bit?, is_recompiled bit?, null_on_null_input bit?, execute_as_principal_id int?
sys.triggers
	name sysname, object_id int, parent_class tinyint, parent_class_desc nvarchar(60)?, parent_id int, type char(2)
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit, is_disabled bit
	is_not_for_replication bit, is_instead_of_trigger bit
sys.foreign_keys
	name sysname, object_id int, principal_id int?, schema_id int, parent_object_id int, type char(2)?
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit, referenced_object_id int?
	key_index_id int?, is_disabled bit, is_not_trusted bit, delete_referential_action tinyint?
	update_referential_action tinyint?
sys.foreign_key_columns
	constraint_object_id int, constraint_column_id int, parent_object_id int, parent_column_id int
	referenced_object_id int, referenced_column_id int
sys.key_constraints
	name sysname, object_id int, principal_id int?, schema_id int, parent_object_id int, type char(2)?
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit, unique_index_id int?
	is_system_named bit
sys.check_constraints
	name sysname, object_id int, principal_id int?, schema_id int, parent_object_id int, type char(2)?
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit, is_disabled bit
	parent_column_id int, definition nvarchar(max)?, is_system_named bit
sys.default_constraints
	name sysname, object_id int, principal_id int?, schema_id int, parent_object_id int, type char(2)?
	type_desc nvarchar(60)?, create_date datetime, modify_date datetime, is_ms_shipped bit, parent_column_id int
	definition nvarchar(max)?, is_system_named bit
sys.sequences
	name sysname, object_id int, principal_id int?, schema_id int, type char(2)?, start_value sql_variant
	increment sql_variant, minimum_value sql_variant, maximum_value sql_variant, is_cycling bit?, is_cached bit?
	cache_size int?, current_value sql_variant
sys.synonyms
	name sysname, object_id int, principal_id int?, schema_id int, base_object_name nvarchar(1035)?
sys.fulltext_catalogs
	fulltext_catalog_id int, name sysname, path nvarchar(260)?, is_default bit, is_accent_sensitivity_on bit
	data_space_id int?, file_id int?, principal_id int?, is_importing bit
sys.fulltext_indexes
	object_id int, unique_index_id int, fulltext_catalog_id int?, is_enabled bit, change_tracking_state char(1)?
	change_tracking_state_desc nvarchar(60)?, has_crawl_completed bit, crawl_type char(1), crawl_type_desc nvarchar(60)?
	crawl_start_date datetime?, crawl_end_date datetime?, incremental_timestamp binary(8)?, stoplist_id int?
	data_space_id int?, property_list_id int?
sys.fulltext_index_columns
	object_id int, column_id int, type_column_id int?, language_id int, statistical_semantics int?
sys.fulltext_index_catalog_usages
	object_id int, index_id int?, fulltext_catalog_id int
sys.fulltext_stoplists
	stoplist_id int, name sysname, create_date datetime, modify_date datetime, principal_id int?
sys.fulltext_stopwords
	stoplist_id int, stopword nvarchar(64), language sysname?, language_id int
sys.fulltext_system_stopwords
	stopword nvarchar(64), language_id int
sys.fulltext_languages
	lcid int, name sysname
sys.fulltext_document_types
	document_type sysname, class_id uniqueidentifier, path nvarchar(260)?, version sysname?
	manufacturer sysname?
sys.partitions
	partition_id bigint, object_id int, index_id int, partition_number int, hobt_id bigint, rows bigint?
	data_compression tinyint, data_compression_desc nvarchar(60)?
sys.databases
	name sysname, database_id int, create_date datetime, compatibility_level tinyint, collation_name sysname?
	user_access tinyint?, is_read_only bit?, is_auto_close_on bit, is_auto_shrink_on bit?, state tinyint?
	state_desc nvarchar(60)?, snapshot_isolation_state tinyint?, snapshot_isolation_state_desc nvarchar(60)?
	is_read_committed_snapshot_on bit?, recovery_model tinyint?, recovery_model_desc nvarchar(60)?
	is_query_store_on bit?, delayed_durability int?, delayed_durability_desc nvarchar(60)?, is_ledger_on bit?
sys.database_permissions
	class tinyint, class_desc nvarchar(60)?, major_id int, minor_id int, grantee_principal_id int, grantor_principal_id int
	type char(4), permission_name nvarchar(128)?, state char(1), state_desc nvarchar(60)?
sys.database_principals
	name sysname, principal_id int, type char(1), type_desc nvarchar(60)?, default_schema_name sysname?
	create_date datetime, modify_date datetime, is_fixed_role bit
sys.database_role_members
	role_principal_id int, member_principal_id int
sys.dm_exec_sessions
	session_id smallint, login_time datetime, host_name nvarchar(128)?, program_name nvarchar(128)?
	login_name nvarchar(128), status nvarchar(30), last_request_start_time datetime, last_request_end_time datetime?
	transaction_isolation_level smallint, lock_timeout int, deadlock_priority int, is_user_process bit
	database_id smallint, open_transaction_count int
sys.dm_tran_locks
	resource_type nvarchar(60), resource_subtype nvarchar(60), resource_database_id int
	resource_description nvarchar(256), resource_associated_entity_id bigint?, request_mode nvarchar(60)
	request_type nvarchar(60), request_status nvarchar(60), request_session_id int
	request_owner_type nvarchar(60), request_owner_id bigint?
information_schema.tables
	TABLE_CATALOG nvarchar(128)?, TABLE_SCHEMA sysname?, TABLE_NAME sysname, TABLE_TYPE varchar(10)?
information_schema.columns
	TABLE_CATALOG nvarchar(128)?, TABLE_SCHEMA nvarchar(128)?, TABLE_NAME nvarchar(128), COLUMN_NAME nvarchar(128)?
	ORDINAL_POSITION int?, COLUMN_DEFAULT nvarchar(4000)?, IS_NULLABLE varchar(3)?, DATA_TYPE nvarchar(128)?
	CHARACTER_MAXIMUM_LENGTH int?, CHARACTER_OCTET_LENGTH int?, NUMERIC_PRECISION tinyint?
	NUMERIC_PRECISION_RADIX smallint?, NUMERIC_SCALE int?, DATETIME_PRECISION smallint?
information_schema.routines
	ROUTINE_CATALOG nvarchar(128)?, ROUTINE_SCHEMA nvarchar(128)?, ROUTINE_NAME nvarchar(128)?
	ROUTINE_TYPE nvarchar(20)?, DATA_TYPE nvarchar(128)?, ROUTINE_DEFINITION nvarchar(4000)?
information_schema.constraint_column_usage
	TABLE_CATALOG nvarchar(128)?, TABLE_SCHEMA nvarchar(128)?, TABLE_NAME nvarchar(128), COLUMN_NAME nvarchar(128)?
	CONSTRAINT_CATALOG nvarchar(128)?, CONSTRAINT_SCHEMA nvarchar(128)?, CONSTRAINT_NAME nvarchar(128)
information_schema.schemata
	CATALOG_NAME nvarchar(128)?, SCHEMA_NAME nvarchar(128), SCHEMA_OWNER nvarchar(128)?
`

// systemTables reads systemViews, once and only if a script asks for one of them. The tables have no place: nothing
// in the
// scripts defines them. They have no keys, so a query of them is never taken for one row.
var systemTables = sync.OnceValue(func() map[string]*Table {
	tables := map[string]*Table{}
	var t *Table
	for line := range strings.Lines(strings.TrimSpace(systemViews)) {
		columns, indented := strings.CutPrefix(line, "\t")
		if !indented {
			schema, name, _ := strings.Cut(strings.TrimSpace(line), ".")
			t = &Table{Name: Name{Schema: schema, Name: name}}
			tables[t.Name.Key()] = t
			continue
		}
		for column := range strings.SplitSeq(strings.TrimSpace(columns), ", ") {
			t.Columns = append(t.Columns, systemColumn(column))
		}
	}
	return tables
})

// systemColumn reads "name type" or "name type?", where ? stands for NULL as documented. Types have one facet at
// most here:
// nvarchar(60), never decimal(10,2), whose comma would end the column.
func systemColumn(text string) Column {
	name, kind, _ := strings.Cut(text, " ")
	kind, nullable := strings.CutSuffix(kind, "?")
	kind, length, faceted := strings.Cut(strings.TrimSuffix(kind, ")"), "(")
	var args []string
	if faceted {
		args = []string{length}
	}
	t, err := sqltype.Parse(kind, args)
	if err != nil {
		panic("catalog: " + text + ": " + err.Error()) // the table above is wrong, and a test reads all of it
	}
	return Column{Name: name, Type: t, Nullable: nullable}
}

// systemTable returns a known view of the server, or nil. A view that isn't known is refused where it is asked: its
// columns
// differ between versions, and guessing them is what this generator doesn't do.
func systemTable(name Name) *Table { return systemTables()[name.Key()] }
