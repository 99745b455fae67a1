package sysview

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// listDatabases lists all databases: VIEW ANY DATABASE is granted to public.
func listDatabases(c *Context) ([]*schema.Database, error) {
	list := make([]*schema.Database, 0, len(c.Server.Databases))
	for _, db := range c.Server.Databases {
		list = append(list, db)
	}
	slices.SortFunc(list, func(a, b *schema.Database) int { return int(a.ID) - int(b.ID) })
	return list, nil
}

const databaseColumns = `
	name sysname, database_id int, source_database_id int? = NULL, owner_sid varbinary(85)?, create_date datetime
	compatibility_level tinyint, collation_name sysname?, user_access tinyint?
	user_access_desc nvarchar(60)?, is_read_only bit?, is_auto_close_on bit, is_auto_shrink_on bit?
	state tinyint? = 0, state_desc nvarchar(60)? = 'ONLINE', is_in_standby bit? = 0, is_cleanly_shutdown bit? = 0
	is_supplemental_logging_enabled bit? = 0, snapshot_isolation_state tinyint?
	snapshot_isolation_state_desc nvarchar(60)?, is_read_committed_snapshot_on bit?, recovery_model tinyint?
	recovery_model_desc nvarchar(60)?, page_verify_option tinyint? = 2, page_verify_option_desc nvarchar(60)? = 'CHECKSUM'
	is_auto_create_stats_on bit?, is_auto_create_stats_incremental_on bit? = 0, is_auto_update_stats_on bit?
	is_auto_update_stats_async_on bit?, is_ansi_null_default_on bit?, is_ansi_nulls_on bit?, is_ansi_padding_on bit?
	is_ansi_warnings_on bit?, is_arithabort_on bit?, is_concat_null_yields_null_on bit?, is_numeric_roundabort_on bit?
	is_quoted_identifier_on bit?, is_recursive_triggers_on bit?, is_cursor_close_on_commit_on bit?
	is_local_cursor_default bit?, is_fulltext_enabled bit? = 0, is_trustworthy_on bit?, is_db_chaining_on bit?
	is_parameterization_forced bit?, is_master_key_encrypted_by_server bit = 0, is_query_store_on bit?
	is_published bit = 0, is_subscribed bit = 0, is_merge_published bit = 0, is_distributor bit = 0
	is_sync_with_backup bit = 0, service_broker_guid uniqueidentifier? = NULL, is_broker_enabled bit = 0
	log_reuse_wait tinyint? = 0, log_reuse_wait_desc nvarchar(60)? = 'NOTHING', is_date_correlation_on bit = 0
	is_cdc_enabled bit = 0, is_encrypted bit? = 0, is_honor_broker_priority_on bit? = 0
	replica_id uniqueidentifier? = NULL, group_database_id uniqueidentifier? = NULL, resource_pool_id int? = NULL
	default_language_lcid smallint? = NULL, default_language_name nvarchar(128)? = NULL
	default_fulltext_language_lcid int? = NULL, default_fulltext_language_name nvarchar(128)? = NULL
	is_nested_triggers_on bit? = NULL, is_transform_noise_words_on bit? = NULL, two_digit_year_cutoff smallint? = NULL
	containment tinyint? = 0, containment_desc nvarchar(60)? = 'NONE', target_recovery_time_in_seconds int? = 60
	delayed_durability int?, delayed_durability_desc nvarchar(60)?, is_memory_optimized_elevate_to_snapshot_on bit? = 0
	is_federation_member bit? = 0, is_remote_data_archive_enabled bit? = 0, is_mixed_page_allocation_on bit? = 0
	is_temporal_history_retention_enabled bit? = 1, catalog_collation_type int = 0
	catalog_collation_type_desc nvarchar(60)? = 'DATABASE_DEFAULT', physical_database_name nvarchar(128)?
	is_result_set_caching_on bit? = 0, is_accelerated_database_recovery_on bit?, is_tempdb_spill_to_remote_store bit? = 0
	is_stale_page_detection_on bit? = 0, is_memory_optimized_enabled bit? = 1, is_data_retention_enabled bit? = 0
	is_ledger_on bit? = 0, is_change_feed_enabled bit? = 0, is_optimized_locking_on bit?`

