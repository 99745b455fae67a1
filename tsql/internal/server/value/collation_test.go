package value_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

func TestCollationByName(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, want string }{
		{"sql_latin1_general_cp1_ci_as", "SQL_Latin1_General_CP1_CI_AS"},
		{"LATIN1_GENERAL_100_BIN2", "Latin1_General_100_BIN2"},
		{"Latin1_General_BIN", "Latin1_General_BIN"},
		{"Latin1_General_100_CI_AS_KS_WS_SC_UTF8", "Latin1_General_100_CI_AS_KS_WS_SC_UTF8"},
		{"Latin1_General_100_BIN2_UTF8", "Latin1_General_100_BIN2_UTF8"},
		{"Finnish_Swedish_CI_AS", "Finnish_Swedish_CI_AS"},
		{"Latin1_General", ""},
		{"Latin1_General_CI", ""},
		{"Latin1_General_CI_AS_SC", ""}, // needs version 90
		{"Latin1_General_CI_AS_UTF8", ""},
		{"Latin1_General_100_CI_AS_UTF8", ""}, // needs _SC
		{"SQL_Latin1_General_CP1_BIN2", ""},
		{"Latin1_General_BIN2_CI_AS", ""},
		{"nonsense", ""},
		{"", ""},
	}
	for _, test := range tests {
		c, ok := value.CollationByName(test.name)
		if ok != (test.want != "") || ok && c.Name != test.want {
			t.Errorf("%s: %v, %v", test.name, c, ok)
		}
		if again, _ := value.CollationByName(test.name); again != c {
			t.Errorf("%s: there are two", test.name)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	x, y := collation(t, "Latin1_General_BIN2"), collation(t, "Latin1_General_CI_AS")
	literal := value.Labelled{Collation: y}
	columnX, columnY := value.Labelled{Collation: x, Label: value.Implicit}, value.Labelled{Collation: y, Label: value.Implicit}
	collateX, collateY := value.Labelled{Collation: x, Label: value.Explicit}, value.Labelled{Collation: y, Label: value.Explicit}
	none := value.Labelled{Collation: x, Label: value.NoCollation, Other: y}
	const conflict = `Msg 468: Cannot resolve the collation conflict between "Latin1_General_CI_AS" and "Latin1_General_BIN2" in the equal to operation.`
	tests := []struct {
		a, b       value.Labelled
		want       value.Labelled
		err        string
		comparison string
	}{
		{literal, literal, literal, "", ""},
		{literal, columnX, columnX, "", ""},
		{columnX, literal, columnX, "", ""},
		{columnX, columnX, columnX, "", ""},
		{columnX, columnY, none, "", conflict},
		{columnX, collateY, collateY, "", ""},
		{none, literal, none, "", conflict},
		{none, columnX, none, "", conflict},
		{none, collateX, collateX, "", ""},
		{collateX, collateY, value.Labelled{}, conflict, conflict},
		{collateX, collateX, collateX, "", ""},
	}
	for i, test := range tests {
		got, err := value.Resolve(test.a, test.b)
		if got != test.want || message(err) != test.err {
			t.Errorf("row %d: %v, %v", i, got, err)
		}
		c, err := value.ResolveComparison("equal to", test.a, test.b)
		if message(err) != test.comparison || err == nil && c != test.want.Collation {
			t.Errorf("row %d: %v, %v", i, c, err)
		}
	}
	_, err := none.Need("add", "SELECT", 2)
	if got := message(err); got != `Msg 451: Cannot resolve collation conflict between "Latin1_General_BIN2" and "Latin1_General_CI_AS" in add operator occurring in SELECT statement column 2.` {
		t.Error(got)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
