package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
)

// plugins is the beginning of every sqlc.yaml here: a plugin of somebody else's, and the generator.
const plugins = `version: "2"
plugins:
  - {name: other, wasm: {url: file://other.wasm}}
  - {name: tsql, process: {cmd: sqlc-gen-tsql}}
`

func TestReadFileTakesTheEntryOfSQLC(t *testing.T) {
	t.Parallel()
	want := config.Default()
	want.Out = "gen/db"
	want.Model.Package = "db"
	want.Schema = []string{"sql/*.sql"}
	want.Vet.Enable = []string{"P6"}
	cases := map[string]string{
		"sqlc.yaml": plugins + `sql:
  - engine: sqlite
    schema: other.sql
    queries: other.sql
    gen: {go: {package: other, out: other}}
  - engine: sqlite
    schema: other.sql
    queries: other.sql
    codegen:
      - {plugin: other, out: other, options: {package: other}}
      - {plugin: tsql, out: gen/db, options: {package: db, schema: ['sql/*.sql'], vet: {enable: [P6]}}}
`,
		"sqlc.json": `{"version": "2", "plugins": [{"name": "x", "process": {"cmd": "bin\\sqlc-gen-tsql.exe"}}], "sql": [{"codegen": [
			{"plugin": "x", "out": "gen/db", "options": {"package": "db", "schema": "sql/*.sql", "vet": {"enable": ["P6"]}}}]}]}`,
		"a path": strings.Replace(plugins, "cmd: sqlc-gen-tsql", "cmd: ./bin/sqlc-gen-tsql", 1) +
			"sql: [{codegen: [{plugin: tsql, out: gen/db, options: {package: db, schema: ['sql/*.sql'], vet: {enable: [P6]}}}]}]",
		"its own": "package: db\nout: gen/db\nschema: ['sql/*.sql']\nvet: {enable: [P6]}\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, findings := config.ReadFile(diag.NewFile(name, text))
			if len(findings) > 0 {
				t.Fatal(findings.Format())
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestReadFileRefusesWhatItCannotTake(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, want string }{
		"no plugin": {
			"version: '2'\nsql: [{codegen: [{plugin: tsql, out: db}]}]\n",
			"sqlc.yaml:1:1: no plugin of sqlc.yaml runs sqlc-gen-tsql (config)",
		},
		"another command": {
			"version: '2'\nplugins: [{name: tsql, process: {cmd: sqlc-gen-tsqlx}}]\n",
			"sqlc.yaml:1:1: no plugin of sqlc.yaml runs sqlc-gen-tsql (config)",
		},
		"odd shapes": {
			"version: [1]\nplugins: {name: tsql}\nsql: 1\n",
			"sqlc.yaml:1:1: no plugin of sqlc.yaml runs sqlc-gen-tsql (config)",
		},
		"no entry": {
			plugins + "sql: [{codegen: [{plugin: other, out: db}]}]\n",
			"sqlc.yaml:1:1: no codegen of sqlc.yaml uses the plugin that runs sqlc-gen-tsql (config)",
		},
		"several entries": {
			plugins + "sql:\n- codegen:\n  - {plugin: tsql, out: a}\n- codegen:\n  - {plugin: tsql, out: b}\n",
			"sqlc.yaml:9:5: several entries run sqlc-gen-tsql, at lines 7, 9, and it takes one (config)",
		},
		"out twice": {
			plugins + "sql:\n- codegen:\n  - {plugin: tsql, out: a, options: {package: db, out: b, queries: a.sql}}\n",
			"sqlc.yaml:7:56: a plugin's out is set beside its options, not in them (config)",
		},
		"a misspelt key": {
			plugins + "sql:\n- codegen:\n  - plugin: tsql\n    out: a\n    options: {pakcage: db}\n",
			"sqlc.yaml:9:15: unknown key pakcage (config)",
		},
		"an absolute out": {
			plugins + "sql:\n- codegen:\n  - {plugin: tsql, out: /a, options: {package: db, queries: a.sql}}\n",
			"sqlc.yaml:7:25: the path has to be relative: to the configuration, or to the working directory if there is none (config)",
		},
		"no options": {
			plugins + "sql: [{codegen: [{plugin: tsql, out: a}]}]\n",
			"sqlc.yaml:1:1: none of schema, procedures and queries is set (config)\nsqlc.yaml:1:1: package is not set (config)",
		},
		"not YAML": {"version: [", "sqlc.yaml:1:1: this is not YAML: did not find expected node content (config)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, findings := config.ReadFile(diag.NewFile("sqlc.yaml", c.text))
			lines := make([]string, len(findings))
			for i, f := range findings {
				lines[i] = f.Error()
			}
			if d := cmp.Diff(c.want, strings.Join(lines, "\n")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
