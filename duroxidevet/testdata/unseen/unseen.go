// Package unseen has what the analyser does not see: none of these lines is a finding, and the documents say so.
package unseen

import (
	"time"

	"github.com/duroxide/duroxide-go/orchestration"
)

type clock interface{ Now() time.Time }

type system struct{}

func (system) Now() time.Time { return time.Now() } // want Now:"clock"

type options struct{ now func() time.Time }

func unseen(ctx *orchestration.Context, c clock) (time.Time, error) {
	o := makeOptions()
	_ = o.now()
	f := option()
	_ = f()
	return c.Now(), nil
}

func makeOptions() options { return options{now: func() time.Time { return time.Now() }} }

func option() func() time.Time { return func() time.Time { return time.Now() } }
