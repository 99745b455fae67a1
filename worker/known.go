package worker

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
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

// placeholderVersion stands for no version in histories of early releases.
const placeholderVersion = "0.0.0"

// code is what a turn needs.
func (b begin) code() provider.CodeName {
	if !namesVersion(b.version) {
		return provider.CodeName{Name: b.started.Name}
	}
	return provider.CodeName{Name: b.started.Name, Version: b.version}
}

// namesVersion is false for the texts that stand for no version.
func namesVersion(text string) bool {
	return text != "" && text != placeholderVersion && text != provider.UnknownVersion
}

// kinds of code, as sentences name them.
const (
	anOrchestration = "orchestration"
	anActivity      = "activity"
)

// describeCode is a piece of code in a sentence: orchestration "Order" version 1.0.0.
func describeCode(kind string, name provider.CodeName) string {
	text := fmt.Sprintf("%s %q", kind, name.Name)
	if namesVersion(name.Version) {
		text += " version " + name.Version
	}
	return text
}

// describeVersions lists versions in a sentence, without those that stand for none.
func describeVersions(versions []string) string {
	var texts []string
	for _, version := range versions {
		if namesVersion(version) {
			texts = append(texts, version)
		}
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
