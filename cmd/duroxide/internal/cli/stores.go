package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/client"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/server"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/sqlite"
)

// Store is an open store.
type Store interface {
	provider.Store
	io.Closer
}

// Opener opens a store. place is its URL without the scheme and the colon. Errors:
// [provider.ErrInvalidArgument] for a place that cannot be understood. Unless create is
// set, [provider.ErrNotFound] for a store that does not exist, and nothing is created.
type Opener func(ctx context.Context, place string, create bool) (Store, error)

// Stores maps the schemes of store URLs to what opens them.
type Stores map[string]Opener

// KnownStores are the stores this program is built with. login is how it logs in to SQL
// Server, nil for the driver's own ways.
func KnownStores(login server.Login) Stores {
	return Stores{"sqlite": openSQLite, "sqlserver": openSQLServer("sqlserver:", login), "mssql": openSQLServer("mssql:", login)}
}

// schemeOf matches a URL's scheme. One letter is no scheme but a Windows drive.
var schemeOf = regexp.MustCompile(`^([a-z][a-z0-9+.-]+):(.*)$`)

// urlError is a store's URL that cannot be understood. It matches
// [provider.ErrInvalidArgument].
type urlError struct{ text string }

func (e urlError) Error() string { return e.text }

func (urlError) Unwrap() error { return provider.ErrInvalidArgument }

func badURL(format string, args ...any) error {
	return urlError{fmt.Sprintf(format, args...)}
}

// Open opens the store of a URL. Errors never quote more of the URL than its
// scheme, since it may hold a password; they are those of an [Opener].
func (s Stores) Open(ctx context.Context, storeURL string, create bool) (Store, error) {
	parts := schemeOf.FindStringSubmatch(storeURL)
	if parts == nil {
		return nil, badURL("this is no URL of a store; write sqlite:orders.db or sqlserver://user:password@host?database=orders")
	}
	opener, ok := s[parts[1]]
	if !ok {
		return nil, badURL("there is no store of scheme %q; this program knows %s",
			parts[1], strings.Join(slices.Sorted(maps.Keys(s)), ", "))
	}
	return opener(ctx, parts[2], create)
}

// memory is the place of a SQLite database that is not in a file.
const memory = ":memory:"

// sqlitePlace is the place of a SQLite store.
type sqlitePlace struct {
	path    string
	options sqlite.Options
}

// afterMark says what a ? in a path is taken for.
const afterMark = "; what follows a ? is options: name a file with a ? in its path through a link without one"

// parseSQLite reads path?synchronous=normal.
func parseSQLite(place string) (sqlitePlace, error) {
	path, options, _ := strings.Cut(strings.TrimPrefix(place, "//"), "?")
	if path == "" {
		return sqlitePlace{}, badURL("sqlite: needs the path of a file, for example sqlite:orders.db")
	}
	p := sqlitePlace{path: path}
	values, err := url.ParseQuery(options)
	if err != nil {
		return p, badURL("sqlite: the options after ? cannot be read: %v%s", err, afterMark)
	}
	for name, list := range values {
		switch option := name + "=" + list[len(list)-1]; option {
		case "synchronous=full":
			p.options.Synchronous = sqlite.Full
		case "synchronous=normal":
			p.options.Synchronous = sqlite.Normal
		default:
			return p, badURL("sqlite: unknown option %s; there are synchronous=full and synchronous=normal%s", strings.TrimSuffix(option, "="), afterMark)
		}
	}
	return p, nil
}

// openSQLite opens sqlite:path and sqlite::memory:.
func openSQLite(ctx context.Context, place string, create bool) (Store, error) {
	p, err := parseSQLite(place)
	if err != nil {
		return nil, err
	}
	path := p.path
	if path == memory {
		return sqlite.OpenMemory(ctx, p.options)
	}
	if info, err := os.Stat(path); !create && errors.Is(err, fs.ErrNotExist) {
		return nil, notFound("there is no database at %s; a worker or 'duroxide start' creates it", path)
	} else if !create && err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil, notFound("the file %s is empty; a worker or 'duroxide start' makes a database of it", path)
	}
	return sqlite.Open(ctx, path, p.options)
}

// openSQLServer opens what stands behind a scheme. A schema is never created by the way:
// that is what 'duroxide migrate up' is for.
func openSQLServer(scheme string, login server.Login) Opener {
	return func(ctx context.Context, place string, _ bool) (Store, error) {
		store, err := server.Open(ctx, login, server.Address(scheme+place))
		if err != nil {
			return nil, err
		}
		return store, nil
	}
}

// openingError is a store that cannot be opened. Some stores say that it was opening that
// failed, and once is enough.
type openingError struct{ err error }

func (e openingError) Error() string {
	return "opening the store: " + strings.TrimPrefix(e.err.Error(), "open: ")
}

func (e openingError) Unwrap() error { return e.err }

// session is an open store as commands use it.
type session struct {
	*client.Client

	store provider.Store
}

// storeURL is the URL of --store or of the environment.
func (a *app) storeURL(cmd *cobra.Command) (string, error) {
	if storeURL := cmp.Or(a.store, a.env.Getenv("DUROXIDE_STORE")); storeURL != "" {
		return storeURL, nil
	}
	return "", usageError{cmd, errors.New("which store? Give --store or set DUROXIDE_STORE, for example to sqlite:orders.db")}
}

// withStore opens the store of --store for a command. It is closed when the
// command is done.
func (a *app) withStore(cmd *cobra.Command, create bool, run func(ctx context.Context, s session) error) (err error) {
	storeURL, err := a.storeURL(cmd)
	if err != nil {
		return err
	}
	store, err := a.env.Stores.Open(cmd.Context(), storeURL, create)
	if err != nil {
		return openingError{err}
	}
	defer func() {
		if closeErr := store.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("closing the store: %w", closeErr)
		}
	}()
	return run(cmd.Context(), session{client.New(store, client.Options{}), store})
}

// lookUp reads an instance's facts.
func (s session) lookUp(ctx context.Context, instance string) (provider.InstanceInfo, error) {
	info, err := s.store.GetInstanceInfo(ctx, instance)
	if !errors.Is(err, provider.ErrNotFound) {
		return info, err
	}
	held, err := s.held(ctx, instance)
	if err != nil {
		return info, err
	}
	if held != nil {
		return info, notFound("instance %q is queued and held: it waits for %s", instance, held.Reason)
	}
	use, err := s.store.FindInstance(ctx, instance)
	switch {
	case err != nil:
		return info, err
	case use == nil:
		if letters, err := s.letters(ctx, instance); err != nil || len(letters) > 0 {
			return info, errors.Join(err, notFound("there is no instance %q, and %d of its messages could not be decoded and were set aside: "+
				"'duroxide dead-letters' lists them", instance, len(letters)))
		}
		return info, noInstance(instance)
	}
	return info, notFound("instance %q is queued: no worker has begun %s yet", instance, use.Name)
}

func noInstance(instance string) error {
	return notFound("there is no instance %q: it was never started, or it was deleted", instance)
}
