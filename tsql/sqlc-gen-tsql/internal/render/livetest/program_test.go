package livetest_test

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

func sized(kind sqltype.Kind, n int) sqltype.Type { return sqltype.Type{Kind: kind, Length: n} }

func plain(kind sqltype.Kind) sqltype.Type { return sqltype.Type{Kind: kind} }

func decimalOf(precision, scale int) sqltype.Type {
	return sqltype.Type{Kind: sqltype.Decimal, Precision: precision, Scale: scale}
}

func scaled(kind sqltype.Kind) sqltype.Type { return sqltype.Type{Kind: kind, Scale: 6} }

// types are those of the parameters of echo_types, by letter.
var types = map[string]sqltype.Type{
	"a": plain(sqltype.Bit), "b": plain(sqltype.TinyInt), "c": plain(sqltype.SmallInt), "d": plain(sqltype.Int),
	"e": plain(sqltype.BigInt), "f": plain(sqltype.Real), "g": plain(sqltype.Float), "h": decimalOf(38, 10),
	"i": plain(sqltype.Money), "j": plain(sqltype.SmallMoney), "k": sized(sqltype.Char, 5), "l": sized(sqltype.VarChar, 20),
	"m": sized(sqltype.NChar, 5), "n": sized(sqltype.NVarChar, 20), "o": sized(sqltype.NVarChar, sqltype.Max),
	"p": sized(sqltype.Binary, 4), "q": sized(sqltype.VarBinary, 10), "r": plain(sqltype.UniqueIdentifier),
	"s": plain(sqltype.Date), "t": scaled(sqltype.Time), "u": scaled(sqltype.DateTime2), "v": plain(sqltype.DateTime),
	"w": plain(sqltype.SmallDateTime), "x": scaled(sqltype.DateTimeOffset), "y": plain(sqltype.XML),
}

var (
	script = diag.NewFile("schema.sql", "")
	place  = catalog.Place{File: script}
)

func name(n string) catalog.Name { return catalog.Name{Schema: "gen_live", Name: n} }

func params(letters string, p analyze.Param) []analyze.Param {
	var list []analyze.Param
	for l := range strings.SplitSeq(letters, "") {
		p.Name, p.Type = "@"+l, types[l]
		list = append(list, p)
	}
	return list
}

func column(name string, t sqltype.Type, nullable bool) analyze.Column {
	return analyze.Column{Name: name, Type: t, Nullable: nullable}
}

func rowsOf(rows analyze.Cardinality, name string, columns ...analyze.Column) analyze.ResultSet {
	return analyze.ResultSet{Name: name, Rows: rows, Columns: columns, File: script}
}

var itemList = &catalog.Table{
	Place: place, Name: name("item_list"), Type: true, Doc: "An item to be saved.",
	Columns: []catalog.Column{
		{Name: "id", Type: plain(sqltype.BigInt)},
		{Name: "name", Type: sized(sqltype.NVarChar, 50), Doc: "what it is called"},
		{Name: "price", Type: decimalOf(38, 10), Nullable: true},
		{Name: "note", Type: sized(sqltype.NVarChar, sqltype.Max), Nullable: true},
		{Name: "data", Type: sized(sqltype.VarBinary, sqltype.Max), Nullable: true},
		{Name: "code", Type: sized(sqltype.VarChar, 20), Nullable: true},
		{Name: "flag", Type: plain(sqltype.Bit), Nullable: true},
		{Name: "tiny", Type: plain(sqltype.TinyInt), Nullable: true},
		{Name: "small", Type: plain(sqltype.SmallInt), Nullable: true},
		{Name: "whole", Type: plain(sqltype.Int), Nullable: true},
		{Name: "ratio", Type: plain(sqltype.Float), Nullable: true},
		{Name: "narrow", Type: plain(sqltype.Real), Nullable: true},
		{Name: "cash", Type: plain(sqltype.Money), Nullable: true},
		{Name: "guid", Type: plain(sqltype.UniqueIdentifier), Nullable: true},
		{Name: "day", Type: plain(sqltype.Date), Nullable: true},
		{Name: "clock", Type: scaled(sqltype.Time), Nullable: true},
		{Name: "at2", Type: scaled(sqltype.DateTime2), Nullable: true},
		{Name: "at1", Type: plain(sqltype.DateTime), Nullable: true},
		{Name: "ats", Type: plain(sqltype.SmallDateTime), Nullable: true},
		{Name: "ato", Type: scaled(sqltype.DateTimeOffset), Nullable: true},
	},
}

