package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// hall is the administration of a store whose instances run, but for one that has completed and one that was deleted
// meanwhile. It has no call that asks for one held instance.
type hall struct {
	provider.Admin     // nil: nothing else is asked
	provider.HeldAdmin // nil

	asked int
}

func (*hall) GetInstanceInfo(_ context.Context, id string) (provider.InstanceInfo, error) {
	info := provider.InstanceInfo{InstanceID: id, Status: provider.StatusRunning}
	switch id {
	case "ended":
		info.Status = provider.StatusCompleted
	case "gone":
		return info, provider.ErrNotFound
	}
	return info, nil
}

func (h *hall) ListHeldInstances(context.Context) ([]provider.HeldInstance, error) {
	h.asked++
	return []provider.HeldInstance{{InstanceID: "b"}, {InstanceID: "elsewhere"}, {InstanceID: "ended"}}, nil
}

// A list asks once which of its instances are held, however many run, and not at all if none does.
func TestListAsksOnceWhatIsHeld(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		list  []string
		asked int
		want  string
	}{
		{list: []string{"a", "b", "ended", "gone", "c"}, asked: 1, want: "a Running, b Held, ended Completed, c Running"},
		{list: []string{"ended", "gone"}, want: "ended Completed"},
		{list: nil},
	} {
		var h hall
		infos, err := session{admin: &h}.infos(t.Context(), test.list)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, info := range infos {
			got = append(got, fmt.Sprint(info.InstanceID, " ", info.Status))
		}
		if strings.Join(got, ", ") != test.want || h.asked != test.asked {
			t.Errorf("%v: %q after asking %d times, want %q and %d", test.list, got, h.asked, test.want, test.asked)
		}
	}
}
