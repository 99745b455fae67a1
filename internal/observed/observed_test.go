package observed_test

import (
	"context"
	"database/sql"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/hook"
	"github.com/duroxide/duroxide-go/internal/observed"
	"github.com/duroxide/duroxide-go/internal/testsupport/leaktest"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// has reports whether a store has an optional interface: as Go sees it, and as [observed.As]
// does.
type has struct{ plain, told func(provider.Provider) bool }

func check[T any]() has {
	return has{
		func(s provider.Provider) bool { _, ok := s.(T); return ok },
		func(s provider.Provider) bool { _, ok := observed.As[T](s); return ok },
	}
}

var optional = map[string]has{
	"ChangeNotifier":  check[provider.ChangeNotifier](),
	"CodeSelector":    check[provider.CodeSelector](),
	"EndNotifier":     check[provider.EndNotifier](),
	"EndTeller":       check[provider.EndTeller](),
	"InstanceStarter": check[provider.InstanceStarter](),
	"LeaseWatcher":    check[provider.LeaseWatcher](),
	"HeartbeatKeeper": check[provider.HeartbeatKeeper](),
	"LockRenewer":     check[provider.LockRenewer](),
	"MessageStarter":  check[provider.MessageStarter](),
	"ProgressReader":  check[provider.ProgressReader](),
	"Taker":           check[provider.Taker](),
	"TxEnqueuer":      check[provider.TxEnqueuer[*sql.Tx]](),
}

// bare is a store without any optional interface, and the others have one.
type (
	bare     struct{ provider.Provider }
	notifies struct {
		provider.Provider
		provider.ChangeNotifier
	}
	renews struct {
		provider.Provider
		provider.LockRenewer
	}
	enqueues struct {
		provider.Provider
		provider.TxEnqueuer[*sql.Tx]
	}
)

// A store with a hook has the optional interfaces of the store itself, no more and no fewer.
func TestOptionalInterfacesPassThrough(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]provider.Provider{
		"all": (*sqlite.Store)(nil), "none": bare{}, "notifies": notifies{}, "renews": renews{}, "enqueues": enqueues{},
	} {
		told := observed.Store(store, hook.None{})
		for of, optional := range optional {
			want := optional.plain(store)
			if name == "all" && !want {
				t.Errorf("SQLite's store is no %s", of)
			}
			if got := optional.told(told); got != want {
				t.Errorf("%s: As[%s] is %v with a hook, want %v", name, of, got, want)
			}
			if got := optional.told(store); got != want {
				t.Errorf("%s: As[%s] is %v without a hook, want %v", name, of, got, want)
			}
		}
	}
}

// The table above has each optional interface of package provider.
func TestOptionalInterfacesAreAllKnown(t *testing.T) {
	t.Parallel()
	const folder = "../../provider"
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), folder+"/"+entry.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			spec, ok := g.Specs[0].(*ast.TypeSpec)
			doc := strings.ReplaceAll(g.Doc.Text(), "\n", " ")
			if !ok || !strings.Contains(doc, "is an optional interface of ") || strings.Contains(doc, "optional interface of a store's [Admin]") {
				continue
			}
			if _, ok := optional[spec.Name.Name]; !ok {
				t.Errorf("%s is not in the table", spec.Name.Name)
			}
			found++
		}
	}
	if found != len(optional) {
		t.Errorf("package provider has %d optional interfaces, the table %d", found, len(optional))
	}
}

// recorder is a hook that keeps what it is told of the store.
type recorder struct {
	hook.None

	ended *[]string
}

func (r recorder) Store(_ context.Context, operation string) func(hook.StoreEnd) {
	return func(end hook.StoreEnd) {
		if end.Err != nil {
			operation += " " + end.Err.Error()
		}
		*r.ended = append(*r.ended, operation)
	}
}

var errPart = errors.New("part")

// half is a store of which parts of calls fail.
type half struct {
	provider.Provider
	provider.Taker
}

