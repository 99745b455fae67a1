package providertest

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// referenceScenarios reads the reference's 233 names, by category, from
// testdata: "category (count)" lines, each followed by its names, indented.
func referenceScenarios(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/reference_scenarios.txt")
	if err != nil {
		t.Fatal(err)
	}
	names, counts := map[string][]string{}, map[string]string{}
	category := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch name, indented := strings.CutPrefix(line, "\t"); {
		case line == "" || strings.HasPrefix(line, "#"):
		case indented:
			names[category] = append(names[category], name)
		default:
			category, line, _ = strings.Cut(line, " (")
			counts[category] = strings.TrimSuffix(line, ")")
		}
	}
	for category, count := range counts {
		if got := strconv.Itoa(len(names[category])); got != count {
			t.Errorf("testdata: category %q announces %s names and has %s", category, count, got)
		}
	}
	return names
}

// Every scenario that the reference names is in the category of that name.
func TestScenariosIncludeTheReferences(t *testing.T) {
	t.Parallel()
	names, total := Scenarios(), 0
	for category, scenarios := range referenceScenarios(t) {
		for _, scenario := range scenarios {
			if !slices.Contains(names, category+"/"+scenario) {
				t.Errorf("%s: the reference's scenario %s is missing", category, scenario)
			}
		}
		total += len(scenarios)
	}
	if total != 233 {
		t.Errorf("testdata has %d of the reference's scenarios, want 233", total)
	}
}

// Names are the subtests' names: unique, and made of words that need no quoting.
func TestScenarioNames(t *testing.T) {
	t.Parallel()
	names := Scenarios()
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			t.Errorf("%s occurs twice", name)
		}
		seen[name] = true
		_, scenario, found := strings.Cut(name, "/")
		if !found || strings.Trim(scenario, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			t.Errorf("%q: a scenario's name is category/words_in_snake_case", name)
		}
	}
	for _, c := range categories() {
		if len(c.scenarios) == 0 {
			t.Errorf("category %q is empty", c.name)
		}
		for _, s := range c.scenarios {
			if s.run == nil {
				t.Errorf("%s/%s has nothing to run", c.name, s.name)
			}
		}
	}
}

// The round-trip scenarios know every kind of event and every variant of item.
func TestRoundTripsAreComplete(t *testing.T) {
	t.Parallel()
	kindNames, variants := map[string]bool{}, map[string]bool{}
	for _, kind := range kinds() {
		kindNames[kind.Type()] = true
	}
	for _, item := range append(messages("A"), activityItem("A", 2)) {
		variants[item.Variant()] = true
	}
	if len(kindNames) != 26 || len(variants) != 11 {
		t.Errorf("%d kinds of events and %d variants of items, want 26 and 11", len(kindNames), len(variants))
	}
	for _, item := range append(messages("A"), orphansFor("A")...) {
		if item.Target() != "A" {
			t.Errorf("%s is addressed to %q, want A", item.Variant(), item.Target())
		}
	}
}

// A payload has exactly the size asked for, is valid text, and does not repeat
// itself.
func TestPayload(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5, 16, 17, 18, 19, 20, 3999, 4000, 4001, 1 << 20} {
		text := payload(n)
		if len(text) != n || strings.ToValidUTF8(text, "") != text {
			t.Errorf("payload(%d) has %d bytes, or is no valid UTF-8", n, len(text))
		}
		if n > 100 && strings.Contains(text[n/2:], text[n/4:n/4+60]) {
			t.Errorf("payload(%d) repeats itself", n)
		}
	}
}

// The texts and ids that scenarios compare differ from each other, or comparing
// them would show nothing.
func TestTextsDiffer(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{lookalikes, oddTexts, damaged} {
		seen := map[string]bool{}
		for _, text := range texts {
			if seen[text] {
				t.Errorf("%q occurs twice", text)
			}
			seen[text] = true
		}
	}
}

// A failure tells where two values differ without printing either in full.
func TestFirstDifference(t *testing.T) {
	t.Parallel()
	a := strings.Repeat("a", 1000) + "x" + strings.Repeat("c", 1000)
	b := strings.Repeat("a", 1000) + "y" + strings.Repeat("c", 999)
	message := firstDifference(a, b)
	for _, want := range []string{"2001 bytes", "want 2000", "byte 1000", "ax", "ay"} {
		if !strings.Contains(message, want) {
			t.Errorf("message lacks %q: %s", want, message)
		}
	}
	if len(message) > 400 || len(clip(a)) > 400 {
		t.Errorf("messages of %d and %d bytes print the payload", len(message), len(clip(a)))
	}
	version := "1.0.0"
	item := provider.StartOrchestrationItem{Instance: "A", Version: &version}
	if text := render(item); !strings.Contains(text, version) {
		t.Errorf("render does not follow pointers: %s", text)
	}
}

// An empty carry-forward list equals none, for the wire form cannot tell them
// apart; nothing else is taken as equal.
func TestNormalForms(t *testing.T) {
	t.Parallel()
	empty := provider.ContinueAsNewItem{Instance: "A", CarryForwardEvents: []provider.CarriedMessage{}}
	if got := normalItem(empty); !reflect.DeepEqual(got, provider.ContinueAsNewItem{Instance: "A"}) {
		t.Errorf("normalItem: %s", render(got))
	}
	for _, kind := range kinds() {
		if got := normalKind(kind); !reflect.DeepEqual(got, kind) {
			t.Errorf("normalKind changes %s to %s", render(kind), render(got))
		}
	}
	if fmt.Sprint(eventIDs([]provider.Event{{EventID: 3}, {EventID: 1}})) != "[3 1]" {
		t.Error("eventIDs sorts")
	}
}

// The watch on the store hides that it is a provider.Store: env.full asks the store itself, or the scenarios would all
// be skipped.
func TestStoreItselfIsAsked(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, assertion := range []string{"e.p" + ".(", "e.admin()" + ".("} {
			if strings.Contains(string(text), assertion) {
				t.Errorf("%s asserts %s…): use full", file, assertion)
			}
		}
	}
}
