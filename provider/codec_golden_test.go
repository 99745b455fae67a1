package provider_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// The golden files hold the contract's own examples, and a few more forms that
// it describes without an example. They are never rewritten by a program: other
// implementations read and write the same rows.

func TestEventGolden(t *testing.T) {
	t.Parallel()
	runGolden(t, "events.golden", goldenEvents(), golden[provider.Event]{
		encode: provider.EncodeEvent, decode: provider.DecodeEvent,
	})
}

func TestWorkItemGolden(t *testing.T) {
	t.Parallel()
	runGolden(t, "workitems.golden", goldenWorkItems(), golden[provider.WorkItem]{
		encode: provider.EncodeWorkItem, decode: provider.DecodeWorkItem,
	})
}

// TestErrorDetailsGolden sees failures inside the smallest thing that holds one.
func TestErrorDetailsGolden(t *testing.T) {
	t.Parallel()
	const before, after = `{"ActivityFailed":{"instance":"","execution_id":0,"id":0,"details":`, `}}`
	runGolden(t, "errordetails.golden", goldenErrorDetails(), golden[provider.ErrorDetails]{
		encode: func(details provider.ErrorDetails) ([]byte, error) {
			data, err := provider.EncodeWorkItem(provider.ActivityFailedItem{Details: details})
			text := strings.TrimSuffix(strings.TrimPrefix(string(data), before), after)
			return []byte(text), err
		},
		decode: func(data []byte) (provider.ErrorDetails, error) {
			item, err := provider.DecodeWorkItem([]byte(before + string(data) + after))
			failed, _ := item.(provider.ActivityFailedItem)
			return failed.Details, err
		},
	})
}

type golden[T any] struct {
	encode func(T) ([]byte, error)
	decode func([]byte) (T, error)
}

func runGolden[T any](t *testing.T, file string, values map[string]T, codec golden[T]) {
	t.Helper()
	texts := readGolden(t, file)
	for name := range values {
		if _, ok := texts[name]; !ok {
			t.Errorf("%s has no case %q", file, name)
		}
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, ok := values[name]
			if !ok {
				t.Fatalf("%s has a case that no value is given for", file)
			}
			got, err := codec.decode([]byte(text))
			if err != nil {
				t.Fatalf("decode: %v", err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("decoded value (-want +got):\n%s", diff)
			}
			data, err := codec.encode(want)
			if err != nil {
				t.Fatalf("encode: %v", err)
			}
			if diff := cmp.Diff(text, string(data)); diff != "" {
				t.Errorf("encoded text (-want +got):\n%s", diff)
			}
		})
	}
}

// readGolden reads "# name" lines, each followed by a line of JSON.
func readGolden(tb testing.TB, file string) map[string]string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		tb.Fatal(err)
	}
	texts := map[string]string{}
	name := ""
	for line := range strings.SplitSeq(string(data), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "//"):
		case strings.HasPrefix(line, "# "):
			name = strings.TrimPrefix(line, "# ")
		case name == "" || texts[name] != "":
			tb.Fatalf("%s: two texts for case %q", file, name)
		default:
			texts[name] = line
		}
	}
	return texts
}

// TestGoldenIsComplete finds the members of the closed sets in the source, so
// that a new kind cannot be forgotten here.
func TestGoldenIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	for _, event := range goldenEvents() {
		seen["isEventKind"] = append(seen["isEventKind"], typeName(event.Kind))
	}
	for _, item := range goldenWorkItems() {
		seen["isWorkItem"] = append(seen["isWorkItem"], typeName(item))
	}
	for _, details := range goldenErrorDetails() {
		seen["isErrorDetails"] = append(seen["isErrorDetails"], typeName(details))
		if poison, ok := details.(provider.PoisonFailure); ok {
			seen["isPoisonMessageType"] = append(seen["isPoisonMessageType"], typeName(poison.MessageType))
		}
	}
	for marker, count := range map[string]int{
		"isEventKind": 26, "isWorkItem": 11, "isErrorDetails": 4, "isPoisonMessageType": 3,
	} {
		declared := receiversOf(t, marker)
		if len(declared) != count {
			t.Errorf("%s: %d types, want the contract's %d", marker, len(declared), count)
		}
		slices.Sort(seen[marker])
		if diff := cmp.Diff(declared, slices.Compact(seen[marker])); diff != "" {
			t.Errorf("%s (-declared +golden):\n%s", marker, diff)
		}
	}
}

// receiversOf returns the types of the package that have the method, sorted.
func receiversOf(t *testing.T, method string) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var receivers []string
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range tree.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == method {
				receivers = append(receivers, f.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(receivers)
	return receivers
}
