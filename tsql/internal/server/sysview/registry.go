package sysview

import (
	"slices"
	"sync"
)

// directory is all views and functions, by their folded names with the schema.
type directory struct {
	views     map[string]*View
	functions map[string]*Function
}

// registry makes them once for all servers of the process: they are never changed, and hold nothing of a server.
var registry = sync.OnceValue(func() *directory {
	c := &directory{views: map[string]*View{}, functions: map[string]*Function{}}
	for _, v := range slices.Concat(
		ofObjects(objectViews(), columnViews(), indexViews(), constraintViews(), moduleViews()),
		typeViews(), principalViews(), databaseViews(), sessionViews(), lockViews(), informationViews(), compatibilityViews(),
	) {
		c.views[fold(v.Schema+"."+v.Name)] = v
	}
	for _, f := range systemFunctions() {
		c.functions[fold(f.Schema+"."+f.Name)] = f
	}
	return c
})

// clientDescription is the shape of what sp_describe_first_result_set returns.
var clientDescription = sync.OnceValue(func() description {
	return newDescription("sp_describe_first_result_set", describedForClients)
})
