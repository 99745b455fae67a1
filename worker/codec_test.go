package worker_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/activity"
	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/codec"
	"github.com/duroxide/duroxide-go/orchestration"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
	"github.com/duroxide/duroxide-go/worker"
)

// key is an encryption key whose secret is made from its id.
func key(id string) codec.Key { return codec.Key{ID: id, Secret: []byte(strings.Repeat(id[:1], 32))} }

func newKeyring(t *testing.T, current codec.Key, others ...codec.Key) *codec.Keyring {
	t.Helper()
	keys, err := codec.NewKeyring(current, others...)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func newCodec(t *testing.T, stages ...codec.Stage) *codec.Codec {
	t.Helper()
	c, err := codec.New(stages...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// awaitLog is a log whose channel receives each line that contains a text.
func awaitLog(text string) (logger *slog.Logger, lines <-chan string) {
	found := make(chan string, 100)
	return slog.New(slog.NewTextHandler(writerFunc(func(line []byte) {
		if strings.Contains(string(line), text) {
			select {
			case found <- string(line):
			default:
			}
		}
	}), &slog.HandlerOptions{Level: slog.LevelDebug})), found
}

type writerFunc func([]byte)

func (f writerFunc) Write(data []byte) (int, error) { f(data); return len(data), nil }

var _ io.Writer = writerFunc(nil)

// rotating asks for an activity after each event, whose data it hands on, until the data is
// "end". It returns what it has got.
var rotating = orchestration.New("Rotating", func(ctx *orchestration.Context, all string) (string, error) {
	orchestration.NewKey[string]("last").Set(ctx, all)
	for {
		data, err := orchestration.NewQueue[string]("data").Dequeue(ctx).Await()
		if err != nil {
			return "", err
		}
		if data == "end" {
			return all, nil
		}
		text, err := orchestration.Activity(ctx, echo, data).Await()
		if err != nil {
			return "", err
		}
		all += text
		orchestration.NewKey[string]("last").Set(ctx, all)
		ctx.SetCustomStatus(all)
		if strings.HasSuffix(text, "!") {
			return orchestration.Declare[string, string]("Rotating").ContinueAsNew(ctx, all)
		}
	}
})

// Keys rotate while instances run: what was written by an old key is replayed by workers
// that write by the new one, from memory and from the store, across continue-as-new.
func TestKeysRotateUnderRunningInstances(t *testing.T) {
	t.Parallel()
	twice(t, func(t *testing.T, one, two provider.Provider) {
		for name, cached := range map[string]int{"cached": 0, "replayed": worker.None} {
			t.Run(name, func(t *testing.T) {
				keys := newKeyring(t, key("1"))
				c := newCodec(t, codec.Compress(100), codec.Encrypt(keys))
				options := worker.Options{Codec: c, Cache: worker.Cache{Instances: cached}}
				runWorker(t, one, options, rotating, echo)
				runWorker(t, two, options, rotating, echo)
				clients := client.New(one, client.Options{Codec: c})
				run, err := client.Start(t.Context(), clients, rotating, "rotating-"+name, "0")
				if err != nil {
					t.Fatal(err)
				}
				want := "0"
				var version uint64
				for i, data := range []string{"a", "b", "c!", "d", "e"} {
					if err := client.Enqueue(t.Context(), clients, orchestration.NewQueue[string]("data"), run.Instance(), data); err != nil {
						t.Fatal(err)
					}
					want += data
					for {
						s, err := clients.WaitForCustomStatus(deadline(t), run.Instance(), version)
						if err != nil || s.Finished() {
							t.Fatalf("after %q: %+v, %v", data, s, err)
						}
						if version = s.CustomStatusVersion; *s.CustomStatus == want {
							break
						}
					}
					// From the second on, two keys are known; the first is given up after "c!".
					next := string(rune('2' + i))
					others := []codec.Key{key("1")}
					for id := '2'; id < rune('2'+i); id++ {
						others = append(others, key(string(id)))
					}
					if err := keys.Set(key(next), others...); err != nil {
						t.Fatal(err)
					}
				}
				if value, ok, err := client.Value(t.Context(), clients, orchestration.NewKey[string]("last"), run.Instance()); err != nil || !ok || value != want {
					t.Fatalf("the key's value is %q, %v, %v", value, ok, err)
				}
				if all, err := clients.KVAll(t.Context(), run.Instance()); err != nil || all["last"] != `"`+want+`"` {
					t.Fatalf("the keys are %v, %v", all, err)
				}
				if err := client.Enqueue(t.Context(), clients, orchestration.NewQueue[string]("data"), run.Instance(), "end"); err != nil {
					t.Fatal(err)
				}
				if got := result(t, run); got != want {
					t.Errorf("the result is %q, want %q", got, want)
				}
			})
		}
	})
}

// readsKey returns a key that ownsKey has set to its input.
var (
	readsKey = orchestration.New("ReadsKey", func(ctx *orchestration.Context, instance string) (string, error) {
		value, _, err := orchestration.NewKey[string]("key").Of(ctx, instance)
		return value, err
	})
	ownsKey = orchestration.New("OwnsKey", func(ctx *orchestration.Context, value string) (string, error) {
		orchestration.NewKey[string]("key").Set(ctx, value)
		return "", nil
	})
)

// An instance whose payload a worker cannot decode waits, however often it is fetched, says
// so in the log, and goes on when the key is there: a turn, an activity, and a read of
// another instance's key.
func TestUndecodableIsHeld(t *testing.T) {
	t.Parallel()
	old, both, fresh := newCodec(t, codec.Encrypt(newKeyring(t, key("1")))), newCodec(t, codec.Encrypt(newKeyring(t, key("1"), key("2")))), newKeyring(t, key("2"))
	lacking := newCodec(t, codec.Encrypt(fresh))
	for name, test := range map[string]struct {
		// before prepares the store by a worker with both keys and returns the run.
		prepare func(t *testing.T, store provider.Provider) (*client.Run[string], string)
		codec   *codec.Codec
		says    string
	}{
		"a start": {func(t *testing.T, store provider.Provider) (*client.Run[string], string) {
			run, err := client.Start(t.Context(), client.New(store, client.Options{Codec: old}), callEcho, "i", "hello")
			if err != nil {
				t.Fatal(err)
			}
			return run, "hello"
		}, lacking, `\"1\"`},
		"a start, without codec": {func(t *testing.T, store provider.Provider) (*client.Run[string], string) {
			run, err := client.Start(t.Context(), client.New(store, client.Options{Codec: old}), callEcho, "i", "hello")
			if err != nil {
				t.Fatal(err)
			}
			return run, "hello"
		}, nil, "none is set"},
		"an activity": {func(t *testing.T, store provider.Provider) (*client.Run[string], string) {
			changed, leave := store.(provider.Store).InstanceChanged("i")
			defer leave()
			stop := runWorker(t, store, worker.Options{Codec: old, ActivityConcurrency: worker.None}, callEcho)
			run, err := client.Start(t.Context(), client.New(store, client.Options{Codec: old}), callEcho, "i", "hello")
			if err != nil {
				t.Fatal(err)
			}
			receive(t, "the turn is committed", changed)
			stop()
			return run, "hello"
		}, lacking, "an activity waits"},
		"another instance's key": {func(t *testing.T, store provider.Provider) (*client.Run[string], string) {
			stop := runWorker(t, store, worker.Options{Codec: old}, ownsKey)
			owner, err := client.Start(t.Context(), client.New(store, client.Options{Codec: old}), ownsKey, "owner", "hello")
			if err != nil {
				t.Fatal(err)
			}
			result(t, owner)
			stop()
			run, err := client.Start(t.Context(), client.New(store, client.Options{}), readsKey, "i", "owner")
			if err != nil {
				t.Fatal(err)
			}
			return run, "hello"
		}, lacking, "an activity waits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			run, want := test.prepare(t, store)
			logger, lines := awaitLog("can decode its payloads")
			stop := runWorker(t, store, worker.Options{
				Codec: test.codec, Logger: logger, Limits: worker.Limits{Attempts: 2},
				Code: worker.Code{Backoff: time.Millisecond, MaxBackoff: time.Millisecond},
			}, callEcho, echo, readsKey)
			for range 5 { // more often than an attempt is allowed
				if line := receive(t, "the log tells of it", lines); !strings.Contains(line, test.says) || strings.Contains(line, "hello") {
					t.Errorf("the log says %s", line)
				}
			}
			stop()
			held, err := client.New(store, client.Options{}).Held(t.Context(), "i")
			if isTurn := test.says != "an activity waits"; err != nil || isTurn != (held != nil) || isTurn && !strings.Contains(held.Reason, strings.ReplaceAll(test.says, `\`, "")) {
				t.Errorf("held: %+v, %v", held, err)
			}
			runWorker(t, store, worker.Options{Codec: both, Limits: worker.Limits{Attempts: 2}}, callEcho, echo, readsKey)
			c := client.New(store, client.Options{Codec: both})
			if got := result(t, client.Attach[string](c, run.Instance())); got != want {
				t.Errorf("the result is %q, want %q", got, want)
			}
		})
	}
}

// unreliable is a stage that fails as long as it is told to.
type unreliable struct{ failures *atomic.Int32 }

func (unreliable) Name() string { return "unreliable" }

func (u unreliable) Encode(_ context.Context, data []byte) ([]byte, error) {
	if u.failures.Add(-1) >= 0 {
		return nil, errors.New("the key service is away")
	}
	return data, nil
}

func (unreliable) Decode(_ context.Context, encoded []byte) ([]byte, error) { return encoded, nil }

// A codec that cannot encode for a while costs time and no attempts: neither a turn nor an
// activity fails.
func TestUnencodableIsTriedAgain(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	var failures atomic.Int32
	c := newCodec(t, unreliable{&failures})
	var calls atomic.Int32
	counting := activity.New("Counting", func(_ context.Context, text string) (string, error) {
		calls.Add(1)
		failures.Store(5) // the result cannot be encoded
		return text, nil
	})
	def := calling(counting)
	run, err := client.Start(t.Context(), client.New(store, client.Options{Codec: c}), def, "i", "hello")
	if err != nil {
		t.Fatal(err)
	}
	failures.Store(9) // the first turn cannot be encoded for longer than its lease lasts
	runWorker(t, store, worker.Options{
		Codec: c, Limits: worker.Limits{Attempts: 1}, Leases: worker.Leases{Orchestration: time.Second},
	}, def, counting)
	if got := result(t, run); got != "hello" || calls.Load() != 1 {
		t.Errorf("the result is %q after %d calls", got, calls.Load())
	}
}

// A payload that is larger than the limit of Offload is a file, and the store has its name.
func TestLargePayloadsAreElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newCodec(t, codec.Encrypt(newKeyring(t, key("1"))), codec.Offload(codec.Directory(dir), 10_000))
	store, err := sqlite.OpenMemory(t.Context(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	runWorker(t, store, worker.Options{Codec: c}, callEcho, echo)
	large := strings.Repeat("large ", 10_000)
	run, err := client.Start(t.Context(), client.New(store, client.Options{Codec: c}), callEcho, "i", large)
	if err != nil {
		t.Fatal(err)
	}
	if got := result(t, run); got != large {
		t.Errorf("the result has %d bytes", len(got))
	}
	stats, err := store.GetInstanceStats(t.Context(), "i")
	if err != nil || stats.HistorySizeBytes > 3000 {
		t.Errorf("the store has %+v, %v", stats, err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(files) == 0 {
		t.Errorf("the blobs are %v, %v", files, err)
	}
}

// A store gets a codec while it is in use: workers that only read it come first.
func TestCodecComesLater(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	c := newCodec(t, codec.Encrypt(newKeyring(t, key("1"))))
	plain := client.New(store, client.Options{})
	stop := runWorker(t, store, worker.Options{}, rotating, echo)
	if _, err := client.Start(t.Context(), plain, rotating, "i", "0"); err != nil {
		t.Fatal(err)
	}
	want := "0"
	send := func(from *client.Client, data string) {
		t.Helper()
		if err := client.Enqueue(t.Context(), from, orchestration.NewQueue[string]("data"), "i", data); err != nil {
			t.Fatal(err)
		}
		want += data
	}
	send(plain, "a")
	stop()
	stop = runWorker(t, store, worker.Options{Codec: c.ReadOnly()}, rotating, echo)
	send(plain, "b")
	send(client.New(store, client.Options{Codec: c}), "c")
	stop()
	runWorker(t, store, worker.Options{Codec: c}, rotating, echo)
	send(client.New(store, client.Options{Codec: c.ReadOnly()}), "d")
	if err := client.Enqueue(t.Context(), plain, orchestration.NewQueue[string]("data"), "i", "end"); err != nil {
		t.Fatal(err)
	}
	if got := result(t, client.Attach[string](client.New(store, client.Options{Codec: c}), "i")); got != want {
		t.Errorf("the result is %q, want %q", got, want)
	}
	// A client without it says so at once.
	if _, err := client.Attach[string](plain, "i").Wait(deadline(t)); !errors.Is(err, codec.ErrNotDecoded) {
		t.Errorf("without the codec, Wait returns %v", err)
	}
	if _, err := plain.Status(t.Context(), "i"); !errors.Is(err, codec.ErrNotDecoded) {
		t.Errorf("without the codec, Status returns %v", err)
	}
	if _, _, err := client.Value(t.Context(), plain, orchestration.NewKey[string]("last"), "i"); !errors.Is(err, codec.ErrNotDecoded) {
		t.Errorf("without the codec, KV returns %v", err)
	}
	if _, err := plain.KVAll(t.Context(), "i"); !errors.Is(err, codec.ErrNotDecoded) {
		t.Errorf("without the codec, KVAll returns %v", err)
	}
}

// Work that cannot be decoded is offered ever more rarely and told ever more rarely, also a read of another instance's
// key, whose own input can be decoded.
func TestUndecodableIsToldEverMoreRarely(t *testing.T) {
	t.Parallel()
	secret := newCodec(t, codec.Encrypt(newKeyring(t, key("1"))))
	for name, prepare := range map[string]func(t *testing.T, store provider.Provider) error{
		"a start": func(t *testing.T, store provider.Provider) error {
			_, err := client.Start(t.Context(), client.New(store, client.Options{Codec: secret}), readsKey, "i", "owner")
			return err
		},
		"another instance's key": func(t *testing.T, store provider.Provider) error {
			c := client.New(store, client.Options{Codec: secret})
			stop := runWorker(t, store, worker.Options{Codec: secret}, ownsKey)
			run, err := client.Start(t.Context(), c, ownsKey, "owner", "hello")
			if err == nil {
				result(t, run)
				stop()
				_, err = client.Start(t.Context(), client.New(store, client.Options{}), readsKey, "i", "owner")
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := openStore(t)
			if err := prepare(t, store); err != nil {
				t.Fatal(err)
			}
			logger, lines := awaitLog("can decode its payloads")
			runWorker(t, store, worker.Options{
				Codec: newCodec(t, codec.Encrypt(newKeyring(t, key("2")))).ReadOnly(), Logger: logger, Code: worker.Code{Backoff: time.Millisecond},
			}, readsKey)
			for _, want := range []string{
				"tries=1 retry_in=1ms next_line_after=2", "tries=2 retry_in=2ms next_line_after=4",
				"tries=4 retry_in=8ms next_line_after=8", "tries=8 retry_in=64ms next_line_after=16",
			} {
				if line := receive(t, "the log tells of it", lines); !strings.Contains(line, want) {
					t.Errorf("the log says %s, want %s", line, want)
				}
			}
		})
	}
}