var databaseRow = getters[*schema.Database]{
	"name":                   func(d *schema.Database) Value { return str(d.Name) },
	"physical_database_name": func(d *schema.Database) Value { return str(d.Name) },
	"database_id":            func(d *schema.Database) Value { return number(d.ID) },
	"owner_sid":              func(d *schema.Database) Value { return sid(d.Owner) },
	"create_date":            func(d *schema.Database) Value { return d.Created },
	"compatibility_level":    func(d *schema.Database) Value { return number(d.CompatibilityLevel) },
	"collation_name": func(d *schema.Database) Value {
		if d.Collation == nil {
			return Value{}
		}
		return str(d.Collation.Name)
	},
	"user_access":              func(d *schema.Database) Value { return number(userAccess(d)) },
	"user_access_desc":         func(d *schema.Database) Value { return str([]string{"MULTI_USER", "SINGLE_USER"}[userAccess(d)]) },
	"is_read_only":             func(d *schema.Database) Value { _, set := d.Options["READ_ONLY"]; return flag(set) },
	"snapshot_isolation_state": func(d *schema.Database) Value { return flag(d.AllowSnapshot) },
	"snapshot_isolation_state_desc": func(d *schema.Database) Value {
		if d.AllowSnapshot {
			return str("ON")
		}
		return str("OFF")
	},
	"is_optimized_locking_on":       func(d *schema.Database) Value { return flag(d.OptimizedLocking) },
	"is_read_committed_snapshot_on": func(d *schema.Database) Value { return flag(d.ReadCommittedSnapshot) },
	"recovery_model":                func(d *schema.Database) Value { return number(recoveryModels[recovery(d)]) },
	"recovery_model_desc":           func(d *schema.Database) Value { return str(recovery(d)) },
	"delayed_durability":            func(d *schema.Database) Value { return number(durabilities[durability(d)]) },
	"delayed_durability_desc":       func(d *schema.Database) Value { return str(durability(d)) },
	"is_parameterization_forced":    func(d *schema.Database) Value { return flag(option(d.Options, "PARAMETERIZATION") == "FORCED") },
}

// databaseSwitches are the options that are on or off, with the column that shows them and what they are at first.
var databaseSwitches = []struct {
	column, option string
	first          bool
}{
	{"is_auto_close_on", "AUTO_CLOSE", false},
	{"is_auto_shrink_on", "AUTO_SHRINK", false},
	{"is_auto_create_stats_on", "AUTO_CREATE_STATISTICS", true},
	{"is_auto_update_stats_on", "AUTO_UPDATE_STATISTICS", true},
	{"is_auto_update_stats_async_on", "AUTO_UPDATE_STATISTICS_ASYNC", false},
	{"is_ansi_null_default_on", "ANSI_NULL_DEFAULT", false},
	{"is_ansi_nulls_on", "ANSI_NULLS", false},
	{"is_ansi_padding_on", "ANSI_PADDING", false},
	{"is_ansi_warnings_on", "ANSI_WARNINGS", false},
	{"is_arithabort_on", "ARITHABORT", false},
	{"is_concat_null_yields_null_on", "CONCAT_NULL_YIELDS_NULL", false},
	{"is_numeric_roundabort_on", "NUMERIC_ROUNDABORT", false},
	{"is_quoted_identifier_on", "QUOTED_IDENTIFIER", false},
	{"is_recursive_triggers_on", "RECURSIVE_TRIGGERS", false},
	{"is_cursor_close_on_commit_on", "CURSOR_CLOSE_ON_COMMIT", false},
	{"is_trustworthy_on", "TRUSTWORTHY", false},
	{"is_db_chaining_on", "DB_CHAINING", false},
	{"is_query_store_on", "QUERY_STORE", false},
	{"is_accelerated_database_recovery_on", "ACCELERATED_DATABASE_RECOVERY", false},
}

func switchGetters() getters[*schema.Database] {
	out := getters[*schema.Database]{}
	for _, s := range databaseSwitches {
		out[s.column] = func(d *schema.Database) Value {
			if set := option(d.Options, s.option); set != "" {
				return flag(set == "ON")
			}
			return flag(s.first)
		}
	}
	out["is_local_cursor_default"] = func(d *schema.Database) Value {
		return flag(option(d.Options, "CURSOR_DEFAULT") == "LOCAL")
	}
	return out
}

var (
	recoveryModels = map[string]int{"FULL": 1, "BULK_LOGGED": 2, "SIMPLE": 3}
	durabilities   = map[string]int{"DISABLED": 0, "ALLOWED": 1, "FORCED": 2}
)

// recovery is the recovery model, which nothing here depends on.
func recovery(d *schema.Database) string {
	if set := option(d.Options, "RECOVERY"); set != "" {
		return set
	}
	if d.IsSystem() {
		return "SIMPLE"
	}
	return "FULL"
}

func durability(d *schema.Database) string {
	if set := option(d.Options, "DELAYED_DURABILITY"); set != "" {
		return set
	}
	return "DISABLED"
}

// configuration is a row of sys.configurations.
type configuration struct {
	id                    int
	name                  string
	value, least, most    int
	description           string
	isDynamic, isAdvanced bool
}

