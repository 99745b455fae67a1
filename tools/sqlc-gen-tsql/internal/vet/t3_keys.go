package vet

import (
	"regexp"
	"strings"

	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/syntax"
)

// keyRules are about what identifies rows, and about table types.
var keyRules = []Rule{
	{
		ID:    "T3",
		Title: "Text in a key has a binary collation of its own",
		Reason: "Under the database's collation 'a' and 'A', or 'ss' and 'ß', may be one id, and which are depends on where " +
			"the scripts run.",
		Bad:      "CREATE TABLE dbo.users (code nvarchar(20) NOT NULL PRIMARY KEY);",
		Good:     "CREATE TABLE dbo.users (code nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);",
		Optional: true,
		check:    checkCollations,
	},
	{
		ID:    "T5",
		Title: "A key fits: 900 bytes in a clustered index, 1,700 in any other",
		Reason: "The index is created with no more than a warning, and the INSERT of the first long value fails (or, of a type " +
			"without a limit, the script does).",
		Bad:   "CREATE TABLE dbo.users (code nvarchar(500) NOT NULL PRIMARY KEY);",
		Good:  "CREATE TABLE dbo.users (code nvarchar(450) NOT NULL PRIMARY KEY);",
		check: checkKeyLengths,
	},
	{
		ID:       "T6-name",
		Title:    "The name of a table type ends in its version: order_lines_v1",
		Reason:   "A type can't be altered, nor dropped while a procedure uses it; a change is a new type beside the old one.",
		Bad:      "CREATE TYPE dbo.order_lines AS TABLE (id int NOT NULL PRIMARY KEY);",
		Good:     "CREATE TYPE dbo.order_lines_v1 AS TABLE (id int NOT NULL PRIMARY KEY);",
		Optional: true,
		check:    checkTypeNames,
	},
	{
		ID:       "T6-drop",
		Title:    "No type is dropped",
		Reason:   "Procedures of the version before use it while the new one is rolled out.",
		Bad:      "DROP TYPE dbo.order_lines_v1;",
		Good:     "CREATE TYPE dbo.order_lines_v2 AS TABLE (id int NOT NULL PRIMARY KEY);",
		Optional: true,
		check: func(p *pass) {
			for _, u := range p.units {
				for d := range syntax.All[*syntax.Drop](u.node) {
					if d.Kind == "TYPE" {
						p.report(u, d.Span, "leave it, and create the next version", "DROP TYPE")
					}
				}
			}
		},
	},
}

func isText(t sqltype.Type) bool { return isByteText(t) || isUnicode(t) }

func checkCollations(p *pass) {
	reported := map[string]bool{}
	for _, ix := range p.keys {
		for _, c := range ix.columns {
			column := columnOf(ix.def, c.Name.Value)
			if column == nil || !isText(column.Type) || strings.HasSuffix(strings.ToUpper(column.Collation), "_BIN2") {
				continue
			}
			key := ix.table.Key() + "." + column.Name
			if !reported[key] {
				reported[key] = true
				p.reportIn(ix.def.File, column.Span, "COLLATE Latin1_General_100_BIN2", "column %s of a key has no binary collation",
					column.Name)
			}
		}
	}
}

func checkKeyLengths(p *pass) {
	for _, ix := range p.keys {
		limit, kind := 1700, "nonclustered"
		if ix.clustered {
			limit, kind = 900, "clustered"
		}
		total := 0
		for _, c := range ix.columns {
			column := columnOf(ix.def, c.Name.Value)
			if column == nil {
				continue
			}
			n := bytesOf(column.Type)
			if n < 0 {
				p.report(ix.u, c.Span, "a length, or a hash of it in the key", "column %s has no limit and can't be in a key", column.Name)
				total = 0
				break
			}
			total += n
		}
		if total > limit {
			p.report(ix.u, ix.at, "shorten the columns, or put a hash into the key",
				"this key takes up to %d bytes; a %s index takes %d", total, kind, limit)
		}
	}
}

// fixedBytes are the sizes of the types that have one.
var fixedBytes = map[sqltype.Kind]int{
	sqltype.Bit: 1, sqltype.TinyInt: 1, sqltype.SmallInt: 2, sqltype.Int: 4, sqltype.BigInt: 8, sqltype.SmallMoney: 4,
	sqltype.Money: 8, sqltype.Real: 4, sqltype.Float: 8, sqltype.Date: 3, sqltype.SmallDateTime: 4, sqltype.DateTime: 8,
	sqltype.UniqueIdentifier: 16, sqltype.RowVersion: 8,
}

// bytesOf returns how many bytes a value takes at most in a key, -1 if there is no limit and 0 if it isn't known.
func bytesOf(t sqltype.Type) int {
	switch t.Kind {
	case sqltype.Char, sqltype.VarChar, sqltype.Binary, sqltype.VarBinary:
		return t.Length // -1 for (max)
	case sqltype.NChar, sqltype.NVarChar:
		if t.Length == sqltype.Max {
			return -1
		}
		return 2 * t.Length
	case sqltype.Decimal:
		return decimalBytes(t.Precision)
	case sqltype.Time, sqltype.DateTime2, sqltype.DateTimeOffset:
		return timeBytes(t)
	case sqltype.Text, sqltype.NText, sqltype.Image, sqltype.XML:
		return -1
	default:
		return fixedBytes[t.Kind]
	}
}

func decimalBytes(precision int) int {
	switch {
	case precision <= 9:
		return 5
	case precision <= 19:
		return 9
	case precision <= 28:
		return 13
	default:
		return 17
	}
}

func timeBytes(t sqltype.Type) int {
	n := 5
	switch {
	case t.Scale <= 2:
		n = 3
	case t.Scale <= 4:
		n = 4
	}
	switch t.Kind {
	case sqltype.DateTime2:
		return n + 3
	case sqltype.DateTimeOffset:
		return n + 5
	default:
		return n
	}
}

var versioned = regexp.MustCompile(`_v\d+$`)

func checkTypeNames(p *pass) {
	for _, u := range p.units {
		for t := range syntax.All[*syntax.CreateType](u.node) {
			if name := last(t.Name); t.Table != nil && !versioned.MatchString(name.Value) {
				p.report(u, name.Span, "call it "+name.Value+"_v1", "table type %s has no version", name.Value)
			}
		}
	}
}