var idList = &catalog.Table{
	Place: place, Name: name("id_list"), Type: true,
	Columns: []catalog.Column{
		{Name: "id", Type: plain(sqltype.BigInt)},
		{Name: "label", Type: sized(sqltype.NVarChar, 20), Nullable: true},
	},
}

// echoIDs is by itself what the driver's own form of a table argument is tried with.
var echoIDs = &analyze.Procedure{
	Place: place, Name: name("echo_ids"),
	Params:  []analyze.Param{{Name: "@ids", Table: idList, Type: sqltype.Type{Kind: sqltype.Table, Name: "gen_live.id_list"}}},
	Results: []analyze.ResultSet{rowsOf(analyze.Many, "", column("id", plain(sqltype.BigInt), false), column("label", sized(sqltype.NVarChar, 20), true))},
}

// eventList is a table as a workflow engine sends it: a key, numbers, a word and a payload.
var eventList = &catalog.Table{
	Place: place, Name: name("event_list"), Type: true,
	Columns: []catalog.Column{
		{Name: "position", Type: plain(sqltype.Int)},
		{Name: "event_id", Type: plain(sqltype.BigInt)},
		{Name: "kind", Type: sized(sqltype.NVarChar, 64)},
		{Name: "payload", Type: sized(sqltype.NVarChar, sqltype.Max)},
		{Name: "lasts_ms", Type: plain(sqltype.BigInt), Nullable: true},
	},
}

// echoEvents is what the forms of a table argument are compared with.
var echoEvents = &analyze.Procedure{
	Place: place, Name: name("echo_events"),
	Params:  []analyze.Param{{Name: "@events", Table: eventList, Type: sqltype.Type{Kind: sqltype.Table, Name: "gen_live.event_list"}}},
	Results: []analyze.ResultSet{rowsOf(analyze.Many, "", column("event_id", plain(sqltype.BigInt), false), column("payload", sized(sqltype.NVarChar, sqltype.Max), false))},
}

// noteAndTake calls two procedures, and sends what the second fails with as a set.
var noteAndTake = &analyze.Procedure{
	Place: place, Name: name("note_and_take"),
	Params: []analyze.Param{
		{Name: "@ids", Table: idList, Type: sqltype.Type{Kind: sqltype.Table, Name: "gen_live.id_list"}},
		{Name: "@fail", Type: plain(sqltype.Int)},
	},
	Results: []analyze.ResultSet{
		rowsOf(analyze.One, "Noted", column("ids", plain(sqltype.Int), false)),
		maybe(rowsOf(analyze.Many, "Taken", column("id", plain(sqltype.BigInt), false))),
		maybe(rowsOf(analyze.One, "Failure", column("error_number", plain(sqltype.Int), false), column("error_message", sized(sqltype.NVarChar, 4000), false))),
	},
	Flow: analyze.Flow{States: []analyze.State{
		{Edges: []analyze.Edge{{Set: 0, To: 1}}},
		{Edges: []analyze.Edge{{Set: 1, To: 2}, {Set: 2, To: 3}}},
		{Edges: []analyze.Edge{{Set: 2, To: 3}}, Final: true},
		{Final: true},
	}},
}

func maybe(r analyze.ResultSet) analyze.ResultSet {
	r.Maybe = true
	return r
}

// repeated is a set of a loop.
func repeated(r analyze.ResultSet) analyze.ResultSet {
	r.Maybe, r.Repeated = true, true
	return r
}

// program is what run/schema.sql and the queries below come to.
func program() *analyze.Program {
	p := &analyze.Program{
		Procedures: procedures(),
		Queries:    queries(),
		TableTypes: []*catalog.Table{eventList, idList, itemList},
		Errors: []analyze.ErrorNumber{
			{Number: 50010, Name: "lock_lost", Text: "the lock is no longer held"},
			{Number: 50011},
		},
	}
	for _, q := range p.Queries {
		for at := 0; ; {
			i := strings.Index(q.Text[at:], "gen_live.")
			if i < 0 {
				break
			}
			at += i
			q.SchemaNames = append(q.SchemaNames, analyze.SchemaName{From: at, To: at + len("gen_live"), Schema: "gen_live"})
			at++
		}
	}
	return p
}

