package mssql

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	o, err := Options{}.forOpen("")
	if err != nil || o.Schema != "duroxide" || o.MaxOpenConns != 10 || o.CallTimeout != time.Minute || o.MaxRetries != 5 ||
		o.MinPollInterval != 20*millisecond || o.MaxPollInterval != 5*second || o.RetryBackoff != 20*millisecond ||
		o.ConnMaxIdleTime != 5*time.Minute || o.ConnMaxLifetime != 30*time.Minute || o.Logger == nil {
		t.Errorf("the defaults are %+v, %v", o, err)
	}
}

func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	c, err := (Options{
		CallTimeout: Forever, ConnMaxIdleTime: Forever, ConnMaxLifetime: Forever, MaxRetries: None, MaxPollInterval: Never,
	}).withDefaults()
	if err != nil || c.CallTimeout != 0 || c.ConnMaxIdleTime != 0 || c.ConnMaxLifetime != 0 || c.MaxRetries != 0 || c.MaxPollInterval != 0 {
		t.Errorf("became %+v, %v", c, err)
	}
}

// Negative values are refused, except the constant that an option takes.
func TestNegativeOptions(t *testing.T) {
	t.Parallel()
	except := func(name string) string { return "; the only negative value that it takes is mssql." + name }
	for want, o := range map[string]Options{
		"CallTimeout is negative" + except("Forever"):     {CallTimeout: -2},
		"ConnMaxIdleTime is negative" + except("Forever"): {ConnMaxIdleTime: -2},
		"ConnMaxLifetime is negative" + except("Forever"): {ConnMaxLifetime: -time.Hour},
		"MaxOpenConns is negative":                        {MaxOpenConns: -1},
		"MaxRetries is negative" + except("None"):         {MaxRetries: -2},
		"MinPollInterval is negative":                     {MinPollInterval: -1},
		"MaxPollInterval is negative" + except("Never"):   {MaxPollInterval: -2},
		"RetryBackoff is negative":                        {RetryBackoff: -1},
	} {
		_, err := New(fakeDB(t, &fake{}), o)
		if !errors.Is(err, provider.ErrInvalidArgument) || !strings.HasSuffix(err.Error(), "Options."+want) {
			t.Errorf("error %v; want %s", err, want)
		}
	}
}

func TestPollIntervalsAreInOrder(t *testing.T) {
	t.Parallel()
	c, err := Options{MinPollInterval: time.Minute}.withDefaults()
	if err != nil || c.MaxPollInterval != time.Minute {
		t.Errorf("became %v to %v, %v", c.MinPollInterval, c.MaxPollInterval, err)
	}
}

func TestSchemaNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "Tenant 1", "a'b", `a"b`, "ä😀", "a;DROP", strings.Repeat("x", 100)} {
		if _, err := (Options{Schema: name}).withDefaults(); err != nil {
			t.Errorf("schema %q is refused: %v", name, err)
		}
	}
	for _, name := range []string{"a\x00b", "a\nb", " a", "a ", "a]b", "a[b", "a.b", strings.Repeat("x", 200)} {
		if _, err := New(nil, Options{Schema: name}); !errors.Is(err, provider.ErrInvalidArgument) || !strings.Contains(err.Error(), "Schema") {
			t.Errorf("schema %q: error %v; want %v", name, err, provider.ErrInvalidArgument)
		}
	}
}

func TestSchemaOfTheConnectionString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options Options
		dsn     string
		want    string
	}{
		{Options{}, "", "duroxide"},
		{Options{}, "a", "a"},
		{Options{Schema: "a"}, "", "a"},
		{Options{Schema: "a"}, "a", "a"},
	} {
		if got, err := c.options.forOpen(c.dsn); err != nil || got.Schema != c.want {
			t.Errorf("%v and %q: schema %q, %v; want %q", c.options, c.dsn, got.Schema, err, c.want)
		}
	}
	if _, err := (Options{Schema: "a"}).forOpen("b"); !errors.Is(err, provider.ErrInvalidArgument) {
		t.Errorf("two schemas: error %v; want %v", err, provider.ErrInvalidArgument)
	}
}
