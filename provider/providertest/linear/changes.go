package linear

import (
	"fmt"
	"slices"

	"github.com/duroxide/duroxide-go/provider"
)

// appendEvents is AppendWithExecution.
type appendEvents struct {
	instance  string
	execution uint64
	events    []event
}

func (a *appendEvents) objects() []string   { return []string{a.instance} }
func (*appendEvents) effects(c *Call) Parts { return unlessFailed(c, Histories) }
func (a *appendEvents) describe() (_, _ string) {
	return fmt.Sprintf("append to %s, execution %d: %s", a.instance, a.execution, eventsText(a.events)), "ok"
}

func (a *appendEvents) apply(s *State, c *Call) string {
	taken := s.checks(Histories) && s.at(a.instance).has(a.execution, a.events)
	switch {
	case c.is(provider.ErrDuplicateEvent) && !taken && s.checks(Histories):
		return "there is no such event yet"
	case c.is(provider.ErrDuplicateEvent):
		return ""
	case c.err != nil && !c.lost():
		return whyNoSuchError
	case taken:
		return "there is such an event already"
	}
	s.change(a.instance).add(a.execution, a.events)
	return ""
}

// deleteInstance is DeleteInstance.
type deleteInstance struct {
	instance string
	force    bool
	deleted  provider.DeleteInstanceResult
}

func (d *deleteInstance) objects() []string   { return []string{d.instance} }
func (*deleteInstance) effects(c *Call) Parts { return unlessFailed(c, everything) }

func (d *deleteInstance) describe() (call, answer string) {
	call = "delete " + d.instance
	if d.force {
		call += " by force"
	}
	return call, fmt.Sprintf("%d instances, %d events, %d messages", d.deleted.InstancesDeleted, d.deleted.EventsDeleted, d.deleted.QueueMessagesDeleted)
}

func (d *deleteInstance) apply(s *State, c *Call) string {
	root := s.at(d.instance)
	tree := s.tree(d.instance)
	running := false
	for _, id := range tree {
		running = running || (s.at(id).known && s.at(id).status() == provider.StatusRunning)
	}
	want := error(nil)
	switch {
	case !root.known:
		want = provider.ErrNotFound
	case root.parent != "":
		want = provider.ErrSubOrchestration
	case running && !d.force:
		want = provider.ErrStillRunning
	}
	switch {
	case want != nil && (c.lost() || c.is(want) || !s.checks(Instances|Histories)):
		return ""
	case want != nil:
		return "the answer is: " + want.Error()
	case c.err != nil && !c.lost():
		return "nothing keeps it from being deleted"
	}
	if why := d.counts(s, tree); why != "" && !c.lost() {
		return why
	}
	for _, id := range tree {
		delete(s.instances, id)
	}
	return ""
}

// counts compares what was deleted.
func (d *deleteInstance) counts(s *State, tree []string) string {
	var want provider.DeleteInstanceResult
	for _, id := range tree {
		i := s.at(id)
		if i.known {
			want.InstancesDeleted++
		}
		for _, e := range i.executions {
			want.EventsDeleted += uint64(len(e.events))
			if e.status != "" {
				want.ExecutionsDeleted++
			}
		}
		want.QueueMessagesDeleted += uint64(len(i.messages) + len(i.works))
	}
	switch {
	case s.checks(Instances) && d.deleted.InstancesDeleted != want.InstancesDeleted:
		return fmt.Sprintf("there are %d instances", want.InstancesDeleted)
	case s.checks(Histories) && d.deleted.EventsDeleted != want.EventsDeleted:
		return fmt.Sprintf("there are %d events", want.EventsDeleted)
	case s.checks(Histories) && d.deleted.ExecutionsDeleted != want.ExecutionsDeleted:
		return fmt.Sprintf("there are %d executions", want.ExecutionsDeleted)
	case s.checks(Messages|Activities) && d.deleted.QueueMessagesDeleted != want.QueueMessagesDeleted:
		return fmt.Sprintf("there are %d messages and activities", want.QueueMessagesDeleted)
	}
	return ""
}

// tree is an instance with all its descendants.
func (s *State) tree(root string) []string {
	tree := []string{root}
	for at := 0; at < len(tree); at++ {
		for id, i := range s.instances {
			if i.known && i.parent == tree[at] && !slices.Contains(tree, id) {
				tree = append(tree, id)
			}
		}
	}
	return tree
}
