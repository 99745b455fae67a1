package columns

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// What stands for no version, what is compared, and what is too long for that.
func TestNewCode(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("😀", provider.MaxCodeNameLength/2) // two UTF-16 units each
	for _, c := range []struct {
		name, version string
		want          *provider.CodeName
	}{
		{"A", "1.0.0", &provider.CodeName{Name: "A", Version: "1.0.0"}},
		{"A ", "", &provider.CodeName{Name: "A "}},
		{"A", "0.0.0", &provider.CodeName{Name: "A"}},
		{"A", provider.UnknownVersion, &provider.CodeName{Name: "A"}},
		{"A\xff", "", &provider.CodeName{Name: "A\uFFFD"}},
		{"", "", &provider.CodeName{}},
		{long, long, &provider.CodeName{Name: long, Version: long}},
		{long + "x", "", nil},
		{"A", long + "x", nil},
		{"A\x00", "", nil},
		{"A", "1\x00", nil},
	} {
		if diff := cmp.Diff(c.want, NewCode(c.name, c.version)); diff != "" {
			t.Errorf("NewCode(%q, %q) (-want +got):\n%s", c.name, c.version, diff)
		}
	}
}

// A set holds what can be selected by, each name also without a version.
func TestCodes(t *testing.T) {
	t.Parallel()
	known := provider.Know(provider.CodeName{Name: "A", Version: "1.0.0"}, provider.CodeName{Name: strings.Repeat("x", 401)})
	want := []provider.CodeName{{Name: "A"}, {Name: "A", Version: "1.0.0"}}
	if diff := cmp.Diff(want, Codes(known)); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
}

// What is queued says what code it needs.
func TestCodeOfItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		item provider.WorkItem
		want *provider.CodeName
	}{
		{provider.StartOrchestrationItem{Instance: "i", Orchestration: "A"}, &provider.CodeName{Name: "A"}},
		{provider.StartOrchestrationItem{Instance: "i", Orchestration: "A", Version: new("2.0.0")}, &provider.CodeName{Name: "A", Version: "2.0.0"}},
		{provider.ContinueAsNewItem{Instance: "i", Orchestration: "A", Version: new("3.0.0")}, &provider.CodeName{Name: "A", Version: "3.0.0"}},
		{provider.CancelInstanceItem{Instance: "i"}, &provider.CodeName{Name: CancelCode}},
		{provider.ExternalRaisedItem{Instance: "i"}, nil},
	} {
		m, err := NewMessage("test", c.item, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, m.Code); diff != "" {
			t.Errorf("code of %+v (-want +got):\n%s", c.item, diff)
		}
	}
	work, err := NewWork("test", provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "Charge"}, 0)
	if err != nil || work.Code == nil || *work.Code != (provider.CodeName{Name: "Charge"}) {
		t.Errorf("code of an activity: %+v, %v", work.Code, err)
	}
}
