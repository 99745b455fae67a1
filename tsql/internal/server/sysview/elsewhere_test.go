package sysview

import (
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/builtin"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// What is listed as elsewhere is not here: a view, a function that begins to work leaves the list.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for entry := range elsewhere() {
		kind, name, _ := strings.Cut(entry, " ")
		count[kind]++
		there := false
		switch kind {
		case "builtin":
			_, there = builtin.Lookup(&syntax.Call{Name: &syntax.ObjectName{Parts: []syntax.Ident{{Value: name}}}})
		case "function":
			there = registry().functions[name] != nil
		case "view":
			there = registry().views[name] != nil
		case "procedure":
			there = strings.Contains(name, ".")
		default:
			t.Errorf("the kind of %s is %s", name, kind)
		}
		if there || name != strings.ToLower(name) {
			t.Errorf("the list has the %s %s", kind, name)
		}
	}
	for kind, least := range map[string]int{"builtin": 60, "procedure": 800, "function": 100, "view": 500} {
		if count[kind] < least {
			t.Errorf("the list has %d names of kind %s, want %d at least", count[kind], kind, least)
		}
	}
}

func TestElsewhereNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		database, schema, name string
		want                   bool
	}{
		{"test", "", "sysusers", true},
		{"test", "DBO", "SysUsers", true},
		{"test", "sys", "sysusers", true},
		{"test", "sales", "sysusers", false},
		{"test", "", "system_objects", false},
		{"test", "sys", "system_objects", true},
		{"test", "", "dm_os_wait_stats", false},
		{"test", "sys", "dm_os_wait_stats", true},
		{"test", "information_schema", "VIEW_COLUMN_USAGE", true},
		{"test", "", "VIEW_COLUMN_USAGE", false},
		{"test", "sys", "tables", false},
		{"test", "dbo", "sysjobs", false},
		{"MSDB", "dbo", "sysjobs", true},
		{"msdb", "", "sysjobs", true},
		{"master", "", "spt_values", true},
		{"test", "", "spt_values", false},
	} {
		if got := ViewElsewhere(c.database, c.schema, c.name); got != c.want {
			t.Errorf("the view %s.%s.%s is elsewhere: %t, want %t", c.database, c.schema, c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		database, schema, name string
		want                   bool
	}{
		{"test", "", "TextPtr", true},
		{"test", "dbo", "TextPtr", false},
		{"test", "sys", "fn_varbintohexstr", true},
		{"test", "dbo", "fn_varbintohexstr", false},
		{"master", "dbo", "fn_varbintohexstr", true},
		{"test", "", "fn_helpcollations", true},
		{"test", "", "dm_exec_query_plan", false},
		{"test", "sys", "dm_exec_query_plan", true},
		{"test", "sys", "fn_nothing", false},
	} {
		if got := FunctionElsewhere(c.database, c.schema, c.name); got != c.want {
			t.Errorf("the function %s.%s.%s is elsewhere: %t, want %t", c.database, c.schema, c.name, got, c.want)
		}
	}
	if !ProcedureElsewhere("sp_HelpIndex") || ProcedureElsewhere("sp_nothing") {
		t.Error("sp_helpindex is elsewhere, sp_nothing nowhere")
	}
}
