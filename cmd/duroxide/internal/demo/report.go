package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/timeline"
)

// report prints what has come of it all, and proves it.
func (s *show) report(ctx context.Context) error {
	final, err := ReadRecord(ctx, s.client, s.instances)
	if err != nil {
		return err
	}
	s.timelines(final)
	s.totals(final)
	problems := append(final.Problems(s.calls), final.Changed(s.killed)...)
	if before, after := s.killed.Events(), final.Events(); before == 0 || before >= after {
		problems = append(problems, fmt.Sprintf("the worker was killed after %d of %d events, not in the middle", before, after))
	}
	if len(problems) > 0 {
		return errors.New("the demo's check failed:\n  " + strings.Join(problems, "\n  "))
	}
	s.Screen.Printf("\n%s\n", s.Screen.Good(
		"Checked: every orchestration ended once with the right result, no event was lost or changed,\n"+
			"and no activity's result was counted twice."))
	return nil
}

// timelines prints every history, with a line where the worker was killed.
func (s *show) timelines(final Record) {
	for _, e := range final.Executions {
		s.Screen.Printf("\n%s", s.Screen.Bold(e.Instance))
		if e.ID > 1 {
			s.Screen.Printf(", execution %d", e.ID)
		}
		s.Screen.Printf("\n")
		options := timeline.Options{Data: true, Fold: true}
		if before := len(s.killed.Histories[e]); before > 0 && before < len(final.Histories[e]) {
			options.Cuts = []timeline.Cut{{Events: before, Text: fmt.Sprintf(
				"worker 1 was killed; worker 2 replays the %d events above and goes on", before)}}
		}
		timeline.Write(s.Screen, final.Histories[e], options)
	}
	s.Screen.Printf("\n")
}

// totals prints the sums.
func (s *show) totals(final Record) {
	begun := 0
	for _, n := range s.calls {
		begun += n
	}
	for _, row := range []struct {
		count int
		what  string
	}{
		{final.Instances(), "orchestrations completed, sub-orchestrations included"},
		{len(final.Executions), "executions, since one of them continued as new"},
		{final.Events(), "events on record"},
		{s.killed.Events(), "of them were on record when worker 1 was killed, and are unchanged"},
		{begun, "activity runs begun"},
		{final.Results(), "activity results counted"},
		{begun - final.Results(), "activities begun again, because the kill cut them off"},
		{len(s.workers) - 1, "restart of the worker"},
	} {
		s.Screen.Printf("%7d  %s\n", row.count, row.what)
	}
	s.Screen.Printf("%7.1f  seconds\n", time.Since(s.began).Seconds())
}
