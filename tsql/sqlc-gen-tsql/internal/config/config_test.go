package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/model"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

// whole has every key that there is.
const whole = `package: db
out: internal/db
schema: [sql/schema/*.sql, sql/types.sql]
procedures: sql/**/*.sql
queries: [sql/queries]
default_schema: shop
nulls: sql
tables: tvp
exclude: [shop.old]
placeholders: {databaseOwner: "dbo.", objectQualifier: "", Limit: 10}
rename: {sku: SKU}
schema_in_names: true
sequences: true
vet:
  enable: [P4-goto]
  disable: [P3]
  schema: shop
  error_min: 60000
  error_max: 60999
  lock_tokens: [token]
  locked_until: [until]
  payloads: [body]
  queue_tables: [jobs]
  hot_tables: [jobs]
  lock_order: [a, b]
  header: [locks, errors]
  hints: [READPAST, KEEPFIXED PLAN]
  max_lines: 200
  purge_prefixes: [purge_]
  roles: [workers]
`

func TestReadUnderstandsEveryKey(t *testing.T) {
	t.Parallel()
	c, findings := config.Read(diag.NewFile("options.yaml", whole))
	if len(findings) > 0 {
		t.Fatal(findings.Format())
	}
	want := config.Config{
		Out:           "internal/db",
		Schema:        []string{"sql/schema/*.sql", "sql/types.sql"},
		Procedures:    []string{"sql/**/*.sql"},
		Queries:       []string{"sql/queries"},
		DefaultSchema: "shop",
		Exclude:       []string{"shop.old"},
		Placeholders:  map[string]string{"databaseOwner": "dbo.", "objectQualifier": "", "Limit": "10"},
		Model: model.Options{
			Package: "db", Nulls: model.NullsSQL, Tables: model.TablesTVP, Rename: map[string]string{"sku": "SKU"},
			SchemaInNames: true, Sequences: true,
		},
		Vet: vet.Options{
			Enable: []string{"P4-goto"}, Disable: []string{"P3"},
			Schema: "shop", ErrorMin: 60000, ErrorMax: 60999,
			LockTokens: []string{"token"}, LockedUntil: []string{"until"}, Payloads: []string{"body"},
			QueueTables: []string{"jobs"}, HotTables: []string{"jobs"}, LockOrder: []string{"a", "b"},
			Header: []string{"locks", "errors"}, Hints: []string{"READPAST", "KEEPFIXED PLAN"}, MaxLines: 200,
			PurgePrefixes: []string{"purge_"}, Roles: []string{"workers"},
		},
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Every key is described, and there is no description of a key that isn't read: README and -h come from it.
func TestDescribeListsEveryKey(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	config.Describe(&out)
	for line := range strings.Lines(out.String()) {
		key := strings.Fields(line)[0]
		key = key[strings.LastIndexByte(key, '.')+1:]
		if !strings.Contains(whole, key+":") {
			t.Errorf("TestReadUnderstandsEveryKey doesn't know %s", key)
		}
	}
}

func TestReadReportsAtThePlace(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text string
		want []string
	}{
		"nothing": {
			text: "",
			want: []string{
				"o.yaml:1:1: none of schema, procedures and queries is set (config)",
				"o.yaml:1:1: package is not set (config)",
			},
		},
		"not YAML": {
			text: "package: db\nschema: [",
			want: []string{"o.yaml:2:1: this is not YAML: did not find expected node content (config)"},
		},
		"not keys":         {text: "- a", want: []string{"o.yaml:1:1: this has to be keys and their values (config)"}},
		"twice":            {text: "package: a\npackage: b", want: []string{"o.yaml:2:1: package is there twice (config)"}},
		"empty":            {text: "package:", want: []string{"o.yaml:1:9: the value is empty (config)"}},
		"null":             {text: "default_schema: ~", want: []string{"o.yaml:1:17: the value is empty (config)"}},
		"a list":           {text: "package: [a]", want: []string{"o.yaml:1:10: this has to be a single value (config)"}},
		"main":             {text: "package: main", want: []string{"o.yaml:1:10: package main can't be imported (config)"}},
		"a bad pattern":    {text: "schema: 'a[.sql'", want: []string{"o.yaml:1:9: the pattern a[.sql is malformed (config)"}},
		"an absolute one":  {text: "schema: /a.sql", want: []string{"o.yaml:1:9: the path has to be relative: to the configuration, or to the working directory if there is none (config)"}},
		"backslashes":      {text: `schema: 'sql\a.sql'`, want: []string{"o.yaml:1:9: write the path with slashes, not backslashes (config)"}},
		"not a name":       {text: "rename: {a: b}", want: []string{"o.yaml:1:13: b is not an exported Go name (config)"}},
		"a name twice":     {text: "rename: {a: B, a: C}", want: []string{"o.yaml:1:16: a is there twice (config)"}},
		"no names":         {text: "rename: [a]", want: []string{"o.yaml:1:9: this has to be names and their Go names (config)"}},
		"no values":        {text: "placeholders: a", want: []string{"o.yaml:1:15: this has to be names and their values (config)"}},
		"a value twice":    {text: "placeholders: {a: b, A: c}", want: []string{"o.yaml:1:22: A is there twice (config)"}},
		"a missing value":  {text: "placeholders: {a: }", want: []string{"o.yaml:1:19: the value is empty (config)"}},
		"a list of values": {text: "placeholders: {a: [b]}", want: []string{"o.yaml:1:19: this has to be a single value (config)"}},
		"not a switch":     {text: "sequences: on", want: []string{"o.yaml:1:12: expected true or false, not on (config)"}},
		"behind an umlaut": {
			text: "ü: 1\nvet: {ä: 1}",
			want: []string{"o.yaml:1:1: unknown key ü (config)", "o.yaml:2:7: unknown key vet.ä (config)"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, findings := config.Read(diag.NewFile("o.yaml", c.text))
			var got []string
			for _, f := range findings {
				got = append(got, f.Error())
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestReadSuggestsTheNearestKey(t *testing.T) {
	t.Parallel()
	_, findings := config.Read(diag.NewFile("o.yaml", "pakcage: db\nzzz: 1\n"))
	if len(findings) != 2 || findings[0].Fix != "did you mean package?" || !strings.HasPrefix(findings[1].Fix, "the keys are package, out") {
		t.Errorf("got %s", findings.Format())
	}
}
