// Package client starts orchestrations and talks to them.
//
//	c := client.New(store, client.Options{})
//	run, err := client.Start(ctx, c, HelloCities, "hello-1", []string{"Oslo", "Lima"})
//	if err != nil {
//		return err
//	}
//	greetings, err := run.Wait(ctx)
//
// A client needs only the store and no worker: it puts starts, events and cancel requests
// into the store's queue, and a worker takes them from there.
package client

import (
	"errors"
	"sync/atomic"

	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/observed"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/adapt"
)

// Client talks to the orchestrations of one store. It holds no resources while no call waits, and is safe for
// concurrent use.
type Client struct {
	store provider.Store
	// plain is the store that the caller has given.
	plain provider.Provider
	codec *codec.Codec
	hook  hook.Hook
	// looker looks for all who wait.
	looker looker
	// toldAt is when the store last told of a change, and toldEndAt of an end, in nanoseconds since 1970.
	toldAt, toldEndAt atomic.Int64
}

// Options adjust a client. The zero value of each field means its default.
type Options struct {
	// Codec encodes payloads before they go to the store. Default nil: they stay plain. All workers and clients of a
	// store need the same codec. A payload that cannot be decoded is the error [codec.ErrNotDecoded].
	Codec *codec.Codec
	// Hook is called for starts, messages, waits and calls to the store. Default nil. See [hook.Hook].
	Hook hook.Hook
}

// New returns a client for the store. One that is not a [provider.Store] is used through package adapt, which says what
// that costs.
func New(store provider.Provider, options Options) *Client {
	full := observed.Store(adapt.Store(store), options.Hook)
	return &Client{
		plain: store, store: full, codec: options.Codec, hook: options.Hook,
		looker: looker{store: full, waits: map[*wait]struct{}{}, questions: map[*wait]struct{}{}},
	}
}

// ErrManagementNotAvailable is returned when the store has no management
// interface.
var ErrManagementNotAvailable = errors.New("the store offers no management interface")

// Admin returns the store's management interface. It applies no codec: payloads are as the store has them. Error:
// [ErrManagementNotAvailable].
func (c *Client) Admin() (provider.Admin, error) {
	if admin := c.store.Admin(); admin != nil {
		return admin, nil
	}
	return nil, ErrManagementNotAvailable
}
