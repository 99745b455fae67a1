package worker_test

import (
	"context"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/adapt"
)

// named makes a full store of a decorator that has only the plain contract. Combined calls go through the decorator, as
// package adapt makes them. Everything else, such as what is known of code, is that of the store below it.
func named(decorator, below provider.Provider) provider.Store {
	return namedStore{adapt.Store(decorator), rest{below.(provider.Store)}, decorator}
}

type namedStore struct {
	combined
	rest
	decorator provider.Provider
}

// FetchOrchestrationItem also asks for unknown code, which package adapt asks no plain store for.
func (s namedStore) FetchOrchestrationItem(ctx context.Context, params provider.FetchOrchestrationParams) (*provider.FetchedOrchestration, error) {
	return s.decorator.FetchOrchestrationItem(ctx, params)
}

// FetchWorkItem is as FetchOrchestrationItem.
func (s namedStore) FetchWorkItem(ctx context.Context, params provider.FetchWorkParams) (*provider.FetchedWorkItem, error) {
	return s.decorator.FetchWorkItem(ctx, params)
}

// combined are the calls that go through the decorator.
type combined interface {
	provider.Provider
	Claim(ctx context.Context, params provider.ClaimParams) (provider.Claimed, error)
	AckTurnAndClaim(ctx context.Context, ack provider.AckOrchestrationParams, params provider.ClaimParams) (provider.Claimed, error)
	AckWorkAndClaim(ctx context.Context, acks []provider.WorkAck, params provider.ClaimParams) ([]error, provider.Claimed, error)
	RenewLocks(ctx context.Context, locks []provider.LockRenewal) ([]error, error)
}

// rest has the methods that combined has not.
type rest struct{ provider.Store }
