package worker

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/worker/internal/turns"
)

// code is what a worker can run, as its fetches say it.
type code struct {
	orchestrations, activities *provider.KnownCode
}

// knownCode is everything that is registered, built-in activities included.
func (w *Worker) knownCode() code {
	var activities []provider.CodeName
	for name := range w.builtIn {
		activities = append(activities, provider.CodeName{Name: name})
	}
	for _, name := range w.registry.Activities() {
		activities = append(activities, provider.CodeName{Name: name})
	}
	return code{orchestrations: provider.Know(w.registry.Orchestrations()...), activities: provider.Know(activities...)}
}

// kinds of code, as sentences name them.
const (
	anOrchestration = "orchestration"
	anActivity      = "activity"
)

// describeCode is a piece of code in a sentence: orchestration "Order" version 1.0.0.
func describeCode(kind string, name provider.CodeName) string {
	text := fmt.Sprintf("%s %q", kind, name.Name)
	if turns.NamesVersion(name.Version) {
		text += " version " + name.Version
	}
	return text
}

// describeVersions lists versions in a sentence, without those that stand for none.
func describeVersions(versions []string) string {
	var texts []string
	for _, version := range versions {
		if turns.NamesVersion(version) {
			texts = append(texts, version)
		}
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
