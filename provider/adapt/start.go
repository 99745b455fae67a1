package adapt

import (
	"context"
	"errors"

	"github.com/duroxide/duroxide-go/provider"
)

// StartInstance looks whether the id is used, and then enqueues. Another start can come between the two.
func (s *store) StartInstance(ctx context.Context, start provider.StartOrchestrationItem) (*provider.IDUse, error) {
	if use, err := s.FindInstance(ctx, start.Instance); err != nil || use != nil {
		return use, err
	}
	return nil, s.EnqueueForOrchestrator(ctx, start, 0)
}

// StartInstanceWith starts, and then enqueues one message after the other. An error can come between them.
func (s *store) StartInstanceWith(
	ctx context.Context, start provider.StartOrchestrationItem, messages []provider.WorkItem, toUser bool,
) (*provider.IDUse, error) {
	use, err := s.StartInstance(ctx, start)
	if err != nil || (use != nil && !toUser) {
		return use, err
	}
	for _, message := range messages {
		if err := s.EnqueueForOrchestrator(ctx, message, 0); err != nil {
			return use, err
		}
	}
	return use, nil
}

// FindInstance finds instances that have had their first turn.
func (s *store) FindInstance(ctx context.Context, instance string) (*provider.IDUse, error) {
	if s.Admin() == nil {
		history, err := s.Read(ctx, instance)
		if err != nil {
			return nil, err
		}
		return useOf(history), nil
	}
	info, err := s.GetInstanceInfo(ctx, instance)
	if errors.Is(err, provider.ErrNotFound) {
		return nil, nil //nolint:nilnil // nobody uses the id
	}
	if err != nil {
		return nil, err
	}
	return &provider.IDUse{Name: info.OrchestrationName, Status: info.Status}, nil
}

// useOf is who uses an id with that history, nil for nobody.
func useOf(history []provider.Event) *provider.IDUse {
	if len(history) == 0 {
		return nil
	}
	use := &provider.IDUse{Name: provider.UnknownVersion, Status: provider.StatusRunning}
	for _, event := range history {
		switch k := event.Kind.(type) {
		case provider.OrchestrationStarted:
			use.Name = k.Name
		case provider.OrchestrationCompleted:
			use.Status = provider.StatusCompleted
		case provider.OrchestrationFailed:
			use.Status = provider.StatusFailed
		}
	}
	return use
}

// ReadProgress asks for one instance after the other.
func (s *store) ReadProgress(ctx context.Context, instances []string) ([]provider.Progress, error) {
	list := make([]provider.Progress, len(instances))
	for i, instance := range instances {
		p, err := s.progress(ctx, instance)
		switch {
		case errors.Is(err, provider.ErrCorrupt):
			p.Err = err
		case err != nil:
			return nil, err
		}
		list[i] = p
	}
	return list, nil
}

func (s *store) progress(ctx context.Context, instance string) (p provider.Progress, err error) {
	p.StartsHidden = true
	if s.Admin() != nil {
		p.Use, err = s.FindInstance(ctx, instance)
	} else if p.History, err = s.Read(ctx, instance); err == nil {
		p.Use = useOf(p.History)
	}
	if err != nil || p.Use == nil {
		return p, err
	}
	custom, err := s.GetCustomStatus(ctx, instance, 0)
	if err != nil {
		return p, err
	}
	if custom != nil {
		p.CustomStatusVersion = custom.Version
	}
	if !p.Ended() {
		p.History = nil
		return p, nil
	}
	if custom != nil {
		p.CustomStatus = custom.Status
	}
	if len(p.History) == 0 {
		p.History, err = s.Read(ctx, instance)
	}
	return p, err
}
