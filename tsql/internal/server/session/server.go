package session

import (
	"context"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/planner"
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
)

// Options configure a server.
type Options struct {
	Scheduler schedule.Scheduler
	// Now is the clock that statements read.
	Now func() time.Time
	// Random is where NEWID, RAND and their like take their bits from.
	Random func() uint64
	// Name is @@SERVERNAME.
	Name string
	// Log is told of the errors that end a connection; nil for nobody.
	Log func(text string)
}

// Server is what all sessions share.
type Server struct {
	scheduler schedule.Scheduler
	engine    *store.Engine
	catalog   *schema.Server
	now       func() time.Time
	random    func() uint64
	name      string
	log       func(text string)
	started   time.Time
	units     map[unitKey]*unit
	sessions  map[schedule.ID]*Session
	globals   globals
	waiting   map[schedule.ID]alone // sessions that wait to be alone in a database
	lastID    atomic.Int32

	requests, statements, commits, delayed atomic.Int64 // since the server started

	observer schedule.Observer // never nil
	plans    Plans
	planning uint64 // plans of another number are made anew, see [Server.ForgetPlans]

	watching  sync.Mutex // guards what follows
	watchers  []*func([]Touch)
	deadlocks []lock.Deadlock
}

// firstSession is the number before that of the first user's session: those below are the system's.
const firstSession = 50

// NewServer returns a server for the databases of a catalog.
func NewServer(catalog *schema.Server, engine *store.Engine, o Options) *Server {
	v := &Server{
		scheduler: o.Scheduler, engine: engine, catalog: catalog, now: o.Now, random: o.Random, name: o.Name, log: o.Log,
		started: o.Now(), units: map[unitKey]*unit{}, sessions: map[schedule.ID]*Session{}, globals: newGlobals(),
		waiting: map[schedule.ID]alone{}, observer: schedule.Unobserved{},
	}
	v.now = func() time.Time {
		v.observer.Looked(schedule.Clock, schedule.Always)
		return o.Now()
	}
	locks := engine.Locks()
	locks.Now, locks.Name, locks.Tell = o.Now, v.Name, v.keep
	catalog.Bumped = func() { v.observer.Changed(schedule.Definitions, 0, schedule.Always) }
	v.lastID.Store(firstSession)
	return v
}

// keptDeadlocks is how many deadlocks are remembered.
const keptDeadlocks = 64

// keep remembers a deadlock.
func (v *Server) keep(d lock.Deadlock) {
	v.watching.Lock()
	defer v.watching.Unlock()
	if len(v.deadlocks) == keptDeadlocks {
		v.deadlocks = slices.Delete(v.deadlocks, 0, 1)
	}
	v.deadlocks = append(v.deadlocks, d)
}

// Deadlocks are the last ones, the oldest first. Forget makes the list begin anew.
func (v *Server) Deadlocks(forget bool) []lock.Deadlock {
	v.watching.Lock()
	defer v.watching.Unlock()
	list := slices.Clone(v.deadlocks)
	if forget {
		v.deadlocks = nil
	}
	return list
}

// Open checks a login and returns its session.
func (v *Server) Open(_ context.Context, login request.Login) (*Session, error) {
	id := schedule.ID(v.lastID.Add(1))
	v.scheduler.Enter(id)
	defer v.scheduler.Leave(id)
	who := v.catalog.Login(login.User)
	if who == nil || who.Password != login.Password {
		return nil, fault.New(18456, login.User)
	}
	if who.Disabled {
		return nil, fault.New(18470, login.User)
	}
	db := v.catalog.Database(login.Database)
	if login.Database == "" {
		db = v.catalog.Database(who.DefaultDatabase)
	}
	if db == nil || db.SingleUser && v.inUse(db, nil) {
		return nil, fault.New(4060, login.Database)
	}
	if db.UserOf(who) == nil {
		return nil, fault.New(4060, login.Database)
	}
	s := &Session{
		server: v, id: id, store: v.engine.Session(id), login: who, host: login.HostName, app: login.AppName, encrypted: login.Encrypted,
		home: db, db: db, identities: []identity{{login: who}}, options: defaults(), opened: v.now(), ctx: context.Background(),
		prepared: map[int32]*prepared{}, cursors: map[string]*cursor{}, procedures: map[string]*schema.Module{}, context: map[string]sessionValue{},
	}
	s.applyOptions()
	v.sessions[s.id] = s
	return s, nil
}

// forget takes a session off the list.
func (v *Server) forget(s *Session) {
	delete(v.sessions, s.id)
	v.left(s.db)
}

// Sessions returns the open sessions in the order of their numbers.
func (v *Server) Sessions() []*Session {
	list := make([]*Session, 0, len(v.sessions))
	for _, s := range v.sessions {
		list = append(list, s)
	}
	sort.Slice(list, func(i, k int) bool { return list[i].id < list[k].id })
	return list
}

// fold is how names are compared that have no collation of their own.
func fold(name string) string { return strings.ToLower(name) }

// captured are the result sets of a call that INSERT … EXEC makes.
type captured struct {
	sets         []planner.Rows
	transactions int // @@TRANCOUNT at its beginning
}

// output is where results go.
type output struct {
	sink request.Sink
	into *captured // takes the rows instead of the sink; nil outside of INSERT … EXEC
	err  error     // the first error of the sink: the client is gone
	// redefined is the clause WITH RESULT SETS that the sets must follow; nil without one.
	redefined *redefinition
}

// Work is how much the server has done since it started: requests, statements (each IF, SET and EXEC is one), and
// commits of transactions that changed a table, apart from those whose durability is delayed.
type Work struct{ Requests, Statements, Commits, Delayed int }

// Work returns what the server has done.
func (v *Server) Work() Work {
	return Work{Requests: int(v.requests.Load()), Statements: int(v.statements.Load()), Commits: int(v.commits.Load()), Delayed: int(v.delayed.Load())}
}
