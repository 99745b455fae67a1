package fault_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
)

func TestNew(t *testing.T) {
	t.Parallel()
	e := fault.New(245, "varchar", "x", "int")
	if e.Number != 245 || e.Class != 16 || e.State != 1 || e.Scope != fault.Abort || !e.Dooms ||
		e.Error() != "Msg 245: Conversion failed when converting the varchar value 'x' to data type int." {
		t.Errorf("%+v", e)
	}
	if e = fault.New(8134).WithState(3); e.State != 3 || e.Scope != fault.Statement || e.Dooms {
		t.Errorf("%+v", e)
	}
	if e = fault.New(fault.Unsupported, "100% of it"); e.Message != "100% of it" {
		t.Errorf("%+v", e)
	}
	defer func() {
		if recover() == nil {
			t.Error("a number that is not in the table does not panic")
		}
	}()
	fault.New(1)
}

// What clients and the runtime's classification rely on.
func TestEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		number int32
		class  uint8
		scope  fault.Scope
	}{
		{102, 15, fault.Module},
		{208, 16, fault.Module},
		{2812, 16, fault.Statement},
		{515, 16, fault.Statement},
		{547, 16, fault.Statement},
		{2601, 14, fault.Statement},
		{2627, 14, fault.Statement},
		{1205, 13, fault.Abort},
		{1222, 16, fault.Statement},
		{3960, 16, fault.Abort},
		{8115, 16, fault.Statement},
		{8152, 16, fault.Statement},
		{2628, 16, fault.Statement},
		{3621, 0, fault.Statement},
		{18456, 14, fault.Connection},
		{229, 14, fault.Statement},
		{241, 16, fault.Abort},
		{1934, 16, fault.Statement},
		{8622, 16, fault.Module},
		{5701, 10, fault.Statement},
	}
	for _, test := range tests {
		class, _, ok := fault.Text(test.number)
		if !ok || class != test.class {
			t.Errorf("%d: class %d, %v", test.number, class, ok)
		}
		if e := fault.New(test.number); e.Scope != test.scope {
			t.Errorf("%d ends %d, want %d", test.number, e.Scope, test.scope)
		}
	}
}

// The table is sorted, each row is in the right file, and its classes and formats are ones that there are.
func TestTable(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("numbers_*.go")
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	row := regexp.MustCompile(`(?m)^\t(\d+):\s+\{(\d+),`)
	verb := regexp.MustCompile(`%(?:s|d|v|x|02X|04X|04x)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		last := -1
		for _, m := range row.FindAllStringSubmatch(string(text), -1) {
			number, _ := strconv.Atoi(m[1])
			if number <= last {
				t.Errorf("%s: %d stands after %d", file, number, last)
			}
			last = number
			class, format, ok := fault.Text(int32(number))
			if !ok || strconv.Itoa(int(class)) != m[2] || class > 25 {
				t.Errorf("%s: %d is not found, or of class %d", file, number, class)
			}
			if rest := verb.ReplaceAllString(format, ""); regexp.MustCompile(`%`).MatchString(rest) || format == "" {
				t.Errorf("%s: %d: %s", file, number, format)
			}
		}
	}
}
