package value_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

func collation(t testing.TB, name string) *value.Collation {
	t.Helper()
	c, ok := value.CollationByName(name)
	if !ok {
		t.Fatalf("no collation %s", name)
	}
	return c
}

func TestLike(t *testing.T) {
	t.Parallel()
	const (
		ci   = "SQL_Latin1_General_CP1_CI_AS"
		cs   = "Latin1_General_100_CS_AS"
		bin2 = "Latin1_General_100_BIN2"
		sc   = "Latin1_General_100_CI_AS_SC"
		ai   = "Latin1_General_100_CI_AI"
	)
	tests := []struct {
		text, pattern string
		escape        rune
		collation     string
		want          bool
	}{
		{"abc", "abc", 0, bin2, true},
		{"abc", "ABC", 0, bin2, false},
		{"abc", "ABC", 0, ci, true},
		{"abc", "ABC", 0, cs, false},
		{"abc", "a%", 0, bin2, true},
		{"abc", "%c", 0, bin2, true},
		{"abc", "%b%", 0, bin2, true},
		{"abc", "%", 0, bin2, true},
		{"", "%", 0, bin2, true},
		{"", "_", 0, bin2, false},
		{"", "", 0, bin2, true},
		{"abc", "a_c", 0, bin2, true},
		{"abc", "a_", 0, bin2, false},
		{"aXbXc", "a%X%c", 0, bin2, true},
		{"aaab", "%aab", 0, bin2, true},
		{"abcabd", "%ab_", 0, bin2, true},
		{"b", "[a-c]", 0, bin2, true},
		{"B", "[a-c]", 0, bin2, false},
		{"B", "[a-c]", 0, ci, true},
		{"d", "[a-c]", 0, ci, false},
		{"d", "[^a-c]", 0, ci, true},
		{"é", "[a-f]", 0, ci, true},
		{"é", "[a-f]", 0, bin2, false},
		{"e", "é", 0, ci, false},
		{"e", "É", 0, ai, true},
		{"-", "[a-]", 0, bin2, true},
		{"%", "[%]", 0, bin2, true},
		{"a", "[%]", 0, bin2, false},
		{"[", "[[]", 0, bin2, true},
		{"]", "]", 0, bin2, true},
		{"a", "[a", 0, bin2, false},
		{"5%", "5!%", '!', bin2, true},
		{"5x", "5!%", '!', bin2, false},
		{"5!", "5!!", '!', bin2, true},
		{"5", "5!", '!', bin2, false},
		{"a]", "a[!]]", '!', bin2, true},
		// Trailing blanks of nvarchar count, in the text and in the pattern.
		{"abc ", "abc", 0, bin2, false},
		{"abc", "abc ", 0, bin2, false},
		{"abc ", "abc%", 0, bin2, true},
		// A character outside the basic plane is two, unless the collation knows better.
		{"😀", "_", 0, ci, false},
		{"😀", "__", 0, ci, true},
		{"😀", "_", 0, sc, true},
		{"😀", "😀", 0, bin2, true},
		{"😀", "😁", 0, sc, false},
	}
	for _, test := range tests {
		got, err := value.Like(test.text, test.pattern, test.escape, collation(t, test.collation))
		if err != nil || got != test.want {
			t.Errorf("%q LIKE %q ESCAPE %q COLLATE %s = %v, %v", test.text, test.pattern, test.escape, test.collation, got, err)
		}
	}
	if !value.CompileLike("abc", 0, nil).Match("abc  ", false) {
		t.Error("trailing blanks of varchar count")
	}
}
