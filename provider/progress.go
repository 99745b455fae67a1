package provider

import (
	"context"
	"errors"
)

// ProgressReader is an optional interface of a store that reports how far many instances are, in one read-only call
// (§5.25). With it, all waits of a process can share one call, which also returns the results of instances that have
// ended.
type ProgressReader interface {
	// ReadProgress returns how far each instance is, in the order of the argument, which may name one twice. A
	// problem with one of them, such as an event that cannot be decoded, is in its [Progress].Err.
	ReadProgress(ctx context.Context, instances []string) ([]Progress, error)
}

// Progress is how far an instance is.
type Progress struct {
	// Use describes what uses the id, nil if nothing does.
	Use *IDUse
	// CustomStatusVersion grows with each change of the custom status, from 0.
	CustomStatusVersion uint64
	// CustomStatus is the custom status of an instance that has ended, nil for none.
	CustomStatus *string
	// History holds the first and the last event of the latest execution, or all of its
	// events, if the instance has ended. Otherwise it is empty.
	History []Event
	// Err says why the other fields are not known. It matches [ErrCorrupt].
	Err error
}

// Ended reports whether the instance has completed or failed.
func (p Progress) Ended() bool { return p.Use != nil && p.Use.Status.Ended() }

// ReadProgress returns how far instances are, see [ProgressReader]. A store that is not a ProgressReader is asked for
// one instance after the other.
func ReadProgress(ctx context.Context, store Provider, instances []string) ([]Progress, error) {
	if reader, ok := store.(ProgressReader); ok {
		return reader.ReadProgress(ctx, instances)
	}
	list := make([]Progress, len(instances))
	for i, instance := range instances {
		p, err := progressOf(ctx, store, instance)
		switch {
		case errors.Is(err, ErrCorrupt):
			p.Err = err
		case err != nil:
			return nil, err
		}
		list[i] = p
	}
	return list, nil
}

// progressOf asks a store that is no [ProgressReader].
func progressOf(ctx context.Context, store Provider, instance string) (p Progress, err error) {
	if _, knows := store.(InstanceStarter); knows || store.Admin() != nil {
		p.Use, err = FindInstance(ctx, store, instance)
	} else if p.History, err = store.Read(ctx, instance); err == nil {
		p.Use = useOf(p.History)
	}
	if err != nil || p.Use == nil || !p.Use.Begun() {
		return p, err
	}
	custom, err := store.GetCustomStatus(ctx, instance, 0)
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
		p.History, err = store.Read(ctx, instance)
	}
	return p, err
}