func (half) Read(context.Context, string) ([]provider.Event, error) { return nil, errPart }

func (half) AckTurnAndTake(context.Context, provider.AckOrchestrationParams, provider.TakeParams) (provider.Taken, error) {
	return provider.Taken{Err: errPart}, nil
}

func (half) AckWorkAndTake(context.Context, []provider.WorkAck, provider.TakeParams) ([]error, provider.Taken, error) {
	return []error{nil, errPart, errors.New("another")}, provider.Taken{}, nil
}

// A hook is told of each call once, with its first error.
func TestErrorsAreTold(t *testing.T) {
	t.Parallel()
	var told []string
	store := observed.Store(half{}, recorder{ended: &told})
	if _, err := store.Read(t.Context(), "i"); !errors.Is(err, errPart) {
		t.Error(err)
	}
	taker, ok := observed.As[provider.Taker](store)
	if !ok {
		t.Fatal("the store is no Taker")
	}
	if taken, err := taker.AckTurnAndTake(t.Context(), provider.AckOrchestrationParams{}, provider.TakeParams{}); err != nil || !errors.Is(taken.Err, errPart) {
		t.Error(taken, err)
	}
	if outcomes, _, err := taker.AckWorkAndTake(t.Context(), nil, provider.TakeParams{}); err != nil || len(outcomes) != 3 {
		t.Error(outcomes, err)
	}
	if err := observed.Call(t.Context(), recorder{ended: &told}, "enqueue_tx", func() error { return errPart }); !errors.Is(err, errPart) {
		t.Error(err)
	}
	if want := []string{"read part", "ack_turn_and_take part", "ack_work_and_take part", "enqueue_tx part"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// early is a store that tells of a turn before its call returns.
type early struct {
	provider.Provider
	provider.Taker
}

func (early) AckWorkAndTake(_ context.Context, _ []provider.WorkAck, params provider.TakeParams) ([]error, provider.Taken, error) {
	params.Early(&provider.FetchedOrchestration{})
	return nil, provider.Taken{}, nil
}

// lastEnd keeps what it was told of last.
type lastEnd struct {
	hook.None

	ended *hook.StoreEnd
}

func (l lastEnd) Store(context.Context, string) func(hook.StoreEnd) {
	return func(end hook.StoreEnd) { *l.ended = end }
}

// A hook is told of a turn that the store tells of early, with the call that has taken it.
func TestEarlyTurnIsTold(t *testing.T) {
	t.Parallel()
	var ended hook.StoreEnd
	taker, ok := observed.As[provider.Taker](observed.Store(early{}, lastEnd{ended: &ended}))
	if !ok {
		t.Fatal("the store is no Taker")
	}
	turns := 0
	_, taken, err := taker.AckWorkAndTake(t.Context(), nil, provider.TakeParams{Early: func(*provider.FetchedOrchestration) { turns++ }})
	if turns != 1 || ended.Turns != 1 || taken.Turn != nil || err != nil {
		t.Errorf("told of %d turns, the hook of %d, and returned %v, %v; want 1, 1, no turn and no error", turns, ended.Turns, taken.Turn, err)
	}
}

// instant is a store that does nothing.
type instant struct{ bare }

func (instant) AckWorkItem(context.Context, string, provider.WorkItem) error { return nil }

// Without a hook nothing stands before the store.
func TestNoHookCostsNothing(t *testing.T) {
	t.Parallel()
	store := &instant{}
	if got := observed.Store(store, nil); got != provider.Provider(store) {
		t.Errorf("the store is a %T", got)
	}
}

// A call of a store that does nothing, as it is, without a hook and with one that does nothing.
func BenchmarkCall(b *testing.B) {
	for name, store := range map[string]provider.Provider{
		"plain": instant{}, "no hook": observed.Store(instant{}, nil), "hook": observed.Store(instant{}, hook.None{}),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			ctx := b.Context()
			for b.Loop() {
				if err := store.AckWorkItem(ctx, "", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
