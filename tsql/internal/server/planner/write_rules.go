package planner

import (
	"errors"
	"maps"
	"slices"

	"github.com/duroxide/duroxide-go/tsql/internal/server/binder"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// rules is what holds for every row that comes into a table or changes there, compiled.
type rules struct {
	*binder.Rules

	defaults map[int]execute.Expr // by ordinal
	computed []computedRule
	past     []computedRule
	checks   []checkRule
	view     []execute.Cond
	parents  []parentKey
	children []*childKey
}

type computedRule struct {
	column *schema.Column
	value  execute.Expr
}

type checkRule struct {
	check *schema.Check
	holds execute.Cond
}

// rules compiles the rules of a table. Cascades may lead back to rules that are being compiled.
func (p *planner) rules(bound *binder.Rules) (*rules, error) {
	if u := p.compiled[bound]; u != nil {
		return u, nil
	}
	u := &rules{Rules: bound}
	if p.compiled == nil {
		p.compiled = map[*binder.Rules]*rules{}
	}
	p.compiled[bound] = u
	var err error
	if u.computed, err = p.computedRules(bound.Computed); err != nil {
		return nil, err
	}
	if u.past, err = p.computedRules(bound.Past); err != nil {
		return nil, err
	}
	for _, ck := range bound.Checks {
		c, err := p.code(ck.Holds)
		if err != nil {
			return nil, err
		}
		u.checks = append(u.checks, checkRule{ck.Check, c.Cond})
	}
	if err := p.foreignKeys(u); err != nil {
		return nil, err
	}
	if u.view, err = p.conds(bound.View); err != nil {
		return nil, err
	}
	u.defaults, err = p.defaults(bound.Defaults)
	return u, err
}

// computedRules compiles computed columns.
func (p *planner) computedRules(list []binder.ComputedRule) ([]computedRule, error) {
	var out []computedRule
	for _, c := range list {
		x, err := p.code(c.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, computedRule{c.Column, x.Expr})
	}
	return out, nil
}

// defaults compiles the defaults of columns, by ordinal.
func (p *planner) defaults(bound map[int]*binder.Node) (map[int]execute.Expr, error) {
	out := map[int]execute.Expr{}
	for _, ordinal := range slices.Sorted(maps.Keys(bound)) {
		c, err := p.code(bound[ordinal])
		if err != nil {
			return nil, err
		}
		out[ordinal] = c.Expr
	}
	return out, nil
}

// load puts a row into the slots of after or before.
func load(r *execute.Run, src *binder.Source, row []execute.Value) {
	rel := src.Rel.(*binder.TableRel) //nolint:errcheck,forcetypeassert // rulesOf made it
	for ordinal, slot := range rel.Slots {
		if slot < 0 {
			continue
		}
		if row == nil {
			r.Slots[slot] = execute.Value{}
		} else {
			r.Slots[slot] = row[ordinal]
		}
	}
}

// settle completes a new row, which nobody else has yet: computed columns get their values, and what must not be NULL,
// the checks and the lengths of keys are tested. The row's columns are in the slots of after then.
func (u *rules) settle(e *execution, t *schema.Table, row []execute.Value) error {
	load(e.r, u.After, row)
	for _, c := range u.computed {
		v, err := c.value(e.r)
		if err != nil {
			return err
		}
		row[c.column.Ordinal] = v
	}
	if len(u.computed) > 0 {
		load(e.r, u.After, row)
	}
	for _, c := range t.Columns {
		if !c.Nullable && row[c.Ordinal].IsNull() && (c.Computed == nil || c.Stored) {
			return fault.New(515, c.Name, t.FullName(), e.verb)
		}
	}
	for _, ck := range u.checks {
		truth, err := ck.holds(e.r)
		if err != nil {
			return err
		}
		if truth == execute.False {
			return t.Conflict(ck.check, e.verb)
		}
	}
	for _, ix := range t.Indexes {
		if err := ix.TooLong(row); err != nil {
			return err
		}
	}
	return u.checkView(e)
}

// checkView tests the condition of a view WITH CHECK OPTION.
func (u *rules) checkView(e *execution) error {
	for _, holds := range u.view {
		truth, err := holds(e.r)
		if err != nil {
			return err
		}
		if truth != execute.True {
			return fault.New(550)
		}
	}
	return nil
}

// ignores reports whether an error is that of an index with IGNORE_DUP_KEY, of whose duplicates the client is only
// told.
func ignores(t *schema.Table, err error) bool {
	var dup *store.DuplicateError
	if !errors.As(err, &dup) {
		return false
	}
	ix := t.IndexOf(dup.Index)
	return ix != nil && ix.IgnoreDup
}

// has reports whether triggers have to be told of an event.
func (u *rules) has(event string) bool {
	if u.Quiet {
		return false
	}
	for _, m := range u.From.Table.Triggers {
		if def, ok := m.Stmt.(*syntax.CreateTrigger); ok && !m.Disabled && !def.InsteadOf {
			if slices.Contains(def.Events, event) {
				return true
			}
		}
	}
	return false
}
