package vet

import (
	"strings"
)

// keyRules are about the columns that identify rows.
var keyRules = []Rule{
	{
		ID:    "T3",
		Title: "Text in a key has its own binary collation",
		Reason: "Under the database's collation 'a' and 'A', or 'ss' and 'ß', may be one id, and which are depends on where " +
			"the scripts run.",
		Bad:      "CREATE TABLE dbo.users (code nvarchar(20) NOT NULL PRIMARY KEY);",
		Good:     "CREATE TABLE dbo.users (code nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY);",
		Optional: true,
		check:    checkCollations,
	},
	{
		ID:    "T5",
		Title: "A key has at most 900 bytes in a clustered index, and 1,700 in any other",
		Reason: "The index is created with no more than a warning, and the INSERT of the first long value fails (or, of a type " +
			"without a limit, the script does).",
		Bad:   "CREATE TABLE dbo.users (code nvarchar(500) NOT NULL PRIMARY KEY);",
		Good:  "CREATE TABLE dbo.users (code nvarchar(450) NOT NULL PRIMARY KEY);",
		check: checkKeyLengths,
	},
}

// checkCollations asks for _BIN2: the older _BIN compares the first character by its code point and the rest by their
// bytes, low byte first, which is no order that anybody wants.
func checkCollations(p *pass) {
	reported := map[string]bool{}
	for _, ix := range p.keys {
		for _, c := range ix.columns {
			column := ix.column(c.Name.Value)
			if column == nil || !isText(column.Type) || strings.HasSuffix(strings.ToUpper(column.Collation), "_BIN2") {
				continue
			}
			// A column may be in several keys; its collation is one.
			key := ix.table.Key() + "." + column.Name
			if !reported[key] {
				reported[key] = true
				p.reportIn(ix.def.File, column.Span, "COLLATE Latin1_General_100_BIN2", "column %s of a key has no binary collation",
					column.Name)
			}
		}
	}
}

// checkKeyLengths adds up the most that each column may take; columns that the index merely includes don't count. The
// limits are those of SQL Server 2016 and later (before it was 900 for both).
func checkKeyLengths(p *pass) {
	for _, ix := range p.keys {
		limit, kind := 1700, "nonclustered"
		if ix.clustered {
			limit, kind = 900, "clustered"
		}
		total := 0
		for _, c := range ix.columns {
			column := ix.column(c.Name.Value)
			if column == nil {
				continue
			}
			n := column.Type.StorageBytes()
			// Nothing is added up any more: the server refuses the index as a whole.
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
