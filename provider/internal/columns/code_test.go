package columns

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

func TestCode(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("😀", provider.MaxCodeNameLength/2)
	for _, test := range []struct {
		name, version string
		want          *provider.CodeName
	}{
		{"Order", "1.0.0", &provider.CodeName{Name: "Order", Version: "1.0.0"}},
		{"Order", "", &provider.CodeName{Name: "Order"}},
		{"Order", "0.0.0", &provider.CodeName{Name: "Order"}},
		{"Order", "unknown", &provider.CodeName{Name: "Order"}},
		{"", "", &provider.CodeName{}},
		{"a\xff", "\xfe", &provider.CodeName{Name: "a\ufffd", Version: "\ufffd"}},
		{longest, longest, &provider.CodeName{Name: longest, Version: longest}},
		{longest + "a", "", nil},
		{"Order", longest + "a", nil},
	} {
		if diff := cmp.Diff(test.want, Code(test.name, test.version)); diff != "" {
			t.Errorf("%.10q %.10q: %s", test.name, test.version, diff)
		}
	}
}

func TestKnownNames(t *testing.T) {
	t.Parallel()
	known := provider.Know(
		provider.CodeName{Name: "Order", Version: "0.0.0"}, provider.CodeName{Name: "Order", Version: "2.0.0"},
		provider.CodeName{Name: strings.Repeat("a", provider.MaxCodeNameLength+1)},
	)
	want := []provider.CodeName{{Name: "Order"}, {Name: "Order", Version: "2.0.0"}}
	if diff := cmp.Diff(want, KnownNames(known)); diff != "" {
		t.Error(diff)
	}
}

func TestItemsTellTheirCode(t *testing.T) {
	t.Parallel()
	version := "1.0.0"
	for _, test := range []struct {
		item provider.WorkItem
		want *provider.CodeName
	}{
		{provider.StartOrchestrationItem{Instance: "i", Orchestration: "Order"}, &provider.CodeName{Name: "Order"}},
		{provider.ContinueAsNewItem{Instance: "i", Orchestration: "Order", Version: &version}, &provider.CodeName{Name: "Order", Version: version}},
		{provider.ExternalRaisedItem{Instance: "i", Name: "Order"}, nil},
	} {
		m, err := NewMessage("test", test.item)
		if diff := cmp.Diff(test.want, m.Code); diff != "" || err != nil {
			t.Errorf("%T: %v %s", test.item, err, diff)
		}
	}
	w, err := NewWork("test", provider.ActivityExecuteItem{Instance: "i", Name: "Charge"})
	if diff := cmp.Diff(&provider.CodeName{Name: "Charge"}, w.Code); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}
