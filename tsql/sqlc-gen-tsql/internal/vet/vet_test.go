package vet_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

// input reads a text as far as the rules need it. Only the syntax must be right: a rule must get along with names that
// no script defines.
func input(t *testing.T, text string, options vet.Options) vet.Input {
	t.Helper()
	script, found := syntax.Parse(diag.NewFile("test.sql", text))
	set, more := directive.Read(script)
	if found = append(found, more...); len(found) > 0 {
		t.Fatal(found.Format())
	}
	in := vet.Input{Scripts: []*syntax.Script{script}, Directives: []*directive.Set{set}, Options: options}
	in.Catalog, _ = catalog.Build(in.Scripts, catalog.Options{})
	return in
}

// run returns the findings in a text as "line id", sorted.
func run(t *testing.T, text string, options vet.Options) []string {
	t.Helper()
	return brief(vet.Run(input(t, text, options)))
}

func brief(found diag.List) []string {
	out := []string{}
	for _, d := range found {
		line := 0
		if d.File != nil {
			line, _ = d.File.Position(d.Span.From)
		}
		out = append(out, strconv.Itoa(line)+" "+strings.TrimPrefix(d.Rule, "vet/"))
	}
	return out
}

// TestExamples runs the examples of every rule: the bad one breaks this rule and no other that is on, the good one
// none.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, rule := range vet.Rules() {
		t.Run(rule.ID, func(t *testing.T) {
			t.Parallel()
			options := rule.Example
			options.Enable = []string{rule.ID}
			bad, good := input(t, rule.Bad, options), input(t, rule.Good, options)
			if rule.ID == "P6-results" || rule.ID == "D2-results" { // they ask the analysis
				for _, in := range []*vet.Input{&bad, &good} {
					in.Program = &analyze.Program{Procedures: []*analyze.Procedure{{
						Place:   catalog.Place{File: in.Scripts[0].File},
						Name:    catalog.Name{Schema: "dbo", Name: "one"},
						Results: []analyze.ResultSet{{Name: "Number"}},
					}}}
				}
			}
			found := vet.Run(bad)
			if len(found) == 0 {
				t.Errorf("the bad example breaks no rule:\n%s", rule.Bad)
			}
			for _, d := range found {
				if d.Rule != "vet/"+rule.ID {
					t.Errorf("the bad example breaks another rule:\n%s", diag.List{d}.Format())
				}
			}
			if found := vet.Run(good); len(found) > 0 {
				t.Errorf("the good example is reported:\n%s", found.Format())
			}
		})
	}
}

// TestRulesAreDescribed guards what the documentation is made of.
func TestRulesAreDescribed(t *testing.T) {
	t.Parallel()
	rules := vet.Rules()
	ids := map[string]bool{}
	for _, r := range rules {
		switch {
		case ids[r.ID]:
			t.Errorf("%s exists twice", r.ID)
		case r.Title == "" || r.Reason == "" || r.Bad == "" || r.Good == "":
			t.Errorf("%s lacks a title, a reason or an example", r.ID)
		case strings.HasSuffix(r.Title, "."):
			t.Errorf("%s: a title has no full stop", r.ID)
		case !strings.HasSuffix(r.Reason, "."):
			t.Errorf("%s: a reason has one", r.ID)
		}
		ids[r.ID] = true
	}
	if order := []string{rules[0].ID, rules[len(rules)-1].ID}; !slices.Equal(order, []string{"D1-callers", "T6-name"}) {
		t.Errorf("the rules go from %s to %s", order[0], order[1])
	}
}
