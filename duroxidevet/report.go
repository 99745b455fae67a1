package duroxidevet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// spread carries what functions do to those that call them, until nothing changes, and tells other packages. What
// proves most comes first.
func (c *checker) spread() {
	for _, weak := range []bool{false, true} {
		for changed := true; changed; {
			changed = false
			for _, f := range c.functions {
				if f.cause == nil {
					f.cause = c.causeOf(f, weak)
					changed = changed || f.cause != nil
				}
			}
		}
	}
	c.spreadSchedules()
	for _, f := range c.functions {
		if f.obj == nil || !f.obj.Exported() {
			continue
		}
		if f.cause != nil {
			c.ExportObjectFact(f.obj, f.cause)
		}
		if f.schedules {
			c.ExportObjectFact(f.obj, new(schedulesFact))
		}
	}
}

// spreadSchedules finds the functions that ask for something by calling others.
func (c *checker) spreadSchedules() {
	for changed := true; changed; {
		changed = false
		for _, f := range c.functions {
			if !f.schedules && slices.ContainsFunc(f.calls, func(call call) bool { return c.schedules(call.callee) }) {
				f.schedules, changed = true, true
			}
		}
	}
}

// causeOf says why a function is not deterministic, nil if nothing is known.
func (c *checker) causeOf(f *function, weak bool) *hazardFact {
	for _, h := range f.hazards {
		if h.weak == weak && (f.context || !h.direct) {
			return &hazardFact{
				Kind: h.kind, What: h.what, Instead: h.instead, Where: c.where(h.pos), Weak: weak, Module: c.module(), Orchestration: f.context,
			}
		}
	}
	for _, call := range f.calls {
		cause := c.causeOfCall(call)
		if !call.called || cause == nil || cause.Weak != weak {
			continue
		}
		through := *cause
		through.Via = append([]string{c.nameOf(call.callee)}, cause.Via...)
		through.Orchestration, through.Module = f.context, c.module()
		return &through
	}
	return nil
}

// causeOfCall says why a call is not deterministic. What an orchestration function of this module does is reported
// there.
func (c *checker) causeOfCall(call call) *hazardFact {
	if f := c.byObject[call.callee]; f != nil {
		if f.context {
			return nil
		}
		return f.cause
	}
	fact := new(hazardFact)
	if call.callee.Pkg() == nil || call.callee.Pkg() == c.Pkg || ours(call.callee.Pkg().Path()) || !c.ImportObjectFact(call.callee, fact) {
		return nil
	}
	if foreign := fact.Module != c.module(); fact.Weak && foreign || fact.Orchestration && !foreign {
		return nil
	}
	return fact
}

// schedules reports whether a function asks for something through the context.
func (c *checker) schedules(callee types.Object) bool {
	if recorded(callee) {
		return true
	}
	if f := c.byObject[callee]; f != nil {
		return f.schedules
	}
	return callee.Pkg() != nil && callee.Pkg() != c.Pkg && c.ImportObjectFact(callee, new(schedulesFact))
}

// report tells what was found in the orchestration functions.
func (c *checker) report() {
	seen := map[string]bool{}
	tell := func(h hazard) {
		if key := c.Fset.Position(h.pos).String() + h.what; !seen[key] {
			seen[key] = true
			c.Report(c.diagnostic(h))
		}
	}
	for _, f := range c.functions {
		if !f.context {
			continue
		}
		for _, h := range f.hazards {
			tell(h)
		}
		for _, call := range f.calls {
			if h, ok := c.hazardOf(call); ok {
				tell(h)
			}
		}
		for _, r := range f.regions {
			if slices.ContainsFunc(r.calls, func(call call) bool { return c.schedules(call.callee) }) {
				tell(r.hazard)
			}
		}
	}
}

// hazardOf says what is wrong with a call in an orchestration function.
func (c *checker) hazardOf(call call) (hazard, bool) {
	if name, ok := c.activityOf(call.callee); ok && call.called {
		instead := "call its definition by orchestration.Activity"
		if name != "" {
			instead = "use orchestration.Activity(ctx, " + name + ", …)"
		}
		return hazard{
			span: call.span, kind: "activity", instead: instead, fixes: call.fixes,
			what: c.nameOf(call.callee) + " is the function of an activity, and called directly it is not recorded",
		}, true
	}
	cause := c.causeOfCall(call)
	if cause == nil {
		return hazard{}, false
	}
	through := strings.Join(append([]string{c.nameOf(call.callee)}, cause.Via...), " calls ")
	return hazard{
		span: call.span, kind: cause.Kind, instead: cause.Instead,
		what: through + ", where " + cause.What + " (" + cause.Where + ")",
	}, true
}

// activityOf reports whether a function is that of an activity, and the name of its definition.
func (c *checker) activityOf(callee types.Object) (string, bool) {
	if name, ok := c.activities[callee]; ok {
		return name, true
	}
	fact := new(activityFact)
	f, ok := callee.(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg() == c.Pkg || !c.ImportObjectFact(f, fact) {
		return "", false
	}
	if fact.Definition == "" {
		return "", true
	}
	return f.Pkg().Name() + "." + fact.Definition, true
}

// diagnostic is a hazard as drivers take it.
func (c *checker) diagnostic(h hazard) analysis.Diagnostic {
	d := analysis.Diagnostic{Pos: h.pos, End: h.end, Category: h.kind, Message: h.what + "; " + h.instead}
	for _, f := range h.fixes {
		d.SuggestedFixes = append(d.SuggestedFixes, analysis.SuggestedFix{Message: f.message, TextEdits: f.edits})
	}
	return d
}

// fileOf is the file of a place.
func (c *checker) fileOf(pos token.Pos) *ast.File {
	for _, file := range c.Files {
		if file.FileStart <= pos && pos <= file.FileEnd {
			return file
		}
	}
	return nil
}
