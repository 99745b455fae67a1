package migrate

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Plan is what is left to do, in order. It holds the exact text that [Migration.Up]
// sends.
type Plan struct {
	// Schema is the name of the schema, as given.
	Schema string
	// Newer tells that the schema is a newer release's, which serves these scripts'
	// programs too. There are no steps then: it is that release's to migrate.
	Newer bool
	Steps []Step
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Steps) == 0 }

// Action is what a step does.
type Action string

// The actions.
const (
	// ActionCreate makes the schema with the tables that record migrations.
	ActionCreate Action = "create"
	// ActionApply runs a numbered script or (re)defines modules.
	ActionApply Action = "apply"
	// ActionDrop removes a module that the release no longer has, or in
	// [Migration.Drop] everything.
	ActionDrop Action = "drop"
	// ActionRestore makes an index again that is missing, disabled or different.
	ActionRestore Action = "restore"
	// ActionRecord notes something and changes nothing else.
	ActionRecord Action = "record"
)

// Step is one transaction.
type Step struct {
	// Name is the file, or what else the step is about.
	Name   string
	Action Action
	// Reason says why the step is needed, for people to read.
	Reason  string
	Batches []Batch
}

// Why a step is needed.
const (
	reasonNew        = "not applied yet"
	reasonNoRecords  = "it does not exist, or this login may not see it"
	reasonChanged    = "its text has changed"
	reasonEdited     = "it was edited on the server"
	reasonMissing    = "it is missing on the server"
	reasonDisabled   = "it is disabled on the server"
	reasonSetOptions = "it was created without QUOTED_IDENTIFIER and ANSI_NULLS"
	reasonGone       = "the scripts no longer have it"
	reasonComplete   = "all of it is applied"
	reasonTaken      = "somebody has taken rights away that this release grants"
)

// planner turns the difference between a state and the scripts into steps.
type planner struct {
	schema  string
	scripts *release
	state   *state
	steps   []Step
}

// makePlan returns what leads from the state to the scripts. What must be refused has
// been before.
func makePlan(schema string, scripts *release, st *state) *Plan {
	p := &planner{schema: schema, scripts: scripts, state: st}
	if !st.recorded {
		p.steps = append(p.steps, p.foundation())
	}
	// The revision goes first: from then on an older release keeps its hands off, and its
	// programs know whether they may go on.
	if st.revision < scripts.revision {
		p.steps = append(p.steps, p.recordRevision())
	}
	p.addIndexes()
	p.addScripts(false)
	p.addModules()
	p.addScripts(true)
	if st.complete < scripts.revision {
		p.steps = append(p.steps, p.recordCompletion())
	}
	return &Plan{Schema: schema, Steps: p.steps}
}

// addScripts adds the numbered scripts that were not applied: those that come before
// the modules, or those after.
func (p *planner) addScripts(afterModules bool) {
	for _, one := range p.scripts.numbered {
		if _, done := p.state.scripts[one.version]; done || one.afterModules != afterModules {
			continue
		}
		p.steps = append(p.steps, Step{
			Name: one.name, Action: ActionApply, Reason: reasonNew, Batches: append(p.rewrite(one.batches), p.recordScript(one)),
		})
	}
}

// addModules adds what brings the modules up to date.
func (p *planner) addModules() {
	for _, one := range p.scripts.modules {
		if reason := p.reason(one); reason != "" {
			p.steps = append(p.steps, Step{
				Name: one.file, Action: ActionApply, Reason: reason, Batches: p.define(one),
			})
		}
	}
	for _, name := range p.leftOver() {
		kind := p.state.modules[name].kind
		p.steps = append(p.steps, Step{
			Name: strings.ToLower(string(kind)) + " " + name, Action: ActionDrop, Reason: reasonGone, Batches: p.remove(name),
		})
	}
}

// leftOver returns the names of the modules that we once applied and no longer have.
// What reads comes before what it may read: procedures, views, functions.
func (p *planner) leftOver() []string {
	names := slices.Sorted(maps.Keys(p.state.modules))
	for _, one := range p.scripts.modules {
		names = slices.DeleteFunc(names, func(name string) bool { return name == one.name })
	}
	order := map[moduleKind]int{kindProcedure: 0, kindView: 1, kindFunction: 2}
	slices.SortStableFunc(names, func(a, b string) int {
		return order[p.state.modules[a].kind] - order[p.state.modules[b].kind]
	})
	return names
}

// reason tells why a module must be applied; "" if it need not.
func (p *planner) reason(one module) string {
	recorded, known := p.state.modules[one.name]
	stored, there := p.state.stored[one.name]
	switch {
	case !known:
		return reasonNew
	case !there:
		return reasonMissing
	case !bytes.Equal(recorded.checksum, one.checksum):
		return reasonChanged
	case !bytes.Equal(recorded.serverChecksum, stored.checksum) || stored.kind != one.kind:
		return reasonEdited
	case !stored.setOptions:
		return reasonSetOptions
	default:
		return ""
	}
}

// define returns the batches of a module, and the one that records it. Something else of
// the same name is dropped before.
func (p *planner) define(one module) []Batch {
	batches := p.rewrite(one.batches)
	if stored, there := p.state.stored[one.name]; there && stored.kind != one.kind {
		batches = slices.Insert(batches, 0, p.drop(stored.kind, one.name))
	}
	return append(batches, p.recordModule(one))
}

// remove drops a module that the scripts no longer have.
func (p *planner) remove(name string) []Batch {
	return []Batch{p.drop(p.state.modules[name].kind, name), p.forget(name)}
}

func (p *planner) forget(name string) Batch {
	return p.statement(fmt.Sprintf(deleteModule, quoteText(name)))
}

func (p *planner) drop(kind moduleKind, name string) Batch {
	return p.statement(fmt.Sprintf(dropObject, kind, Quote(name)))
}

// rewrite returns the batches for the planner's schema.
func (p *planner) rewrite(batches []Batch) []Batch {
	list := slices.Clone(batches)
	for i := range list {
		list[i].Text = rewrite(list[i].Text, p.schema)
	}
	return list
}

// statement makes a batch of our own. The text names the schema duroxide, as scripts do.
func (p *planner) statement(text string) Batch {
	return Batch{Text: rewrite(text, p.schema), Repeat: 1}
}
