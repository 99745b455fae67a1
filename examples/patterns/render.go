package patterns

import (
	"context"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/orchestration"
)

// The steps of a Render. Download puts a film on the disk of its worker, where the others
// expect it; Encode needs a worker with the tag "gpu".
var (
	Download = activity.New("Download", func(_ context.Context, film string) (string, error) { return "/tmp/" + film, nil })
	Cut      = activity.New("Cut", func(_ context.Context, path string) (string, error) { return path + ".cut", nil })
	Encode   = activity.New("Encode", func(_ context.Context, path string) (string, error) { return path + ".mp4", nil })
)

// Render keeps all steps on one worker by a session: the worker that has begun it gets the
// others, for as long as it lives.
var Render = orchestration.New("Render", func(ctx *orchestration.Context, film string) (string, error) {
	session := orchestration.InSession(ctx.Info().Instance)
	path, err := orchestration.Activity(ctx, Download, film, session).Await()
	if err != nil {
		return "", err
	}
	if path, err = orchestration.Activity(ctx, Cut, path, session).Await(); err != nil {
		return "", err
	}
	return orchestration.Activity(ctx, Encode, path, session, orchestration.WithTag("gpu")).Await()
})
