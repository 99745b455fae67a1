package sysview

import (
	_ "embed"
	"strings"
	"sync"
)

// elsewhereText names the objects of the system that SQL Server has and this server has not, after Microsoft's
// reference, with those of later versions and of Azure: a line names a kind, and the indented ones after it the names
// in lower case. Functions of the kind "builtin" have no schema. A view has its schema before it, or its database:
// master or msdb.
//
//go:embed elsewhere.txt
var elsewhereText string

// elsewhere is the set of the names, each behind its kind.
var elsewhere = sync.OnceValue(func() map[string]bool {
	set, kind := map[string]bool{}, ""
	for line := range strings.Lines(elsewhereText) {
		if !strings.HasPrefix(line, "\t") {
			kind = strings.TrimSpace(line)
			continue
		}
		for name := range strings.FieldsSeq(line) {
			set[kind+" "+name] = true
		}
	}
	return set
})

// ViewElsewhere reports whether SQL Server has a view of the system, or a table of msdb or master, that this server has
// not. Without a schema it is one of those that old scripts call sysusers, or dbo.sysusers.
func ViewElsewhere(database, schemaName, name string) bool {
	name = fold(name)
	switch s := fold(schemaName); s {
	case "sys", "information_schema":
		return elsewhere()["view "+s+"."+name]
	case "", "dbo":
		old := strings.HasPrefix(name, "sys") && !strings.Contains(name, "_")
		return old && elsewhere()["view sys."+name] || elsewhere()["view "+fold(database)+"."+name]
	}
	return false
}

// FunctionElsewhere reports whether SQL Server has a function of the system that this server has not. Those of schema
// sys that begin with fn_ are found without it, and in master as those of dbo.
func FunctionElsewhere(database, schemaName, name string) bool {
	name = fold(name)
	switch s := fold(schemaName); {
	case s == "" && elsewhere()["builtin "+name]:
		return true
	case s == "sys", strings.HasPrefix(name, "fn_") && (s == "" || s == "dbo" && fold(database) == "master"):
		return elsewhere()["function sys."+name]
	}
	return false
}

// ProcedureElsewhere reports whether SQL Server has a procedure of the system that this server has not.
func ProcedureElsewhere(name string) bool { return elsewhere()["procedure "+fold(name)] }
