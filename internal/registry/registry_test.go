package registry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/internal/registry"
	"github.com/duroxide/duroxide-go/internal/replay"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// fn is a handler that says which one it is.
func fn(text string) replay.Func {
	return func(*replay.Env, string) (string, error) { return text, nil }
}

// fill registers versions of the orchestration "Order", each answering its version.
func fill(t *testing.T, versions ...string) *registry.Registry {
	t.Helper()
	r := registry.New()
	for _, version := range versions {
		if err := r.AddOrchestration("Order", version, fn(version)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestAddOrchestration(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		have    []string
		add     string
		version string
		fn      replay.Func
		want    string
	}{
		{name: "first", add: "Order", version: "1.0.0", fn: fn("")},
		{name: "higher", have: []string{"1.0.0"}, add: "Order", version: "1.0.1", fn: fn("")},
		{name: "higher by number, not by text", have: []string{"1.9.0"}, add: "Order", version: "1.10.0", fn: fn("")},
		{name: "another name may begin anywhere", have: []string{"2.0.0"}, add: "Ship", version: "1.0.0", fn: fn("")},
		{
			name: "same", have: []string{"1.0.0"}, add: "Order", version: "1.0.0", fn: fn(""),
			want: `orchestration "Order": version 1.0.0 is registered after 1.0.0, but versions must rise: invalid registration`,
		},
		{
			name: "lower", have: []string{"1.0.0", "2.0.0"}, add: "Order", version: "1.5.0", fn: fn(""),
			want: `orchestration "Order": version 1.5.0 is registered after 2.0.0, but versions must rise: invalid registration`,
		},
		{
			name: "no version", add: "Order", fn: fn(""),
			want: `orchestration "Order": version "" is not of the form major.minor.patch: invalid registration`,
		},
		{
			name: "pre-release", add: "Order", version: "1.0.0-beta", fn: fn(""),
			want: `orchestration "Order": version "1.0.0-beta" is not of the form major.minor.patch: invalid registration`,
		},
		{name: "no name", version: "1.0.0", fn: fn(""), want: "an orchestration needs a name: invalid registration"},
		{
			name: "no UTF-8", add: "Caf\xe9", version: "1.0.0", fn: fn(""),
			want: `orchestration "Caf\xe9": the name is not valid UTF-8: invalid registration`,
		},
		{
			name: "no function", add: "Order", version: "1.0.0",
			want: `orchestration "Order" has no function, register what Implement returns: invalid registration`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check(t, fill(t, test.have...).AddOrchestration(test.add, test.version, test.fn), test.want)
		})
	}
}

func check(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (err == nil || err.Error() != want || !errors.Is(err, registry.ErrInvalid)):
		t.Errorf("error\n got %v\nwant %s", err, want)
	}
}

func TestOrchestration(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		pin     string
		find    string
		version string
		want    string
	}{
		{name: "latest", find: "Order", want: "1.10.0"},
		{name: "exact", find: "Order", version: "1.2.0", want: "1.2.0"},
		{name: "unknown version", find: "Order", version: "3.0.0"},
		{name: "unknown name", find: "Ship"},
		{name: "pinned", pin: "1.2.0", find: "Order", want: "1.2.0"},
		{name: "exact beats pinned", pin: "1.2.0", find: "Order", version: "1.0.0", want: "1.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := fill(t, "1.0.0", "1.2.0", "1.10.0")
			if test.pin != "" {
				if err := r.Pin("Order", test.pin); err != nil {
					t.Fatal(err)
				}
			}
			found, version, ok := r.Orchestration(test.find, test.version)
			if ok != (test.want != "") || version != test.want || ok != (found != nil) {
				t.Fatalf("found %q, %t, want %q", version, ok, test.want)
			}
			if ok {
				if text, _ := found(nil, ""); text != test.want {
					t.Errorf("handler of %s, want %s", text, test.want)
				}
			}
		})
	}
}

func TestPin(t *testing.T) {
	t.Parallel()
	r := fill(t, "1.0.0")
	check(t, r.Pin("Order", "2.0.0"), `orchestration "Order" has no version "2.0.0" to pin: invalid registration`)
	check(t, r.Pin("Ship", "1.0.0"), `orchestration "Ship" has no version "1.0.0" to pin: invalid registration`)
	check(t, r.Pin("Order", "1.0.0"), "")
}

func TestActivities(t *testing.T) {
	t.Parallel()
	r := registry.New()
	handler := func(context.Context, string) (string, error) { return "ok", nil }
	check(t, r.AddActivity("Charge", handler), "")
	check(t, r.AddActivity("Charge", handler), `activity "Charge" is registered twice: invalid registration`)
	check(t, r.AddActivity("", handler), "an activity needs a name: invalid registration")
	check(t, r.AddActivity("Refund", nil), `activity "Refund" has no function, register what Implement returns: invalid registration`)
	check(t, r.AddActivity("__duroxide_syscall:x", handler),
		`activity "__duroxide_syscall:x": names that begin with "__duroxide_syscall:" are reserved: invalid registration`)
	if found, ok := r.Activity("Charge"); !ok || found == nil {
		t.Error("Charge is not found")
	}
	if _, ok := r.Activity("Refund"); ok {
		t.Error("Refund is found")
	}
}
