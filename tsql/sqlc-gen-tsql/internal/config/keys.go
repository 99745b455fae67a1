package config

import (
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/model"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

// A field is one key of the configuration: what is stored under it and what it is good for. The table is the only
// place that knows a key; help, README and suggestions all read it.
type field struct {
	key  string
	read func(*reader, *yaml.Node, *Config)
	doc  string
}

// fields are the keys in the order in which they are documented: what must be set, then scripts, then style.
var fields = []field{
	{"package", text(func(c *Config) *string { return &c.Model.Package }, packageProblem), "name of the Go package; must be set"},
	{
		"out", text(func(c *Config) *string { return &c.Out }, folderProblem),
		"folder for the Go files; must be set, except as a plugin: sqlc has its own key out",
	},
	{
		"schema", texts(func(c *Config) *[]string { return &c.Schema }, patternProblem),
		"scripts that define tables, types, views and functions: files, patterns (** is any number of folders), or folders without their subfolders",
	},
	{
		"procedures", texts(func(c *Config) *[]string { return &c.Procedures }, patternProblem),
		"scripts that define procedures",
	},
	{"queries", texts(func(c *Config) *[]string { return &c.Queries }, patternProblem), "scripts with annotated queries"},
	{
		"default_schema", text(func(c *Config) *string { return &c.DefaultSchema }, anything),
		"schema of names that are written without a schema; dbo if not set",
	},
	{
		"nulls", text(func(c *Config) *string { return &c.Model.Nulls }, oneOf(model.NullsPointer, model.NullsSQL)),
		"NULL in Go: pointer (the default), or sql for sql.Null[T]",
	},
	{
		"tables", text(func(c *Config) *string { return &c.Model.Tables }, oneOf(model.TablesJSON, model.TablesTVP)),
		"how table arguments are sent: json (the default), as one JSON document; tvp, as the driver's table-valued parameters",
	},
	{
		"exclude", texts(func(c *Config) *[]string { return &c.Exclude }, anything),
		"procedures to generate nothing for, and views, functions and triggers to ignore, whatever is wrong in them; each must exist; helpers of your own say gen:internal instead",
	},
	{
		"placeholders", values(func(c *Config) *map[string]string { return &c.Placeholders }),
		"values of what installers and tools replace in the scripts, {name}, $(name) and <name, type, default>, by name; each must be in a script",
	},
	{
		"rename", names(func(c *Config) *map[string]string { return &c.Model.Rename }),
		"Go names by SQL name, to replace the usual ones",
	},
	{
		"schema_in_names", flag(func(c *Config) *bool { return &c.Model.SchemaInNames }),
		"true: every method's name contains the schema, not only where two schemas have a procedure of the same name; false if not set",
	},
	{
		"sequences", flag(func(c *Config) *bool { return &c.Model.Sequences }),
		"true: every :many query gets a second method that yields its rows one by one; false if not set",
	},
	{"vet", section("vet.", vetFields), "options of the lint rules, listed below"},
}

// vetFields are the keys below vet. None has an effect on what is generated.
var vetFields = []field{
	vetList("enable", "optional rules to switch on: ids, families such as P6, or all",
		func(v *vet.Options) *[]string { return &v.Enable }),
	vetList("disable", "rules or families to switch off; wins over enable", func(v *vet.Options) *[]string { return &v.Disable }),
	vetText("schema", "the schema that every object is in; needed by P3-text", func(v *vet.Options) *string { return &v.Schema }),
	vetNumber("error_min", "the lowest number that THROW may raise; 50001 if not set",
		func(v *vet.Options) *int64 { return &v.ErrorMin }),
	vetNumber("error_max", "the highest number that THROW may raise; 2147483647 if not set", func(v *vet.Options) *int64 { return &v.ErrorMax }),
	vetList("lock_tokens", "columns that hold the token of a lease; needed by the rules Q3", func(v *vet.Options) *[]string { return &v.LockTokens }),
	vetList("locked_until", "columns that hold the end of a lease; needed by the rules Q3", func(v *vet.Options) *[]string { return &v.LockedUntil }),
	vetList("payloads", "members of JSON documents that can be of any length; needed by T4-member",
		func(v *vet.Options) *[]string { return &v.Payloads }),
	vetList("queue_tables", "queue tables, from which workers claim rows; needed by Q5 and some rules Q9", func(v *vet.Options) *[]string { return &v.QueueTables }),
	vetList("hot_tables", "tables that many sessions write at the same time; needed by Q6-foreign-key and some rules Q9", func(v *vet.Options) *[]string { return &v.HotTables }),
	vetList("lock_order", "tables in the order in which every transaction must lock them; needed by Q6-order",
		func(v *vet.Options) *[]string { return &v.LockOrder }),
	vetList("header", "titles of the sections of a header, in their order, for D1-header; for example called by, transaction, parameters, result sets, locks, hints, errors, length",
		func(v *vet.Options) *[]string { return &v.Header }),
	vetList("hints", "hints that P6-hints asks no reason of, because one text explains them for all scripts; for example READPAST, KEEPFIXED PLAN, LOOP",
		func(v *vet.Options) *[]string { return &v.Hints }),
	vetNumber("max_lines", "how many lines a procedure may have without a section Length in its header; 150 if not set",
		func(v *vet.Options) *int64 { return &v.MaxLines }),
	vetList("purge_prefixes", "prefixes of the names of procedures that delete in bulk, for the rules Q7; purge_, prune_ and delete_ if not set",
		func(v *vet.Options) *[]string { return &v.PurgePrefixes }),
	vetList("roles", "the roles that views and procedures are granted to; needed by P9-grant", func(v *vet.Options) *[]string { return &v.Roles }),
}

// vetList, vetText and vetNumber spare each key of vet to say where the options of the rules are. Their values aren't
// checked here: package vet knows which rules exist, and reports what it doesn't know.
func vetList(key, doc string, where func(*vet.Options) *[]string) field {
	return field{key, texts(func(c *Config) *[]string { return where(&c.Vet) }, anything), doc}
}

func vetText(key, doc string, where func(*vet.Options) *string) field {
	return field{key, text(func(c *Config) *string { return where(&c.Vet) }, anything), doc}
}

func vetNumber(key, doc string, where func(*vet.Options) *int64) field {
	return field{key, number(func(c *Config) *int64 { return where(&c.Vet) }), doc}
}

// Describe writes every key with what it is good for, one a line.
func Describe(w io.Writer) {
	for _, f := range fields {
		fmt.Fprintf(w, "  %-20s %s\n", f.key, f.doc)
	}
	for _, f := range vetFields {
		fmt.Fprintf(w, "  %-20s %s\n", "vet."+f.key, f.doc)
	}
}
