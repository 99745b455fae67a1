package provider

import (
	"context"
	"errors"
)

// ProgressReader is an optional interface of a store that tells how far many instances
// are, in one call that changes nothing (§5.25). By it all who wait in a process ask
// together, and have what an instance has ended with as soon as they know that it has.
type ProgressReader interface {
	// ReadProgress returns how far each instance is, in the order of the argument, which
	// may name one twice. What is wrong with one of them, such as an event that cannot be
	// decoded, is in its [Progress].Err.
	ReadProgress(ctx context.Context, instances []string) ([]Progress, error)
}

// Progress is how far an instance is.
type Progress struct {
	// Use is who uses the id, nil for nobody.
	Use *IDUse
	// CustomStatusVersion grows with each change of the custom status, from 0.
	CustomStatusVersion uint64
	// CustomStatus is the custom status of an instance that has ended, nil for none.
	CustomStatus *string
	// History holds the first and the last event of the latest execution, or all of its
	// events, if the instance has ended. Otherwise it is empty.
	History []Event
	// Err is why the rest is not known. It matches [ErrCorrupt].
	Err error
}

// Ended reports whether the instance has completed or failed.
func (p Progress) Ended() bool { return p.Use != nil && p.Use.Status.Ended() }

// ReadProgress asks the store how far instances are, see [ProgressReader]. A store that is
// none is asked for one after the other.
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
