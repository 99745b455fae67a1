package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/vet"
)

// rules lists the lint rules; those that are named, it explains. An id may be that of a family, P4, which stands for
// all its rules.
func (a *app) rules(_ context.Context, ids []string) error {
	for _, rule := range vet.Rules() {
		if len(ids) == 0 {
			fmt.Fprintln(a.stdout, strings.TrimRight(fmt.Sprintf("%-16s %s %s", rule.ID, rule.Title, condition(rule)), " "))
		}
	}
	for _, id := range ids {
		known := false
		for _, rule := range vet.Rules() {
			// P4 stands for P4-merge and its like, but P1 not for P10.
			if rule.ID == id || strings.HasPrefix(rule.ID, id+"-") {
				a.explain(rule)
				known = true
			}
		}
		if !known {
			return fmt.Errorf("there is no rule %s; sqlc-gen-tsql rules lists them all", id)
		}
	}
	return nil
}

// condition says in parentheses when a rule applies, if that isn't always. These words are for the list; what an
// option does is in the help of the configuration.
func condition(rule vet.Rule) string {
	switch {
	case rule.Optional && rule.Needs != "":
		return "(off unless enabled; needs " + rule.Needs + ")"
	case rule.Optional:
		return "(off unless enabled)"
	case rule.Needs != "":
		return "(needs " + rule.Needs + ")"
	default:
		return ""
	}
}

// explain prints all there is to say about a rule.
func (a *app) explain(rule vet.Rule) {
	fmt.Fprintln(a.stdout, strings.TrimRight(fmt.Sprintf("%s: %s %s", rule.ID, rule.Title, condition(rule)), " "))
	fmt.Fprintf(a.stdout, "\n%s\n", rule.Reason)
	fmt.Fprintf(a.stdout, "\nBad:\n%s\nGood:\n%s\n", indent(rule.Bad), indent(rule.Good))
}

// indent moves a script to the right.
func indent(script string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(script), "\n", "\n    ") + "\n"
}
