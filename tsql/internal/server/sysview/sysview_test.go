package sysview

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// What the generator knows of a view is what the server has: names, types and nullability.
func TestTheFrontEndKnowsTheSameColumns(t *testing.T) {
	t.Parallel()
	var c catalog.Catalog
	for key, v := range registry().views {
		schemaName, name, _ := strings.Cut(key, ".")
		known := c.Table(catalog.Name{Schema: schemaName, Name: name})
		if known == nil {
			continue
		}
		have := map[string]Column{}
		for _, column := range v.Columns(nil) {
			have[fold(column.Name)] = column
		}
		for _, want := range known.Columns {
			got, ok := have[fold(want.Name)]
			if !ok || got.Type.Type != want.Type || got.Nullable != want.Nullable {
				t.Errorf("%s.%s is %s null=%t here and %s null=%t there", key, want.Name, got.Type.Type, got.Nullable, want.Type, want.Nullable)
			}
		}
	}
	for view := range strings.FieldsSeq("objects tables views procedures columns types schemas indexes sysobjects syscolumns databases") {
		if Lookup("SYS", view) == nil {
			t.Errorf("sys.%s is missing", view)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema, name string
		want         bool
	}{
		{"sys", "Tables", true},
		{"INFORMATION_SCHEMA", "columns", true},
		{"dbo", "sysobjects", true},
		{"", "sysprocesses", true},
		{"", "tables", false},
		{"dbo", "tables", false},
		{"sys", "nothing", false},
	} {
		if got := Lookup(c.schema, c.name) != nil; got != c.want {
			t.Errorf("%s.%s: %t", c.schema, c.name, got)
		}
	}
	if LookupFunction("", "fn_my_permissions") == nil || LookupFunction("sys", "dm_exec_sql_text") == nil || LookupFunction("", "dm_exec_sql_text") != nil {
		t.Error("functions are found where they aren't, or the other way round")
	}
}

// shop is a database with one object of each kind.
type shop struct {
	server *schema.Server
	db     *schema.Database
	clerk  *schema.Principal
}

func kind(t sqltype.Type) value.Type { return value.Type{Type: t} }

var (
	intType  = kind(sqltype.Type{Kind: sqltype.Int})
	nameType = kind(sqltype.Type{Kind: sqltype.NVarChar, Length: 50})
	sumType  = kind(sqltype.Type{Kind: sqltype.Decimal, Precision: 10, Scale: 2})
)

func newShop(t *testing.T) *shop {
	t.Helper()
	collation, _ := value.CollationByName("SQL_Latin1_General_CP1_CI_AS")
	server := schema.NewServer(collation, "shop", value.Value{})
	s := &shop{server: server, db: server.Database("shop")}
	s.db.ReadCommittedSnapshot = true
	dbo := s.db.Schema("dbo")
	header := func(id int32, kind, name string, parent int32) schema.Header {
		return schema.Header{ID: id, Name: name, Schema: dbo, Kind: kind, Parent: parent}
	}
	orders := &schema.Table{Header: header(100, "U", "orders", 0), Options: map[string]string{}}
	last := int64(7)
	orders.Identity = &schema.Identity{Seed: 1, Increment: 1, Next: 8, Last: &last}
	orders.Columns = []*schema.Column{
		{ID: 1, Ordinal: 0, Name: "id", Type: intType, Identity: true},
		{ID: 2, Ordinal: 1, Name: "customer", Type: nameType},
		{ID: 4, Ordinal: 2, Name: "total", Type: sumType, Nullable: true},
		{ID: 5, Ordinal: 3, Name: "twice", Type: sumType, Nullable: true, Computed: expression(t, "total * 2")},
	}
	pk := &schema.Key{Header: header(101, "PK", "pk_orders", 100), Primary: true}
	pk.Index = &schema.Index{
		ID: 1, Name: "pk_orders", Table: orders, Unique: true, Clustered: true, Key: pk, RowLocks: true,
		Columns: []schema.IndexColumn{{Ordinal: 0}},
	}
	due := &schema.Index{
		ID: 2, Name: "ix_due", Table: orders, RowLocks: true, PageLocks: true, Where: expression(t, "total IS NOT NULL"),
		Columns: []schema.IndexColumn{{Ordinal: 2, Desc: true}}, Include: []int{1},
	}
	def := &schema.Default{Header: header(102, "D", "df_total", 100), Column: 2, Expr: expression(t, "0")}
	check := &schema.Check{Header: header(103, "C", "ck_total", 100), Column: 2, Expr: expression(t, "total >= 0")}
	orders.Columns[2].Default = def
	orders.Indexes, orders.Keys = []*schema.Index{pk.Index, due}, []*schema.Key{pk}
	orders.Defaults, orders.Checks = []*schema.Default{def}, []*schema.Check{check}
	parent := &schema.ForeignKey{
		Header: header(104, "F", "fk_self", 100), Columns: []int{0}, References: orders, Referenced: []int{0}, Key: pk.Index,
		OnDelete: "CASCADE", OnUpdate: "NO ACTION",
	}
	for _, o := range []schema.Object{orders, pk, def, check, parent} {
		s.db.Add(o)
	}
	s.addModule(t, header(110, "P", "total_of", 0), "CREATE PROCEDURE dbo.total_of @id int, @total decimal(10, 2) OUTPUT WITH EXECUTE AS OWNER AS SELECT @total = o.total FROM dbo.orders AS o")
	s.addModule(t, header(111, "V", "open_orders", 0), "CREATE VIEW dbo.open_orders AS SELECT o.id FROM dbo.orders AS o")
	s.addModule(t, header(112, "FN", "half", 0), "CREATE FUNCTION dbo.half(@n int) RETURNS decimal(10, 2) AS BEGIN RETURN @n / 2.0 END")
	s.addModule(t, header(113, "TR", "tr_orders", 100), "CREATE TRIGGER dbo.tr_orders ON dbo.orders AFTER INSERT, UPDATE AS RETURN")
	s.db.Add(&schema.Sequence{Header: header(114, "SO", "numbers", 0), Type: intType, Start: 10, Increment: 5, Min: 1, Max: 99, Next: 20, Used: true})
	s.db.Add(&schema.Synonym{Header: header(115, "SN", "alias", 0), For: []string{"dbo", "orders"}})
	s.db.AddType(&schema.UserType{ID: 257, Name: "money2", Schema: dbo, Type: sumType, Nullable: true})
	s.db.AddType(&schema.UserType{ID: 258, Name: "ids", Schema: dbo, Table: &schema.Table{
		Header: header(120, "TT", "TT_ids_1", 0), Columns: []*schema.Column{{ID: 1, Name: "id", Type: intType}},
	}})
	login := server.AddLogin("clerk", "")
	s.clerk = &schema.Principal{ID: 5, Name: "clerk", Login: login, DefaultSchema: "dbo", MemberOf: map[*schema.Principal]bool{}}
	s.db.AddPrincipal(s.clerk)
	s.grant("EXECUTE", 110)
	return s
}

func (s *shop) grant(permission string, object int32) {
	s.db.Permissions = append(s.db.Permissions, &schema.Permission{
		Class: "OBJECT", Major: object, Permission: permission, Grantee: s.clerk, Grantor: s.db.Dbo(),
	})
}

func (s *shop) addModule(t *testing.T, h schema.Header, text string) {
	t.Helper()
	script, found := syntax.Parse(diag.NewFile("m.sql", text))
	if len(found) > 0 {
		t.Fatal(found.Format())
	}
	s.db.Add(&schema.Module{
		Header: h, Text: text, Stmt: script.Batches[0].Stmts[0], QuotedIdentifier: true, AnsiNulls: true,
		AsOwner: strings.Contains(text, "EXECUTE AS OWNER"),
	})
}

// asOwner and asClerk are those who ask.
func (s *shop) asOwner() *Context {
	return &Context{Server: s.server, Database: s.db, User: s.db.Dbo(), Now: now, Activity: activity{s}, Describer: describer{}}
}

func (s *shop) asClerk() *Context {
	c := s.asOwner()
	c.User, c.Login = s.clerk, s.clerk.Login
	return c
}

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// activity is a server in which session 52 waits for session 51.
type activity struct{ *shop }

func (activity) Self() int { return 52 }

func (a activity) Sessions() []*Session { return []*Session{a.Session(51), a.Session(52)} }

func (a activity) Session(id int) *Session {
	s := &Session{ID: id, Login: a.server.Login("sa"), Original: a.server.Login("sa"), Database: a.db, Isolation: 2, LockTimeout: -1, OpenTransactions: 1, LastText: "SELECT 1"}
	switch id {
	case 51:
		return s
	case 52:
		s.Login = a.clerk.Login
		s.Request = &Request{Command: "UPDATE", Text: "UPDATE dbo.orders", Wait: &Wait{
			Type: "LCK_M_U", Since: now.Add(-time.Second), Resource: "KEY: 5:1 (a)", BlockedBy: 51,
		}}
		return s
	}
	return nil
}

func (a activity) Locks() []*Lock {
	return []*Lock{
		{Session: 51, Type: "KEY", Database: a.db, Description: "(a)", Entity: HoBT(100, 1), Mode: "X", Status: "GRANT", Owner: "TRANSACTION"},
		{Session: 52, Type: "KEY", Database: a.db, Description: "(a)", Entity: HoBT(100, 1), Mode: "U", Status: "WAIT", Owner: "TRANSACTION"},
	}
}

func (a activity) Transactions() []*Transaction {
	return []*Transaction{{ID: 1, Session: 51, Database: a.db, Began: now}, {ID: 2, Session: 52, Implicit: true}}
}

// describer knows one view and two batches.
type describer struct{}

func (describer) Columns(*schema.Module) ([]ResultColumn, error) {
	return []ResultColumn{{Name: "id", Type: intType}}, nil
}

func (describer) FirstResultSet(batch, _ string) ([]ResultColumn, error) {
	if strings.Contains(batch, "missing") {
		return nil, &fault.Error{Number: 208, Class: 16, State: 1, Message: "Invalid object name 'missing'."}
	}
	return []ResultColumn{{Name: "n", Type: nameType, Nullable: true, Computed: true}}, nil
}

func (describer) FirstResultSetOf(*schema.Module) ([]ResultColumn, error) { return nil, nil }

// show prints some columns of rows, a row a line.
func show(names string, columns []Column, rows [][]Value) string {
	var lines []string
	for _, row := range rows {
		var cells []string
		for name := range strings.FieldsSeq(names) {
			for i, c := range columns {
				if c.Name == name {
					cells = append(cells, cell(row[i]))
				}
			}
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return strings.Join(lines, "\n")
}

func cell(v Value) string {
	if v.IsNull() {
		return "NULL"
	}
	if v.Kind() == value.Variant {
		v, _ = v.Variant()
	}
	return strings.TrimRight(v.String(), " ")
}

var viewCases = []struct {
	view, columns, want string
}{
	{"sys.objects", "name object_id type parent_object_id", "orders|100|U|0\npk_orders|101|PK|100\ndf_total|102|D|100\nck_total|103|C|100\n" +
		"fk_self|104|F|100\ntotal_of|110|P|0\nopen_orders|111|V|0\nhalf|112|FN|0\ntr_orders|113|TR|100\nnumbers|114|SO|0\nalias|115|SN|0\nTT_ids_1|120|TT|0"},
	{"sys.tables", "name max_column_id_used lock_escalation_desc", "orders|5|TABLE"},
	{"sys.views", "name with_check_option", "open_orders|0"},
	{"sys.procedures", "name", "total_of"},
	{
		"sys.columns", "object_id name column_id system_type_id max_length precision scale is_nullable is_identity is_computed default_object_id",
		"100|id|1|56|4|10|0|0|1|0|0\n100|customer|2|231|100|0|0|0|0|0|0\n100|total|4|106|9|10|2|1|0|0|102\n100|twice|5|106|9|10|2|1|0|1|0\n" +
			"111|id|1|56|4|10|0|0|0|0|0\n120|id|1|56|4|10|0|0|0|0|0",
	},
	{"sys.computed_columns", "name definition is_persisted", "twice|([total]*(2))|0"},
	{"sys.identity_columns", "name last_value", "id|7"},
	{
		"sys.indexes", "name index_id type_desc is_unique is_primary_key allow_page_locks has_filter filter_definition",
		"pk_orders|1|CLUSTERED|1|1|0|0|NULL\nix_due|2|NONCLUSTERED|0|0|1|1|([total] IS NOT NULL)",
	},
	{"sys.index_columns", "index_id index_column_id column_id key_ordinal is_descending_key is_included_column", "1|1|1|1|0|0\n2|1|4|1|1|0\n2|2|2|0|0|1"},
	{"sys.key_constraints", "name type unique_index_id", "pk_orders|PK|1"},
	{"sys.check_constraints", "name parent_column_id definition", "ck_total|4|([total]>=(0))"},
	{"sys.default_constraints", "name parent_column_id definition", "df_total|4|((0))"},
	{"sys.foreign_keys", "name referenced_object_id key_index_id delete_referential_action_desc", "fk_self|100|1|CASCADE"},
	{"sys.foreign_key_columns", "constraint_object_id parent_column_id referenced_column_id", "104|1|1"},
	{"sys.parameters", "object_id name parameter_id system_type_id is_output", "110|@id|1|56|0\n110|@total|2|106|1\n112||0|106|1\n112|@n|1|56|0"},
	{"sys.sql_modules", "object_id uses_ansi_nulls execute_as_principal_id", "110|1|-2\n111|1|NULL\n112|1|NULL\n113|1|NULL"},
	{"sys.triggers", "name parent_id is_disabled", "tr_orders|100|0"},
	{"sys.trigger_events", "type type_desc", "1|INSERT\n2|UPDATE"},
	{"sys.sql_expression_dependencies", "referencing_id referenced_entity_name referenced_id", "110|orders|100\n111|orders|100"},
	{"sys.sequences", "name current_value", "numbers|15"},
	{"sys.synonyms", "name base_object_name", "alias|[dbo].[orders]"},
	{"sys.table_types", "name user_type_id type_table_object_id", "ids|258|120"},
	{"sys.dm_exec_requests", "session_id blocking_session_id wait_type wait_time", "52|51|LCK_M_U|1000"},
	{"sys.sysprocesses", "spid blocked", "51|0\n52|51"},
	{"sys.dm_tran_locks", "request_session_id request_mode request_status", "51|X|GRANT\n52|U|WAIT"},
	{"sys.dm_tran_session_transactions", "session_id transaction_id", "51|1"},
	{"sys.dm_os_waiting_tasks", "session_id blocking_session_id", "52|51"},
	{"INFORMATION_SCHEMA.TABLES", "TABLE_CATALOG TABLE_SCHEMA TABLE_NAME TABLE_TYPE", "shop|dbo|orders|BASE TABLE\nshop|dbo|open_orders|VIEW"},
	{
		"INFORMATION_SCHEMA.COLUMNS", "TABLE_NAME COLUMN_NAME COLUMN_DEFAULT IS_NULLABLE DATA_TYPE CHARACTER_MAXIMUM_LENGTH NUMERIC_PRECISION NUMERIC_SCALE",
		"orders|id|NULL|NO|int|NULL|10|0\norders|customer|NULL|NO|nvarchar|50|NULL|NULL\norders|total|((0))|YES|decimal|NULL|10|2\n" +
			"orders|twice|NULL|YES|decimal|NULL|10|2\nopen_orders|id|NULL|NO|int|NULL|10|0",
	},
	{"INFORMATION_SCHEMA.ROUTINES", "ROUTINE_NAME ROUTINE_TYPE DATA_TYPE", "total_of|PROCEDURE|NULL\nhalf|FUNCTION|decimal"},
	{"INFORMATION_SCHEMA.PARAMETERS", "SPECIFIC_NAME PARAMETER_NAME PARAMETER_MODE DATA_TYPE", "total_of|@id|IN|int\ntotal_of|@total|INOUT|decimal\nhalf||OUT|decimal\nhalf|@n|IN|int"},
	{"INFORMATION_SCHEMA.KEY_COLUMN_USAGE", "CONSTRAINT_NAME TABLE_NAME COLUMN_NAME ORDINAL_POSITION", "pk_orders|orders|id|1\nfk_self|orders|id|1"},
	{"INFORMATION_SCHEMA.TABLE_CONSTRAINTS", "CONSTRAINT_NAME CONSTRAINT_TYPE", "pk_orders|PRIMARY KEY\nck_total|CHECK\nfk_self|FOREIGN KEY"},
	{"INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS", "UNIQUE_CONSTRAINT_NAME DELETE_RULE", "pk_orders|CASCADE"},
}

func TestViews(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, c := range viewCases {
		t.Run(c.view, func(t *testing.T) {
			t.Parallel()
			schemaName, name, _ := strings.Cut(c.view, ".")
			v := Lookup(schemaName, name)
			if v == nil {
				t.Fatal("is missing")
			}
			rows, err := v.Rows(s.asOwner(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(c.columns, v.Columns(s.db), rows); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Every view gives rows of its width to everybody, or refuses.
func TestEveryViewAnswersEverybody(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	unknown := []string{ // although the view says that they are not NULL
		"create_date", "modify_date", "crdate", "refdate", "CREATED", "LAST_ALTERED", "start_time", "last_batch", "lock_owner_address",
	}
	for key, v := range registry().views {
		for who, c := range map[string]*Context{"owner": s.asOwner(), "clerk": s.asClerk(), "no activity": {Server: s.server, Database: s.db}} {
			rows, err := v.Rows(c, nil)
			if err != nil && who != "clerk" {
				t.Errorf("%s refuses %s: %v", key, who, err)
			}
			for _, row := range rows {
				if len(row) != len(v.Columns(s.db)) {
					t.Fatalf("%s has a row of %d values", key, len(row))
				}
				for i, c := range v.Columns(s.db) {
					if row[i].IsNull() && !c.Nullable && !slices.Contains(unknown, c.Name) && !strings.HasSuffix(c.Name, "_time") {
						t.Errorf("%s.%s is NULL for %s", key, c.Name, who)
					}
				}
			}
		}
	}
}

// Who has no permission on an object doesn't find it, and who may execute a procedure can't read its text.
func TestVisibility(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, c := range []struct{ view, columns, want string }{
		{"objects", "name", "total_of"},
		{"sql_modules", "object_id definition", "110|NULL"},
		{"columns", "name", ""},
		{"database_permissions", "permission_name major_id", "CONNECT|0\nEXECUTE|110"},
		{"sysprocesses", "spid", "52"},
		{"dm_exec_sessions", "session_id", "52"},
	} {
		v := Lookup("sys", c.view)
		rows, err := v.Rows(s.asClerk(), nil)
		if got := show(c.columns, v.Columns(s.db), rows); err != nil || got != c.want {
			t.Errorf("sys.%s: got %q, %v; want %q", c.view, got, err, c.want)
		}
	}
	s.grant("SELECT", 100)
	v := Lookup("sys", "default_constraints")
	rows, err := v.Rows(s.asClerk(), nil)
	if got := show("name definition", v.Columns(s.db), rows); err != nil || got != "df_total|NULL" {
		t.Errorf("a default of a readable table: %q, %v", got, err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := Lookup("sys", "dm_exec_sessions")
	for id, want := range map[int64]string{51: "51|2", 52: "52|2", 99: ""} {
		rows, err := v.Find(s.asOwner(), v.Keys()[0], value.OfInt(id), nil)
		if got := show("session_id transaction_isolation_level", v.Columns(s.db), rows); err != nil || got != want {
			t.Errorf("session %d: %q, %v", id, got, err)
		}
	}
	if rows, err := v.Find(s.asClerk(), v.Keys()[0], value.OfInt(51), nil); err != nil || len(rows) != 0 {
		t.Errorf("somebody else's session: %v, %v", rows, err)
	}
	if rows, err := v.Find(s.asOwner(), v.Keys()[0], Value{}, nil); err != nil || len(rows) != 0 {
		t.Errorf("NULL: %v, %v", rows, err)
	}
}

// By each key of each view, Find finds the rows that have the value, in the order of Rows.
func TestFindFindsWhatRowsHas(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	found := 0
	for name, v := range registry().views {
		all, err := v.Rows(s.asOwner(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range v.Keys() {
			groups := map[int64][][]Value{math.MaxInt32: nil}
			for _, row := range all {
				groups[row[key].Int()] = append(groups[row[key].Int()], row)
			}
			for id, want := range groups {
				got, err := v.Find(s.asOwner(), key, value.OfInt(id), nil)
				columns := v.Columns(s.db)
				var names []string
				for _, c := range columns {
					names = append(names, c.Name)
				}
				if names := strings.Join(names, " "); err != nil || show(names, columns, got) != show(names, columns, want) {
					t.Errorf("%s with %s = %d: %v, %v, want %v", name, columns[key].Name, id, got, err, want)
				}
				found += len(got)
			}
		}
	}
	if found < 100 {
		t.Errorf("%d rows were found", found)
	}
}

func TestOnlyWantedColumnsAreFilled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := Lookup("sys", "tables")
	wanted := make([]bool, len(v.Columns(s.db)))
	wanted[0] = true
	rows, err := v.Rows(s.asOwner(), wanted)
	if got := show("name object_id is_replicated", v.Columns(s.db), rows); err != nil || got != "orders|NULL|NULL" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	f := LookupFunction("sys", "dm_exec_describe_first_result_set")
	for batch, want := range map[string]string{
		"SELECT n":            "1|n|nvarchar(50)|1|NULL",
		"SELECT FROM missing": "0|NULL|NULL|0|208",
	} {
		rows, err := f.Rows(s.asOwner(), []Value{value.OfString(batch)})
		if got := show("column_ordinal name system_type_name is_nullable error_number", f.Columns(s.db), rows); err != nil || got != want {
			t.Errorf("%s: %q, %v", batch, got, err)
		}
	}
	columns, rows := DescribeFirstResultSet(s.db, []ResultColumn{{Name: "id", Type: intType, Identity: true}})
	if got := show("name system_type_name is_identity_column tds_type_id", columns, rows); got != "id|int|1|38" {
		t.Errorf("for clients: %q", got)
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	f := LookupFunction("", "fn_my_permissions")
	rows, err := f.Rows(s.asClerk(), []Value{value.OfString("[dbo].total_of"), value.OfString("object")})
	if got := show("entity_name permission_name", f.Columns(s.db), rows); err != nil || got != "[dbo].total_of|EXECUTE" {
		t.Errorf("%q, %v", got, err)
	}
	f = LookupFunction("sys", "dm_exec_sql_text")
	for id, want := range map[int]string{51: "SELECT 1", 52: "UPDATE dbo.orders", 99: ""} {
		rows, err := f.Rows(s.asOwner(), []Value{handle(id)})
		if got := show("text", f.Columns(s.db), rows); err != nil || got != want {
			t.Errorf("the text of session %d: %q, %v", id, got, err)
		}
	}
}

func TestServerStateIsForAdministrators(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, err := Lookup("sys", "dm_tran_locks").Rows(s.asClerk(), nil)
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Number != 300 {
		t.Errorf("got %v", err)
	}
}
