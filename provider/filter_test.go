package provider_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]provider.Version{
		"0.0.0":                   {},
		"0.1.26":                  {Minor: 1, Patch: 26},
		"1.2.3-rc.1":              {Major: 1, Minor: 2, Patch: 3},
		"1.2.3+build.5":           {Major: 1, Minor: 2, Patch: 3},
		"1.2.3-rc.1+build-5":      {Major: 1, Minor: 2, Patch: 3},
		"1.2.3+a.b.c-d":           {Major: 1, Minor: 2, Patch: 3},
		"9223372036854775807.0.0": {Major: 1<<63 - 1},
	} {
		got, err := provider.ParseVersion(text)
		if err != nil || got != want {
			t.Errorf("ParseVersion(%q) = %v, %v; want %v", text, got, err, want)
		}
		if core := strings.FieldsFunc(text, func(c rune) bool { return c == '-' || c == '+' })[0]; got.String() != core {
			t.Errorf("ParseVersion(%q).String() = %q, want %q", text, got, core)
		}
	}
	for _, text := range []string{
		"", "1", "1.2", "1.2.3.4", "1.2.", ".2.3", "a.b.c", "v1.2.3", "1.2.x", "01.2.3", "1.2.03", "-1.2.3", "+1.2.3",
		" 1.2.3", "1.2.3 ", "1_0.2.3", "0x1.2.3", "9223372036854775808.0.0", "99999999999999999999.0.0", "-rc", "unknown",
	} {
		if got, err := provider.ParseVersion(text); !errors.Is(err, provider.ErrInvalidArgument) || got != (provider.Version{}) {
			t.Errorf("ParseVersion(%q) = %v, %v; want ErrInvalidArgument", text, got, err)
		}
	}
}

func TestVersionCompare(t *testing.T) {
	t.Parallel()
	// Numbers of four digits show that nothing is packed into one integer.
	ascending := []provider.Version{
		{},
		{Patch: 1},
		{Patch: 1000},
		{Minor: 1},
		{Minor: 1, Patch: 26},
		{Minor: 9, Patch: 1001},
		{Minor: 10},
		{Minor: 1000},
		{Major: 1},
		{Major: 1, Minor: 0, Patch: 1},
		{Major: 2},
		{Major: 10},
	}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := a.Compare(b); got != want {
				t.Errorf("%v.Compare(%v) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestVersionRangeContains(t *testing.T) {
	t.Parallel()
	version := func(text string) provider.Version {
		v, err := provider.ParseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	supported := provider.VersionRange{Min: version("0.1.20"), Max: version("1.2.3")}
	for text, want := range map[string]bool{
		"0.1.19": false, "0.1.20": true, "0.1.21": true, "0.9.1000": true, "1.0.0": true,
		"1.2.2": true, "1.2.3": true, "1.2.3-rc.1": true, "1.2.4": false, "1.3.0": false, "2.0.0": false,
	} {
		if got := supported.Contains(version(text)); got != want {
			t.Errorf("%s in range is %t, want %t", text, got, want)
		}
	}
	if (provider.VersionRange{Min: version("2.0.0"), Max: version("1.0.0")}).Contains(version("1.5.0")) {
		t.Error("a range whose ends are swapped contains something")
	}
}

func TestCapabilityFilter(t *testing.T) {
	t.Parallel()
	one, two, three := provider.Version{Major: 1}, provider.Version{Major: 2}, provider.Version{Major: 3}
	first := provider.VersionRange{Min: one, Max: two}
	both := &provider.CapabilityFilter{SupportedVersions: []provider.VersionRange{first, {Min: three, Max: three}}}
	for name, test := range map[string]struct {
		filter *provider.CapabilityFilter
		pinned *provider.Version
		want   bool
	}{
		"no filter":                     {nil, &three, true},
		"no filter, no version":         {nil, nil, true},
		"no ranges":                     {&provider.CapabilityFilter{}, &one, false},
		"no ranges, no version":         {&provider.CapabilityFilter{}, nil, false},
		"inside":                        {both, &one, true},
		"at the upper end":              {both, &two, true},
		"no version":                    {both, nil, true},
		"second range is not looked at": {both, &three, false},
	} {
		if got := test.filter.Allows(test.pinned); got != test.want {
			t.Errorf("%s: allowed is %t, want %t", name, got, test.want)
		}
	}
	if r, ok := both.Range(); !ok || r != first {
		t.Errorf("Range() = %v, %t; want the first", r, ok)
	}
	if _, ok := (&provider.CapabilityFilter{}).Range(); ok {
		t.Error("a filter without ranges has one")
	}
}

func TestTagFilterMatches(t *testing.T) {
	t.Parallel()
	must := func(filter provider.TagFilter, err error) provider.TagFilter {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return filter
	}
	for name, test := range map[string]struct {
		filter                   provider.TagFilter
		mode                     provider.TagMode
		untagged, gpu, other, up bool // up is the tag in capitals
	}{
		"zero value":       {provider.TagFilter{}, provider.TagDefaultOnly, true, false, false, false},
		"tags":             {must(provider.Tags("gpu", "cpu")), provider.TagSet, false, true, false, false},
		"default and tags": {must(provider.DefaultAndTags("gpu")), provider.TagDefaultAndSet, true, true, false, false},
		"any":              {provider.AnyTag(), provider.TagAny, true, true, true, true},
		"none":             {provider.NoActivities(), provider.TagNone, false, false, false, false},
	} {
		if got := test.filter.Mode(); got != test.mode {
			t.Errorf("%s: mode is %d, want %d", name, got, test.mode)
		}
		for _, row := range []struct {
			tag  *string
			want bool
		}{{nil, test.untagged}, {new("gpu"), test.gpu}, {new("other"), test.other}, {new("GPU"), test.up}} {
			if got := test.filter.Matches(row.tag); got != row.want {
				t.Errorf("%s: Matches(%v) is %t, want %t", name, row.tag, got, row.want)
			}
		}
	}
}

// TestTagFilterLimits covers both constructors, which share the rule.
func TestTagFilterLimits(t *testing.T) {
	t.Parallel()
	for name, construct := range map[string]func(...string) (provider.TagFilter, error){
		"Tags": provider.Tags, "DefaultAndTags": provider.DefaultAndTags,
	} {
		for _, tags := range [][]string{nil, {}, {"a", "b", "c", "d", "e", "f"}} {
			if _, err := construct(tags...); !errors.Is(err, provider.ErrInvalidArgument) {
				t.Errorf("%s(%q): error is %v, want ErrInvalidArgument", name, tags, err)
			}
		}
		given := []string{"e", "a", "b", "a", "d", "c", "e"}
		filter, err := construct(given...)
		if err != nil {
			t.Errorf("%s with %d different tags: %v", name, provider.MaxFilterTags, err)
			continue
		}
		given[0] = "changed"
		filter.Tags()[0] = "changed"
		if diff := cmp.Diff([]string{"a", "b", "c", "d", "e"}, filter.Tags()); diff != "" {
			t.Errorf("%s: tags (-want +got):\n%s", name, diff)
		}
	}
	if tags := provider.AnyTag().Tags(); len(tags) != 0 {
		t.Errorf("AnyTag has tags %q", tags)
	}
}
