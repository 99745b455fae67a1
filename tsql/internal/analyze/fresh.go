package analyze

import (
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
)

// checkFresh reports a view or an inline function whose SELECT * has read a table before the table's columns changed:
// the server keeps the columns of that time. bound has the steps at which it has read them.
//
// Scripts that define the view before the table were not run in this order, and nothing follows from it.
func (a *analyzer) checkFresh(e *env, o catalog.Object, bound []int, rel *relation) {
	c := rel.changed
	if c == nil || c.FirstStep > bound[0] {
		return
	}
	for _, step := range bound {
		if step >= c.Step { // those who read the view by * see the change from here on
			seen := *c
			seen.Step = step
			rel.changed = &seen
			return
		}
	}
	line, _ := c.File.Position(c.Span.From)
	a.fail(e, o.Where().Span, "list the columns, or add EXEC sp_refreshsqlmodule N'"+o.ObjectName().String()+"' behind the change",
		"%s reads %s by *, and keeps the columns from before the change at %s:%d", o.ObjectName(), c.Name, c.File.Name, line)
	rel.bad, rel.changed = true, nil
}

// later returns the later one of two changes, either of which may be nil.
func later(x, y *catalog.Change) *catalog.Change {
	if x == nil || y != nil && y.Step > x.Step {
		return y
	}
	return x
}
