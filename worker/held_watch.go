package worker

import (
	"context"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// heldWatch tells of work that no live worker can take: each piece of code, or activity with a tag, once.
type heldWatch struct {
	worker *Worker
	told   map[string]bool
}

// look tells of what has waited for QuietTime. What goes wrong is left to the next look.
func (h *heldWatch) look(ctx context.Context) {
	missing, err := h.worker.store.UnknownCode(ctx, provider.LiveFor)
	if err != nil {
		return
	}
	told := map[string]bool{}
	for _, code := range missing {
		waiting := time.Since(code.Since)
		if waiting < h.worker.options.QuietTime {
			continue
		}
		key := keyOf(code)
		if told[key] = true; !h.told[key] {
			h.tell(ctx, code, waiting)
		}
	}
	h.told = told
}

// keyOf is the same text for the same code and tag.
func keyOf(code provider.UnknownCode) string {
	return provider.UnknownCode{CodeName: code.CodeName, Activity: code.Activity, Tag: code.Tag, OtherTags: code.OtherTags}.String()
}

func (h *heldWatch) tell(ctx context.Context, code provider.UnknownCode, waiting time.Duration) {
	known := "none"
	if !code.Activity {
		if versions, err := h.worker.store.KnownVersions(ctx, code.Name, provider.LiveFor); err == nil {
			known = describeVersions(versions)
		}
	}
	h.worker.options.Logger.WarnContext(ctx, "work is held, because no live worker can take it",
		"waits_for", code.String(), "waiting", code.Waiting, "waiting_for", waiting.Round(time.Millisecond), "known_versions", known)
}