func procedures() []*analyze.Procedure {
	intType := plain(sqltype.Int)
	echo := analyze.ResultSet{Rows: analyze.One, File: script}
	for l := range strings.SplitSeq("abcdefghijklmnopqrstuvwxy", "") {
		echo.Columns = append(echo.Columns, column(l, types[l], true))
	}
	items := rowsOf(analyze.Many, "Items")
	for _, c := range itemList.Columns {
		items.Columns = append(items.Columns, column(c.Name, c.Type, c.Nullable))
	}
	flow := &analyze.Procedure{
		Place: place, Name: name("flow"), Status: true, Errors: []int32{50010},
		Doc: "Returns as many sets as it is asked for.\nIt is here to try what may follow what.",
		Params: []analyze.Param{
			{Name: "@which", Type: intType},
			{Name: "@seen", Type: intType, Output: true},
		},
		Results: []analyze.ResultSet{
			rowsOf(analyze.One, "Choice", column("chosen", intType, false)),
			rowsOf(analyze.Many, "Numbers", column("n", intType, false)),
			rowsOf(analyze.Optional, "Word", column("word", sized(sqltype.NVarChar, 1), false)),
		},
		Flow: analyze.Flow{States: []analyze.State{
			{Edges: []analyze.Edge{{Set: 0, To: 1}}, Final: true},
			{Edges: []analyze.Edge{{Set: 1, To: 2}, {Set: 2, To: 2}}, Final: true},
			{Final: true},
		}},
	}
	for i := range flow.Results {
		flow.Results[i].Maybe = true
	}
	return []*analyze.Procedure{
		{
			Place: place, Name: name("bounce"), Doc: "bounce sends values there and back.",
			Params: append(params("abcdefgijlmnoqrstuvwx", analyze.Param{Output: true}), analyze.Param{Name: "@clear", Type: types["a"]}),
		},
		{Place: place, Name: name("give"), Params: params("abcdefgilmnoqrstuvwx", analyze.Param{Output: true})},
		{
			Place: place, Name: name("smallest"), Params: []analyze.Param{
				{Name: "@h", Type: decimalOf(38, 38), Output: true}, {Name: "@take", Type: decimalOf(38, 38)},
			},
		},
		{
			Place: place, Name: name("bounce_text"), Status: true, Params: append(params("hk", analyze.Param{Output: true}),
				analyze.Param{Name: "@add", Type: types["h"], Optional: true, Nullable: true, Default: "NULL"}),
		},
		{
			Place: place, Name: name("rounds"), Params: []analyze.Param{{Name: "@n", Type: intType}},
			Results: []analyze.ResultSet{
				repeated(rowsOf(analyze.Many, "Numbers", column("n", intType, false))),
				repeated(rowsOf(analyze.One, "Left", column("", intType, true))),
				rowsOf(analyze.Optional, "Word", column("word", sized(sqltype.NVarChar, 1), false)),
			},
			Flow: analyze.Flow{States: []analyze.State{
				{Edges: []analyze.Edge{{Set: 0, To: 1}, {Set: 2, To: 2}}},
				{Edges: []analyze.Edge{{Set: 0, To: 1}, {Set: 1, To: 0}, {Set: 2, To: 2}}},
				{Final: true},
			}},
		},
		{
			Place: place, Name: name("count_to"), Doc: "Counts.",
			Params: []analyze.Param{{Name: "@n", Type: intType}, {Name: "@total", Type: intType, Output: true}},
			Results: []analyze.ResultSet{
				rowsOf(analyze.One, "Head", column("title", sized(sqltype.NVarChar, 4), false)),
				{Name: "Numbers", Stream: true, Columns: []analyze.Column{column("n", intType, false)}, File: script},
			},
		},
		echoEvents, echoIDs,
		{
			Place: place, Name: name("echo_types"), Params: params("abcdefghijklmnopqrstuvwxy", analyze.Param{Nullable: true}),
			Results: []analyze.ResultSet{echo},
		},
		{
			Place: place, Name: name("figures"), Params: []analyze.Param{{Name: "@which", Type: intType}},
			Results: []analyze.ResultSet{
				rowsOf(analyze.One, "", column("", intType, true)),
				rowsOf(analyze.Many, "", column("n", intType, false)),
				rowsOf(analyze.One, "", column("n", decimalOf(12, 2), false), column("", intType, true), column("n", types["e"], false)),
			},
		},
		flow,
		{Place: place, Name: name("nothing")},
		{
			Place: place, Name: name("save_items"), Status: true,
			Params: []analyze.Param{
				{Name: "@items", Table: itemList, Type: sqltype.Type{Kind: sqltype.Table, Name: "gen_live.item_list"}},
				{Name: "@factor", Type: intType, Optional: true, Default: "1"},
				{Name: "@count", Type: intType, Output: true},
			},
			Results: []analyze.ResultSet{items},
		},
	}
}

