package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/provider"
)

// hall is a store whose instances run, but for one that has completed and one that was deleted
// meanwhile.
type hall struct {
	provider.Store // nil: nothing else is asked
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

// A list shows what is held as held, unless it has ended meanwhile.
func TestListShowsWhatIsHeld(t *testing.T) {
	t.Parallel()
	held := []provider.HeldInstance{{InstanceID: "b"}, {InstanceID: "elsewhere"}, {InstanceID: "ended"}}
	for _, test := range []struct {
		list []string
		want string
	}{
		{list: []string{"a", "b", "ended", "gone", "c"}, want: "a Running, b Held, ended Completed, c Running"},
		{list: []string{"ended", "gone"}, want: "ended Completed"},
		{list: nil},
	} {
		infos, err := session{store: &hall{}}.infos(t.Context(), test.list, held)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, info := range infos {
			got = append(got, fmt.Sprint(info.InstanceID, " ", info.Status))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%v: %q, want %q", test.list, got, test.want)
		}
	}
}
