package mssql

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

func TestDefaults(t *testing.T) {
	t.Setenv(PoolEnv, "")
	for name, config := range map[string]*Config{"nil": nil, "zero": {}} {
		c, err := config.forOpen("")
		if err != nil || c.Schema != "duroxide" || c.MaxOpenConns != 10 || c.CallTimeout != time.Minute || c.MaxRetries != 5 ||
			c.MinPollInterval != 20*millisecond || c.MaxPollInterval != second || c.RetryBackoff != 20*millisecond ||
			c.ConnMaxIdleTime != 5*time.Minute || c.ConnMaxLifetime != 30*time.Minute || c.Logger == nil {
			t.Errorf("%s became %+v, %v", name, c, err)
		}
	}
}

func TestMinusOneIsNone(t *testing.T) {
	t.Parallel()
	c, err := (&Config{
		CallTimeout: -1, ConnMaxIdleTime: -1, ConnMaxLifetime: -1, MaxRetries: -1, MaxPollInterval: -1,
	}).withDefaults()
	if err != nil || c.CallTimeout != 0 || c.ConnMaxIdleTime != 0 || c.ConnMaxLifetime != 0 || c.MaxRetries != 0 || c.MaxPollInterval != 0 {
		t.Errorf("became %+v, %v", c, err)
	}
}

func TestPollIntervalsAreInOrder(t *testing.T) {
	t.Parallel()
	c, err := (&Config{MinPollInterval: time.Minute}).withDefaults()
	if err != nil || c.MaxPollInterval != time.Minute {
		t.Errorf("became %v to %v, %v", c.MinPollInterval, c.MaxPollInterval, err)
	}
}

// The environment replaces the default, and the program's own setting both.
func TestPoolFromEnv(t *testing.T) {
	t.Setenv(PoolEnv, "")
	for _, c := range []struct {
		env      string
		config   int
		want     int
		complain bool
	}{
		{"", 0, 10, false},
		{"25", 0, 25, false},
		{"25", 3, 3, false},
		{"many", 3, 3, false},
		{"many", 0, 0, true},
		{"0", 0, 0, true},
		{"-1", 0, 0, true},
	} {
		t.Setenv(PoolEnv, c.env)
		got, err := (&Config{MaxOpenConns: c.config}).forOpen("")
		if got.MaxOpenConns != c.want || errors.Is(err, provider.ErrInvalidArgument) != c.complain {
			t.Errorf("%s=%q and %d: got %d, %v", PoolEnv, c.env, c.config, got.MaxOpenConns, err)
		}
		if c.complain && !strings.Contains(err.Error(), PoolEnv) {
			t.Errorf("error %q does not say what is wrong", err)
		}
		// Connections of the caller are the caller's.
		if s, err := New(fakeDB(t, &fake{}), &Config{MaxOpenConns: c.config}); err != nil {
			t.Errorf("%s=%q: New: %v", PoolEnv, c.env, err)
		} else if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSchemaNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "Tenant 1", "a'b", `a"b`, "ä😀", "a;DROP", strings.Repeat("x", 100)} {
		if _, err := (&Config{Schema: name}).withDefaults(); err != nil {
			t.Errorf("schema %q is refused: %v", name, err)
		}
	}
	for _, name := range []string{"a\x00b", "a\nb", " a", "a ", "a]b", "a[b", "a.b", strings.Repeat("x", 200)} {
		if _, err := New(nil, &Config{Schema: name}); !errors.Is(err, provider.ErrInvalidArgument) || !strings.Contains(err.Error(), "Schema") {
			t.Errorf("schema %q: error %v; want %v", name, err, provider.ErrInvalidArgument)
		}
	}
}

func TestSchemaOfTheConnectionString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config *Config
		dsn    string
		want   string
	}{
		{nil, "", "duroxide"},
		{nil, "a", "a"},
		{&Config{}, "a", "a"},
		{&Config{Schema: "a"}, "", "a"},
		{&Config{Schema: "a"}, "a", "a"},
	} {
		if got, err := c.config.forOpen(c.dsn); err != nil || got.Schema != c.want {
			t.Errorf("%v and %q: schema %q, %v; want %q", c.config, c.dsn, got.Schema, err, c.want)
		}
	}
	if _, err := (&Config{Schema: "a"}).forOpen("b"); !errors.Is(err, provider.ErrInvalidArgument) {
		t.Errorf("two schemas: error %v; want %v", err, provider.ErrInvalidArgument)
	}
}