// configurations are the settings that programs look at, with the values that a new server has.
var configurations = []configuration{
	{101, "recovery interval (min)", 0, 0, 32767, "Maximum recovery interval in minutes", true, true},
	{103, "user connections", 0, 0, 32767, "Number of user connections allowed", false, true},
	{106, "locks", 0, 5000, 2147483647, "Number of locks for all users", false, true},
	{109, "fill factor (%)", 0, 0, 100, "Default fill factor percentage", false, true},
	{114, "disallow results from triggers", 0, 0, 1, "Disallow returning results from triggers", true, true},
	{115, "nested triggers", 1, 0, 1, "Allow triggers to be invoked within triggers", true, false},
	{116, "server trigger recursion", 1, 0, 1, "Allow recursion for server level triggers", true, false},
	{124, "default language", 0, 0, 9999, "default language", true, false},
	{503, "max worker threads", 0, 128, 65535, "Maximum worker threads", true, true},
	{505, "network packet size (B)", 4096, 512, 32767, "Network packet size", true, true},
	{518, "show advanced options", 0, 0, 1, "show advanced options", true, false},
	{542, "remote proc trans", 0, 0, 1, "Create DTC transaction for remote procedures", true, false},
	{1127, "two digit year cutoff", 2049, 1753, 9999, "two digit year cutoff", true, true},
	{1534, "user options", 0, 0, 32767, "user options", true, false},
	{1536, "max text repl size (B)", 65536, -1, 2147483647, "Maximum size of a text field in replication.", true, false},
	{1538, "cost threshold for parallelism", 5, 0, 32767, "cost threshold for parallelism", true, true},
	{1539, "max degree of parallelism", 0, 0, 32767, "maximum degree of parallelism", true, true},
	{1544, "max server memory (MB)", 2147483647, 128, 2147483647, "Maximum size of server memory (MB)", true, true},
	{1562, "clr enabled", 0, 0, 1, "CLR user code execution enabled in the server", true, false},
	{1569, "blocked process threshold (s)", 0, 0, 86400, "Blocked process reporting threshold", true, true},
	{1581, "optimize for ad hoc workloads", 0, 0, 1, "When this option is set, plan cache size is further reduced for single-use adhoc OLTP workload.", true, true},
	{16390, "xp_cmdshell", 0, 0, 1, "Enable or disable command shell", true, true},
}

func databaseViews() []*View {
	return []*View{
		keyed(relation("sys.databases", databaseColumns, listDatabases, databaseRow, switchGetters()), "database_id",
			func(c *Context, id Value) ([]*schema.Database, error) {
				if db := c.Server.DatabaseByID(int32(id.Int())); db != nil {
					return []*schema.Database{db}, nil
				}
				return nil, nil
			}, databaseRow, switchGetters()),
		relation("sys.configurations", `
			configuration_id int, name nvarchar(35), value sql_variant?, minimum sql_variant?, maximum sql_variant?
			value_in_use sql_variant?, description nvarchar(255), is_dynamic bit, is_advanced bit`,
			func(*Context) ([]configuration, error) { return configurations, nil }, configurationRow()),
		relation("sys.data_spaces", `
			name sysname = 'PRIMARY', data_space_id int = 1, type char(2) = 'FG', type_desc nvarchar(60)? = 'ROWS_FILEGROUP'
			is_default bit? = 1, is_system bit? = 0`, oneRow, getters[struct{}]{}),
		relation("sys.filegroups", `
			name sysname = 'PRIMARY', data_space_id int = 1, type char(2) = 'FG', type_desc nvarchar(60)? = 'ROWS_FILEGROUP'
			is_default bit? = 1, is_system bit? = 0, filegroup_guid uniqueidentifier? = NULL, log_filegroup_id int? = NULL
			is_read_only bit? = 0, is_autogrow_all_files bit? = 0`, oneRow, getters[struct{}]{}),
		relation("sys.extended_properties", `
			class tinyint, class_desc nvarchar(60)?, major_id int, minor_id int, name sysname, value sql_variant?`,
			nothing[property], propertyRow),
	}
}

// oneRow lists the one row of views that say the same everywhere.
func oneRow(*Context) ([]struct{}, error) { return make([]struct{}, 1), nil }

// nothing lists no rows: what is empty because the server does not have what it lists.
func nothing[T any](*Context) ([]T, error) { return nil, nil }

// property is a row of sys.extended_properties, of which there are none: sp_addextendedproperty is not supported.
type property struct{}

var propertyRow = blank[property]("class", "class_desc", "major_id", "minor_id", "name", "value")

// blank are getters of columns that no row ever has.
func blank[T any](columns ...string) getters[T] {
	out := getters[T]{}
	for _, c := range columns {
		out[c] = func(T) Value { return Value{} }
	}
	return out
}

func configurationRow() getters[configuration] {
	setting := func(n int) Value { return variant(int64(n), integer) }
	return getters[configuration]{
		"configuration_id": func(c configuration) Value { return number(c.id) },
		"name":             func(c configuration) Value { return str(c.name) },
		"value":            func(c configuration) Value { return setting(c.value) },
		"minimum":          func(c configuration) Value { return setting(c.least) },
		"maximum":          func(c configuration) Value { return setting(c.most) },
		"value_in_use":     func(c configuration) Value { return setting(c.value) },
		"description":      func(c configuration) Value { return str(c.description) },
		"is_dynamic":       func(c configuration) Value { return flag(c.isDynamic) },
		"is_advanced":      func(c configuration) Value { return flag(c.isAdvanced) },
	}
}

// userAccess is 1 for a database that only one session may use.
func userAccess(d *schema.Database) int {
	if d.SingleUser {
		return 1
	}
	return 0
}
