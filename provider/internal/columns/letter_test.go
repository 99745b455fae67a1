package columns

import (
	"strings"
	"testing"
)

func TestItemKind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"ActivityExecuteV2":{"instance":"i"}}`: "ActivityExecuteV2",
		` { "ExternalRaised": {`:                 "ExternalRaised",
		`{"a secret":1}`:                         "",
		`{"` + strings.Repeat("a", 200) + `":1}`: "",
		`{"":1}`:                                 "",
		`{"cut`:                                  "",
		`null`:                                   "",
		`"{x":1`:                                 "",
		"":                                       "",
	} {
		if got := ItemKind(text); got != want {
			t.Errorf("ItemKind(%q) is %q, want %q", text, got, want)
		}
	}
}
