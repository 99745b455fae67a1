package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/provider"
)

// sampling is what `history --into` writes.
type sampling struct {
	folder string
	// each is how many instances of one orchestration, version and status.
	each int
}

// maxLookedAt bounds the instances of one status that are looked at for a sample.
const maxLookedAt = 10_000

func (s sampling) check(cmd *cobra.Command, asJSON bool, args []string) error {
	switch {
	case s.folder == "" && len(args) != 1:
		return usageError{cmd, fmt.Errorf("needs exactly one instance id, not %d; a sample of all instances needs --into", len(args))}
	case s.folder != "" && (asJSON || cmd.Flags().Changed("execution") || cmd.Flags().Changed("data")):
		return usageError{cmd, errors.New("--into writes all of the latest executions as JSON, so leave --json, --execution and --data out")}
	case s.folder == "" && cmd.Flags().Changed("each"):
		return usageError{cmd, errors.New("--each needs --into")}
	case s.each < 1:
		return usageError{cmd, errors.New("--each must be at least 1")}
	}
	return nil
}

// sample writes the histories of these instances, or of a sample of all, into a folder.
func (a *app) sample(ctx context.Context, s session, wanted sampling, instances []string) error {
	infos, err := s.chosen(ctx, instances, wanted.each, statuses...)
	if err == nil {
		err = os.MkdirAll(wanted.folder, 0o750)
	}
	if err != nil {
		return err
	}
	written := 0
	for _, info := range infos {
		ok, err := s.writeHistory(ctx, wanted.folder, info)
		if err != nil {
			return err
		}
		if ok {
			written++
		}
	}
	a.screen.Printf("%s in %s.\n", histories(written), wanted.folder)
	return nil
}

func histories(n int) string {
	if n == 1 {
		return "1 history"
	}
	return fmt.Sprintf("%d histories", n)
}

// chosen are these instances, or without any, a sample.
func (s session) chosen(ctx context.Context, instances []string, each int, among ...provider.Status) ([]provider.InstanceInfo, error) {
	if len(instances) == 0 {
		return s.choose(ctx, each, among)
	}
	var infos []provider.InstanceInfo
	for _, instance := range instances {
		info, err := s.lookUp(ctx, instance)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// choose finds the newest instances of each orchestration, version and status.
func (s session) choose(ctx context.Context, each int, among []provider.Status) ([]provider.InstanceInfo, error) {
	type kind struct{ name, version, status string }
	var chosen []provider.InstanceInfo
	count := map[kind]int{}
	for _, status := range among {
		ids, _, err := s.ids(ctx, status, nil, maxLookedAt)
		if err != nil {
			return nil, err
		}
		for _, id := range ids[:min(len(ids), maxLookedAt)] {
			info, err := s.store.GetInstanceInfo(ctx, id)
			if errors.Is(err, provider.ErrNotFound) {
				continue // deleted meanwhile
			}
			if err != nil {
				return nil, err
			}
			k := kind{info.OrchestrationName, info.OrchestrationVersion, string(status)}
			if count[k]++; count[k] <= each {
				chosen = append(chosen, info)
			}
		}
	}
	return chosen, nil
}

// writeHistory writes the latest execution; ok is false for an instance that has none any more.
func (s session) writeHistory(ctx context.Context, folder string, info provider.InstanceInfo) (ok bool, err error) {
	events, err := s.store.ReadHistoryWithExecutionID(ctx, info.InstanceID, info.CurrentExecutionID)
	if err != nil || len(events) == 0 {
		return false, err
	}
	executions, err := s.store.ListExecutions(ctx, info.InstanceID)
	if err != nil {
		return false, err
	}
	data, err := json.MarshalIndent(historyDocument{info.InstanceID, info.CurrentExecutionID, executions, events}, "", "  ")
	if err != nil {
		return false, err
	}
	return true, os.WriteFile(filepath.Join(folder, fileName(info)+".json"), append(data, '\n'), 0o600)
}

// fileName names the file of an instance, with what a name may hold on any system. If that is not
// all, or if a system that folds letters could take it for the name of another instance, it ends
// in a number that tells them apart.
func fileName(info provider.InstanceInfo) string {
	text := fmt.Sprintf("%s-%s-%s", info.OrchestrationName, info.OrchestrationVersion, info.InstanceID)
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, text)
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "")
	}
	folds := strings.ContainsFunc(info.InstanceID, func(r rune) bool { return r > unicode.MaxASCII || unicode.IsUpper(r) })
	if name == text && !folds {
		return name
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(text)) // never fails
	return fmt.Sprintf("%s-%08x", name, hash.Sum32())
}
