package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// unknownFor is how long no worker must have had a piece of code before the commands show
// it: by default a worker tells of it then, and fails the work at four times that age.
const unknownFor = provider.DefaultUnknownFor / 4

// unknownDocument is code that work waits for and that no worker has.
type unknownDocument struct {
	// Either Orchestration or Activity is the name, and the other is null.
	Orchestration *string `json:"orchestration"`
	// Version is null for a start of any version, and for an activity.
	Version  *string `json:"version"`
	Activity *string `json:"activity"`
	// Waiting is the number of instances or activities that wait, Since when the oldest
	// of them was ready.
	Waiting uint64 `json:"waiting"`
	Since   string `json:"since"`
	// KnownVersions are the orchestration's versions that workers have.
	KnownVersions []string `json:"known_versions"`

	moment string
}

// unknownCode lists what no worker has; nothing on a store that cannot tell.
func (s session) unknownCode(ctx context.Context) ([]unknownDocument, error) {
	documents := []unknownDocument{}
	if s.code == nil {
		return documents, nil
	}
	codes, err := s.code.UnknownCode(ctx, unknownFor)
	if err != nil {
		return nil, err
	}
	for _, code := range codes {
		document := unknownDocument{Waiting: code.Waiting, Since: instant(code.Since), moment: moment(code.Since), KnownVersions: []string{}}
		if code.Activity {
			document.Activity = &code.Name
		} else {
			document.Orchestration = &code.Name
			versions, err := s.code.KnownVersions(ctx, code.Name, provider.DefaultUnknownFor)
			if err != nil {
				return nil, err
			}
			document.KnownVersions = append(document.KnownVersions, versions...)
			if code.Version != "" {
				document.Version = &code.Version
			}
		}
		documents = append(documents, document)
	}
	return documents, nil
}

// waitsFor lists the code that an instance waits for and no worker has.
func (s session) waitsFor(ctx context.Context, info provider.InstanceInfo) ([]unknownDocument, error) {
	found := []unknownDocument{}
	if info.Status != provider.StatusRunning && info.Status != provider.StatusContinuedAsNew {
		return found, nil
	}
	codes, err := s.unknownCode(ctx)
	if err != nil || len(codes) == 0 {
		return found, err
	}
	history, err := s.admin.ReadHistory(ctx, info.InstanceID)
	if err != nil && !errors.Is(err, provider.ErrCorrupt) {
		return nil, err
	}
	activities := openActivities(history)
	for _, code := range codes {
		switch {
		case code.Activity != nil && activities[*code.Activity]:
			found = append(found, code)
		case code.Orchestration == nil || *code.Orchestration != info.OrchestrationName:
		case info.Status == provider.StatusContinuedAsNew || text(code.Version) == info.OrchestrationVersion:
			// Which version the next execution asks for is not on record.
			found = append(found, code)
		}
	}
	return found, nil
}

// openActivities are the names of the activities that a history waits for.
func openActivities(history []provider.Event) map[string]bool {
	open := map[uint64]string{}
	for _, event := range history {
		switch kind := event.Kind.(type) {
		case provider.ActivityScheduled:
			open[event.EventID] = kind.Name
		case provider.ActivityCompleted, provider.ActivityFailed, provider.ActivityCancelRequested:
			if event.SourceEventID != nil {
				delete(open, *event.SourceEventID)
			}
		}
	}
	names := map[string]bool{}
	for _, name := range open {
		names[name] = true
	}
	return names
}

// String says it in a table: orchestration Order 2.0.0, 3 waiting since 08:00, known
// versions: 1.0.0.
func (d unknownDocument) String() string {
	if d.Activity != nil {
		return fmt.Sprintf("activity %s, which no worker has; %d waiting since %s", *d.Activity, d.Waiting, d.moment)
	}
	name := *d.Orchestration
	if d.Version != nil {
		name += " " + *d.Version
	}
	known := "none"
	if len(d.KnownVersions) > 0 {
		known = strings.Join(d.KnownVersions, ", ")
	}
	return fmt.Sprintf("orchestration %s, which no worker has; %d waiting since %s; known versions: %s", name, d.Waiting, d.moment, known)
}

// unknownRows are the lines of a table.
func unknownRows(title string, codes []unknownDocument) (rows [][]string) {
	for _, code := range codes {
		rows = append(rows, []string{title, code.String()})
	}
	return rows
}
