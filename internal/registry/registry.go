// Package registry holds the orchestrations and activities a worker can run, by
// name and version (contract §7.15).
package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/internal/replay"
	"github.com/duroxide/duroxide-go/provider"
)

// DefaultVersion is the version of an orchestration registered without one.
const DefaultVersion = "1.0.0"

// ErrInvalid is a registration that cannot be accepted.
var ErrInvalid = errors.New("invalid registration")

// Nil is the error for a definition that is nil, at a place among several.
func Nil(place, of int) error {
	return fmt.Errorf("definition %d of %d is nil: %w", place+1, of, ErrInvalid)
}

// ActivityFunc is an activity on opaque texts.
type ActivityFunc func(ctx context.Context, input string) (string, error)

// Definition is something a worker can register. Only types that embed an [Entry] are definitions.
type Definition interface {
	entry() Entry
}

// Entry makes the type that embeds it a [Definition], and hides from users how it is registered.
type Entry struct {
	add func(r *Registry) error
}

// NewEntry returns an entry that add registers.
func NewEntry(add func(r *Registry) error) Entry { return Entry{add: add} }

func (e Entry) entry() Entry { return e }

// Registry maps names to handlers. It is filled before a worker starts and only
// read afterwards.
type Registry struct {
	orchestrations map[string][]version
	policies       map[string]string
	activities     map[string]ActivityFunc
}

type version struct {
	number provider.Version
	text   string
	fn     replay.Func
}

// New returns an empty registry.
func New() *Registry {
	return &Registry{
		orchestrations: map[string][]version{},
		policies:       map[string]string{},
		activities:     map[string]ActivityFunc{},
	}
}

// Add registers a definition. The zero value of a definition is none: its error matches [ErrInvalid].
func (r *Registry) Add(definition Definition) error {
	add := definition.entry().add
	if add == nil {
		return fmt.Errorf("a definition is empty; make it with New: %w", ErrInvalid)
	}
	return add(r)
}

// AddOrchestration registers a version of an orchestration. Versions of one name
// are registered in rising order.
func (r *Registry) AddOrchestration(name, text string, fn replay.Func) error {
	if err := checkName("orchestration", name); err != nil {
		return err
	}
	if fn == nil {
		return fmt.Errorf("orchestration %q has no function, register what Implement returns: %w", name, ErrInvalid)
	}
	number, err := provider.ParseVersion(text)
	if err != nil || number.String() != text {
		return fmt.Errorf("orchestration %q: version %q is not of the form major.minor.patch: %w", name, text, ErrInvalid)
	}
	versions := r.orchestrations[name]
	if n := len(versions); n > 0 && versions[n-1].number.Compare(number) >= 0 {
		return fmt.Errorf("orchestration %q: version %s is registered after %s, but versions must rise: %w",
			name, text, versions[n-1].text, ErrInvalid)
	}
	r.orchestrations[name] = append(versions, version{number: number, text: text, fn: fn})
	return nil
}

// AddActivity registers an activity.
func (r *Registry) AddActivity(name string, fn ActivityFunc) error {
	if err := checkName("activity", name); err != nil {
		return err
	}
	if strings.HasPrefix(name, SyscallPrefix) {
		return fmt.Errorf("activity %q: names that begin with %q are reserved: %w", name, SyscallPrefix, ErrInvalid)
	}
	if fn == nil {
		return fmt.Errorf("activity %q has no function, register what Implement returns: %w", name, ErrInvalid)
	}
	if _, taken := r.activities[name]; taken {
		return fmt.Errorf("activity %q is registered twice: %w", name, ErrInvalid)
	}
	r.activities[name] = fn
	return nil
}

// Pin makes new unversioned starts of an orchestration use that version instead
// of the latest.
func (r *Registry) Pin(name, text string) error {
	if !slices.ContainsFunc(r.orchestrations[name], func(v version) bool { return v.text == text }) {
		return fmt.Errorf("orchestration %q has no version %q to pin: %w", name, text, ErrInvalid)
	}
	r.policies[name] = text
	return nil
}

// Orchestration finds a handler: exactly the given version, or with an empty one
// the version that the name's policy chooses.
func (r *Registry) Orchestration(name, text string) (fn replay.Func, resolved string, ok bool) {
	versions := r.orchestrations[name]
	if len(versions) == 0 {
		return nil, "", false
	}
	if text == "" {
		text = r.policies[name]
	}
	if text == "" {
		latest := versions[len(versions)-1]
		return latest.fn, latest.text, true
	}
	for _, v := range versions {
		if v.text == text {
			return v.fn, v.text, true
		}
	}
	return nil, "", false
}

// Orchestrations lists every orchestration in every version.
func (r *Registry) Orchestrations() []provider.CodeName {
	var names []provider.CodeName
	for name, versions := range r.orchestrations {
		for _, v := range versions {
			names = append(names, provider.CodeName{Name: name, Version: v.text})
		}
	}
	return names
}

// Versions lists the versions of an orchestration, in rising order.
func (r *Registry) Versions(name string) []string {
	var texts []string
	for _, v := range r.orchestrations[name] {
		texts = append(texts, v.text)
	}
	return texts
}

// Activities lists the names of all activities.
func (r *Registry) Activities() []string { return slices.Collect(maps.Keys(r.activities)) }

// Activity finds a handler.
func (r *Registry) Activity(name string) (ActivityFunc, bool) {
	fn, ok := r.activities[name]
	return fn, ok
}

func checkName(sort, name string) error {
	if name == "" {
		return fmt.Errorf("an %s needs a name: %w", sort, ErrInvalid)
	}
	if !utf8.ValidString(name) { // histories and queues would have another
		return fmt.Errorf("%s %q: the name is not valid UTF-8: %w", sort, name, ErrInvalid)
	}
	return nil
}
