package columns

import "github.com/duroxide/duroxide-go/provider"

// NewUse is who uses an instance id: the instance's name and status, or the work item of
// a start that waits. A status is missing where the current execution has no row, and an
// item that cannot be decoded names nothing.
func NewUse(name, status, start *string) *provider.IDUse {
	switch {
	case name != nil && status != nil:
		return &provider.IDUse{Name: *name, Status: provider.Status(*status)}
	case name != nil:
		return &provider.IDUse{Name: *name, Status: provider.StatusUnknown}
	case start == nil:
		return nil
	}
	use := &provider.IDUse{Name: provider.UnknownVersion}
	item, _ := provider.DecodeWorkItem([]byte(*start))
	switch m := item.(type) {
	case provider.StartOrchestrationItem:
		use.Name = m.Orchestration
	case provider.ContinueAsNewItem:
		use.Name = m.Orchestration
	}
	return use
}