func queries() []*analyze.Query {
	id := analyze.Param{Name: "@id", Type: plain(sqltype.BigInt)}
	name50 := analyze.Param{Name: "@name", Type: sized(sqltype.NVarChar, 50)}
	price := analyze.Param{Name: "@price", Type: decimalOf(18, 4)}
	at := catalog.Place{File: diag.NewFile("queries/items.sql", "")}
	return []*analyze.Query{
		{
			Place: at, Name: "AddItems", Command: analyze.CommandBatch,
			Text:   "INSERT INTO gen_live.items (id, name, price, note, made_at, data)\nVALUES (@id, @name, @price, @note, @made_at, @data)",
			Params: []analyze.Param{id, name50, price, {Name: "@note", Type: types["o"], Nullable: true}, {Name: "@made_at", Type: sqltype.Type{Kind: sqltype.DateTime2, Scale: 3}}, {Name: "@data", Type: types["q"], Nullable: true}},
		},
		{
			Place: at, Name: "CountItems", Command: analyze.CommandOne, Text: "SELECT COUNT(*) AS n FROM gen_live.items",
			Columns: []analyze.Column{column("n", plain(sqltype.Int), false)},
		},
		{
			Place: at, Name: "CountOf", Command: analyze.CommandOne, Doc: "Counts ids in a table argument.",
			Text:    "SELECT COUNT(*) AS n FROM @ids AS i WHERE i.id > @more_than",
			Params:  []analyze.Param{{Name: "@ids", Table: idList, Type: sqltype.Type{Kind: sqltype.Table, Name: "gen_live.id_list"}}, {Name: "@more_than", Type: plain(sqltype.BigInt)}},
			Columns: []analyze.Column{column("n", plain(sqltype.Int), false)},
		},
		{
			Place: at, Name: "DropItem", Command: analyze.CommandExecRows, Text: "DELETE FROM gen_live.items WHERE id = @id",
			Params: []analyze.Param{id},
		},
		{
			Place: at, Name: "GetItem", Command: analyze.CommandOne,
			Text:   "SELECT id, name, price, note, made_at, data FROM gen_live.items WHERE id = @id",
			Params: []analyze.Param{id},
			Columns: []analyze.Column{
				column("id", plain(sqltype.BigInt), false), column("name", sized(sqltype.NVarChar, 50), false),
				column("price", decimalOf(18, 4), false), column("note", types["o"], true),
				column("made_at", sqltype.Type{Kind: sqltype.DateTime2, Scale: 3}, false), column("data", types["q"], true),
			},
		},
		{
			Place: at, Name: "ListNames", Command: analyze.CommandMany, Text: "SELECT name FROM gen_live.items WHERE id >= @id ORDER BY id",
			Params: []analyze.Param{id}, Columns: []analyze.Column{column("name", sized(sqltype.NVarChar, 50), false)},
		},
		{
			Place: at, Name: "RenameItem", Command: analyze.CommandExec, Text: "UPDATE gen_live.items SET name = @name WHERE id = @id",
			Params: []analyze.Param{name50, id},
		},
	}
}
