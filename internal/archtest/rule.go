package archtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Set is a set of packages, written as patterns that are read from left to right. A pattern adds the packages it
// matches, or takes them away if it begins with "!". As with the go command, "..." at the end of a path stands for
// that package and all below it, and "./" begins a path inside the module:
//
//	std           the standard library
//	...           every package
//	./provider    one package of the module
//	./gen/...     a folder of the module
//	database/sql/...
type Set []string

// anythingBut is every package except the given ones: what is forbidden by a rule that lists what is allowed.
func anythingBut(allowed ...string) Set {
	set := Set{"..."}
	for _, pattern := range allowed {
		set = append(set, "!"+pattern)
	}
	return set
}

// has reports whether the package is in the set.
func (s Set) has(g *Graph, path string) bool {
	in := false
	for _, pattern := range s {
		name, negative := strings.CutPrefix(pattern, "!")
		if matches(g, name, path) {
			in = !negative
		}
	}
	return in
}

// matches reports whether one pattern, without its "!", matches the package.
func matches(g *Graph, pattern, path string) bool {
	if pattern == "std" {
		return g.Packages[path].Standard
	}
	local := g.local(path)
	if pattern == "..." {
		return true
	}
	if folder, ok := strings.CutSuffix(pattern, "/..."); ok {
		return local == folder || strings.HasPrefix(local, folder+"/")
	}
	return local == pattern
}

// Reach says how far a rule looks.
type Reach string

const (
	// Directly looks at the imports a package writes down. It suits a rule that lists what is allowed: what an
	// allowed package imports in turn is for that package's own rule.
	Directly Reach = "imports"
	// Transitively looks at everything that is linked along with a package. It suits a rule that bans one thing,
	// which must not come in by a detour.
	Transitively Reach = "reaches"
)

// A Rule is one ban: no package of From may import, or reach, one of Forbidden.
type Rule struct {
	From      Set
	Forbidden Set
	Reach     Reach
	// Why is the reason. It is what a contributor reads whose change breaks the rule.
	Why string
}

// Check returns one line for each way in which the module breaks the rule, sorted.
func (r Rule) Check(g *Graph) []string {
	var violations []string
	for path := range g.Packages {
		if !g.inModule(path) || !r.From.has(g, path) {
			continue
		}
		for _, chain := range r.forbiddenChains(g, path) {
			violations = append(violations, fmt.Sprintf("%s %s %s\n\tbecause: %s",
				chain[0], r.Reach, strings.Join(chain[1:], " -> "), r.Why))
		}
	}
	slices.Sort(violations)
	return violations
}

// forbiddenChains returns the shortest way from the package to each forbidden package it imports or reaches. Behind a
// forbidden package it does not look any further: one finding for each mistake.
func (r Rule) forbiddenChains(g *Graph, from string) [][]string {
	var found [][]string
	seen := map[string]bool{from: true}
	for queue := [][]string{{from}}; len(queue) > 0; queue = queue[1:] {
		chain := queue[0]
		for _, next := range g.Packages[chain[len(chain)-1]].Imports {
			if seen[next] {
				continue
			}
			seen[next] = true
			longer := append(slices.Clone(chain), next)
			switch {
			case r.Forbidden.has(g, next):
				found = append(found, g.localAll(longer))
			case r.Reach == Transitively:
				queue = append(queue, longer)
			}
		}
	}
	return found
}

func (g *Graph) localAll(paths []string) []string {
	short := make([]string, len(paths))
	for i, path := range paths {
		short[i] = g.local(path)
	}
	return short
}

// Dangling returns one line for each pattern of the rules that names a package of the module which does not exist, and
// is not planned either, and for each planned package that does exist: a table that speaks of folders that are gone
// protects nothing.
func Dangling(g *Graph, rules []Rule, planned map[string]string) []string {
	named := map[string]bool{}
	for _, rule := range rules {
		for _, pattern := range slices.Concat(rule.From, rule.Forbidden) {
			if name := strings.TrimPrefix(pattern, "!"); strings.HasPrefix(name, ".") && name != "..." {
				named[name] = true
			}
		}
	}
	var problems []string
	for pattern := range named {
		if _, ok := planned[pattern]; !ok && !g.exists(pattern) {
			problems = append(problems, fmt.Sprintf("%s is in a rule, but there is no such package; "+
				"remove it, or add it to the planned packages with what will be there", pattern))
		}
	}
	for pattern := range planned {
		if g.exists(pattern) {
			problems = append(problems, fmt.Sprintf("%s exists; remove it from the planned packages", pattern))
		}
		if !named[pattern] {
			problems = append(problems, fmt.Sprintf("%s is planned, but no rule mentions it", pattern))
		}
	}
	slices.Sort(problems)
	return problems
}

// exists reports whether a package of the module matches the pattern.
func (g *Graph) exists(pattern string) bool {
	for path := range g.Packages {
		if g.inModule(path) && matches(g, pattern, path) {
			return true
		}
	}
	return false
}

// Unruled returns one line for each package of the module that only rules about everything apply to: whoever adds a
// package decides, and writes down, what it may import.
func Unruled(g *Graph, rules []Rule) []string {
	var problems []string
	for path := range g.Packages {
		ruled := slices.ContainsFunc(rules, func(r Rule) bool {
			return !slices.Contains(r.From, "./...") && r.From.has(g, path)
		})
		if g.inModule(path) && !ruled {
			problems = append(problems, g.local(path)+" has no rule; say in the table what it may import, and why")
		}
	}
	slices.Sort(problems)
	return problems
}

// vague are the names that say nothing about what a package is for.
var vague = []string{"base", "common", "helper", "helpers", "lib", "misc", "shared", "util", "utils"}

// VagueNames returns one line for each package of the module whose path has an element that could hold anything.
func VagueNames(g *Graph) []string {
	var problems []string
	for path := range g.Packages {
		for element := range strings.SplitSeq(g.local(path), "/") {
			if g.inModule(path) && slices.Contains(vague, element) {
				problems = append(problems, fmt.Sprintf("%s: %q could hold anything; name the one idea", g.local(path), element))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// Undocumented returns one line for each package of the module, other than the exempt ones, that has no package
// comment.
func Undocumented(g *Graph, exempt Set) []string {
	var problems []string
	for _, p := range slices.SortedFunc(maps.Values(g.Packages), byPath) {
		if g.inModule(p.ImportPath) && len(p.GoFiles) > 0 && p.Doc == "" && !exempt.has(g, p.ImportPath) {
			problems = append(problems, fmt.Sprintf("%s: package %s has no package comment; open it with a sentence "+
				"saying what it is for", g.local(p.ImportPath), p.Name))
		}
	}
	return problems
}

func byPath(a, b Package) int { return cmp.Compare(a.ImportPath, b.ImportPath) }
