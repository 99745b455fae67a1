package session

import (
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// cursorKind is what a cursor has been declared to be.
type cursorKind struct {
	local, global bool // said so; else the database decides
	scrolls       bool // all fetches are allowed, and not NEXT alone
	wanted        planner.CursorModel
	fast          bool // FAST_FORWARD
	readOnly      bool
	locks         bool // SCROLL_LOCKS
	optimistic    bool // a positioned change fails if somebody else has changed the row
	warn          bool // TYPE_WARNING, of a type that was asked for
	update        bool // FOR UPDATE
	columns       map[string]bool
}

// conflicts are options of which a cursor has one at most.
var conflicts = [][]string{
	{"LOCAL", "GLOBAL"},
	{"FORWARD_ONLY", "SCROLL"},
	{"STATIC", "KEYSET", "DYNAMIC", "FAST_FORWARD"},
	{"READ_ONLY", "SCROLL_LOCKS", "OPTIMISTIC"},
	{"FAST_FORWARD", "SCROLL"},
	{"FAST_FORWARD", "SCROLL_LOCKS"},
	{"FAST_FORWARD", "OPTIMISTIC"},
	{"STATIC", "SCROLL_LOCKS"},
}

// kindOfCursor reads the options of a cursor.
func kindOfCursor(d *syntax.CursorDefinition) (*cursorKind, error) {
	if (d.Insensitive || d.Scroll) && len(d.Options) > 0 {
		return nil, fault.New(1049)
	}
	for _, group := range conflicts {
		found := ""
		for _, o := range d.Options {
			if !slices.Contains(group, o) || o == found {
				continue
			}
			if found != "" {
				return nil, fault.New(1048, found, o)
			}
			found = o
		}
	}
	has := func(option string) bool { return slices.Contains(d.Options, option) }
	k := &cursorKind{
		local: has("LOCAL"), global: has("GLOBAL"), fast: has("FAST_FORWARD"), locks: has("SCROLL_LOCKS"), update: d.Update,
	}
	typed := k.wantedOf(d, has)
	k.scrolls = d.Scroll || has("SCROLL") || typed && !k.fast && !has("FORWARD_ONLY") && !d.Insensitive
	k.warn = has("TYPE_WARNING") && typed
	k.readOnly = has("READ_ONLY") || d.ReadOnly || k.fast || k.wanted == planner.StaticCursor
	k.optimistic = !k.readOnly && !k.locks
	switch {
	case k.update && k.fast:
		return nil, fault.New(1048, "FAST_FORWARD", "FOR UPDATE")
	case k.update && k.readOnly:
		return nil, fault.New(16957)
	}
	for _, c := range d.Columns {
		if k.columns == nil {
			k.columns = map[string]bool{}
		}
		k.columns[fold(c.Value)] = true
	}
	return k, nil
}

// wantedOf decides which model is asked for, and reports whether the text names it. Without a name a cursor that
// scrolls is a keyset, as it has a place to count from, and one that does not is dynamic.
func (k *cursorKind) wantedOf(d *syntax.CursorDefinition, has func(string) bool) (typed bool) {
	switch {
	case has("STATIC") || d.Insensitive:
		k.wanted = planner.StaticCursor
	case has("KEYSET"):
		k.wanted = planner.KeysetCursor
	case has("DYNAMIC") || k.fast:
		k.wanted = planner.DynamicCursor
	case has("SCROLL") || d.Scroll:
		k.wanted = planner.KeysetCursor
		return false
	default:
		k.wanted = planner.DynamicCursor
		return false
	}
	return true
}

// checkColumns checks that the columns of FOR UPDATE OF are some table's.
func (k *cursorKind) checkColumns(p *planner.Cursor) error {
	known := map[string]bool{}
	for _, source := range p.Sources {
		for _, c := range source.Source.Table.Columns {
			known[fold(c.Name)] = true
		}
	}
	for name := range k.columns {
		if !known[name] {
			return fault.New(207, name)
		}
	}
	return nil
}
