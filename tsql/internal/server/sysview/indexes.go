package sysview

import (
	"strconv"

	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// index is a row of sys.indexes.
type index struct {
	*schema.Index
	table   *schema.Table
	mayRead bool
}

// listIndexes lists the indexes of the visible tables.
func listIndexes(c *Context) ([]index, error) {
	var list []index
	objects, err := listObjects("U", "TT")(c)
	for _, o := range objects {
		mayRead := c.seesDefinition(o.Object)
		for _, ix := range o.table().Indexes {
			list = append(list, index{ix, o.table(), mayRead})
		}
	}
	return list, err
}

// indexKind is the type of an index as number and word.
func indexKind(ix *schema.Index) (int, string) {
	switch {
	case ix.Clustered:
		return 1, "CLUSTERED"
	case ix.ID == 0:
		return 0, "HEAP"
	default:
		return 2, "NONCLUSTERED"
	}
}

const indexColumns = `
	object_id int, name sysname?, index_id int, type tinyint, type_desc nvarchar(60)?, is_unique bit?
	data_space_id int? = 1, ignore_dup_key bit?, is_primary_key bit?, is_unique_constraint bit?, fill_factor tinyint
	is_padded bit?, is_disabled bit?, is_hypothetical bit? = 0, is_ignored_in_optimization bit? = 0, allow_row_locks bit?
	allow_page_locks bit?, has_filter bit?, filter_definition nvarchar(max)?, compression_delay int? = NULL
	suppress_dup_key_messages bit? = 0, auto_created bit? = 0, optimize_for_sequential_key bit?`

var indexRow = getters[index]{
	"object_id":            func(i index) Value { return number(i.table.ID) },
	"name":                 func(i index) Value { return orNull(i.Name) },
	"index_id":             func(i index) Value { return number(i.ID) },
	"type":                 func(i index) Value { n, _ := indexKind(i.Index); return number(n) },
	"type_desc":            func(i index) Value { _, word := indexKind(i.Index); return str(word) },
	"is_unique":            func(i index) Value { return flag(i.Unique) },
	"ignore_dup_key":       func(i index) Value { return flag(i.IgnoreDup) },
	"is_primary_key":       func(i index) Value { return flag(i.Key != nil && i.Key.Primary) },
	"is_unique_constraint": func(i index) Value { return flag(i.Key != nil && !i.Key.Primary) },
	"fill_factor": func(i index) Value {
		n, err := strconv.Atoi(option(i.Options, "FILLFACTOR"))
		if err != nil {
			n = 0
		}
		return number(n)
	},
	"is_padded":        func(i index) Value { return flag(isOn(i.Options, "PAD_INDEX")) },
	"is_disabled":      func(i index) Value { return flag(i.Disabled) },
	"allow_row_locks":  func(i index) Value { return flag(i.RowLocks) },
	"allow_page_locks": func(i index) Value { return flag(i.PageLocks) },
	"has_filter":       func(i index) Value { return flag(i.Where != nil) },
	"filter_definition": func(i index) Value {
		if i.Where == nil || !i.mayRead {
			return Value{}
		}
		return str(FilterDefinition(i.Where))
	},
	"optimize_for_sequential_key": func(i index) Value { return flag(isOn(i.Options, "OPTIMIZE_FOR_SEQUENTIAL_KEY")) },
}

// indexColumn is a row of sys.index_columns.
type indexColumn struct {
	index
	id       int // counts from 1
	ordinal  int // of the column
	key      int // place in the key, from 1; 0 for an included column
	desc     bool
	included bool
}

func listIndexColumns(c *Context) ([]indexColumn, error) {
	var list []indexColumn
	indexes, err := listIndexes(c)
	for _, ix := range indexes {
		if ix.ID == 0 {
			continue // a heap has no key
		}
		for k, column := range ix.Columns {
			list = append(list, indexColumn{index: ix, id: k + 1, ordinal: column.Ordinal, key: k + 1, desc: column.Desc})
		}
		for k, ordinal := range ix.Include {
			list = append(list, indexColumn{index: ix, id: len(ix.Columns) + k + 1, ordinal: ordinal, included: true})
		}
	}
	return list, err
}

// columnID is the id of the column in a place of the row.
func columnID(t *schema.Table, ordinal int) int32 {
	for _, c := range t.Columns {
		if c.Ordinal == ordinal {
			return c.ID
		}
	}
	return 0
}

var indexColumnRow = getters[indexColumn]{
	"object_id":          func(i indexColumn) Value { return number(i.table.ID) },
	"index_id":           func(i indexColumn) Value { return number(i.ID) },
	"index_column_id":    func(i indexColumn) Value { return number(i.id) },
	"column_id":          func(i indexColumn) Value { return number(columnID(i.table, i.ordinal)) },
	"key_ordinal":        func(i indexColumn) Value { return number(i.key) },
	"is_descending_key":  func(i indexColumn) Value { return flag(i.desc) },
	"is_included_column": func(i indexColumn) Value { return flag(i.included) },
	// Of sys.stats_columns.
	"stats_id":        func(i indexColumn) Value { return number(i.ID) },
	"stats_column_id": func(i indexColumn) Value { return number(i.id) },
}

// rowsOf counts the rows of an index, uncommitted changes included: a filtered one has only those that it holds.
func rowsOf(i index) int {
	if i.Data == nil {
		return 0
	}
	return i.Data.Rows()
}

var partitionRow = getters[index]{
	"partition_id": func(i index) Value { return number(HoBT(i.table.ID, i.ID)) },
	"object_id":    func(i index) Value { return number(i.table.ID) },
	"index_id":     func(i index) Value { return number(i.ID) },
	"hobt_id":      func(i index) Value { return number(HoBT(i.table.ID, i.ID)) },
	"rows":         func(i index) Value { return number(rowsOf(i)) },
	"row_count":    func(i index) Value { return number(rowsOf(i)) },
	"data_compression": func(i index) Value {
		return number(map[string]int{"ROW": 1, "PAGE": 2}[option(i.Options, "DATA_COMPRESSION")])
	},
	"data_compression_desc": func(i index) Value {
		if how := option(i.Options, "DATA_COMPRESSION"); how != "" {
			return str(how)
		}
		return str("NONE")
	},
	// The server has no pages. What asks for their number wants to know whether there is much; one holds many rows.
	"pages": func(i index) Value { return number(1 + rowsOf(i)/rowsPerPage) },
}

// rowsPerPage stands for the rows that fit on a page of 8 KB.
const rowsPerPage = 100

// pagesAs names the count of pages.
func pagesAs(columns ...string) getters[index] {
	out := getters[index]{}
	for _, c := range columns {
		out[c] = partitionRow["pages"]
	}
	return out
}

// listStats lists the statistics, of which each index has one.
func listStats(c *Context) ([]index, error) {
	indexes, err := listIndexes(c)
	var list []index
	for _, ix := range indexes {
		if ix.ID != 0 {
			list = append(list, ix)
		}
	}
	return list, err
}

func indexViews() []*View {
	return []*View{
		relation("sys.indexes", indexColumns, listIndexes, indexRow),
		relation("sys.index_columns", `
			object_id int, index_id int, index_column_id int, column_id int, key_ordinal tinyint
			partition_ordinal tinyint = 0, is_descending_key bit?, is_included_column bit?
			column_store_order_ordinal tinyint = 0`, listIndexColumns, indexColumnRow),
		relation("sys.stats", `
			object_id int, name nvarchar(128)?, stats_id int, auto_created bit? = 0, user_created bit? = 0
			no_recompute bit?, has_filter bit?, filter_definition nvarchar(max)?, is_temporary bit? = 0
			is_incremental bit? = 0, has_persisted_sample bit? = 0, stats_generation_method int = 0
			stats_generation_method_desc varchar(80) = 'Sort based statistics', auto_drop bit? = 0`,
			listStats, indexRow, getters[index]{
				"stats_id":     indexRow["index_id"],
				"no_recompute": func(i index) Value { return flag(option(i.Options, "STATISTICS_NORECOMPUTE") == "ON") },
			}),
		relation("sys.stats_columns", "object_id int, stats_id int, stats_column_id int?, column_id int?",
			listIndexColumns, indexColumnRow),
		relation("sys.partitions", `
			partition_id bigint, object_id int, index_id int, partition_number int = 1, hobt_id bigint, rows bigint?
			filestream_filegroup_id smallint = 0, data_compression tinyint, data_compression_desc nvarchar(60)?
			xml_compression bit? = 0, xml_compression_desc varchar(3)? = 'OFF'`, listIndexes, partitionRow),
		relation("sys.allocation_units", `
			allocation_unit_id bigint, type tinyint = 1, type_desc nvarchar(60)? = 'IN_ROW_DATA', container_id bigint
			data_space_id int? = 1, total_pages bigint, used_pages bigint, data_pages bigint`, listIndexes,
			getters[index]{"allocation_unit_id": partitionRow["hobt_id"], "container_id": partitionRow["hobt_id"]},
			pagesAs("total_pages", "used_pages", "data_pages")),
		relation("sys.dm_db_partition_stats", `
			partition_id bigint?, object_id int, index_id int, partition_number int = 1, in_row_data_page_count bigint?
			in_row_used_page_count bigint?, in_row_reserved_page_count bigint?, lob_used_page_count bigint? = 0
			lob_reserved_page_count bigint? = 0, row_overflow_used_page_count bigint? = 0
			row_overflow_reserved_page_count bigint? = 0, used_page_count bigint?, reserved_page_count bigint?
			row_count bigint?`, requires("VIEW DATABASE STATE", listIndexes), partitionRow,
			pagesAs("in_row_data_page_count", "in_row_used_page_count", "in_row_reserved_page_count", "used_page_count", "reserved_page_count")),
	}
}
