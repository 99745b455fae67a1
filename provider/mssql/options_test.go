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
		o.MinPollInterval != 20*millisecond || o.MaxPollInterval != second || o.RetryBackoff != 20*millisecond ||
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
	for want, o := range map[string]Options{
		"Options.CallTimeout is negative; the only negative value that it takes is mssql.Forever":     {CallTimeout: -2},
		"Options.ConnMaxIdleTime is negative; the only negative value that it takes is mssql.Forever": {ConnMaxIdleTime: -2},
		"Options.ConnMaxLifetime is negative; the only negative value that it takes is mssql.Forever": {ConnMaxLifetime: -time.Hour},
		"Options.MaxOpenConns is negative":                                                          {MaxOpenConns: -1},
		"Options.MaxRetries is negative; the only negative value that it takes is mssql.None":       {MaxRetries: -2},
		"Options.MinPollInterval is negative":                                                       {MinPollInterval: -1},
		"Options.MaxPollInterval is negative; the only negative value that it takes is mssql.Never": {MaxPollInterval: -2},
		"Options.RetryBackoff is negative":                                                          {RetryBackoff: -1},
	} {
		_, err := New(fakeDB(t, &fake{}), o)
		if !errors.Is(err, provider.ErrInvalidArgument) || !strings.HasSuffix(err.Error(), want) {
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
