package tsqltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/server/explore"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schedule"
	"github.com/duroxide/duroxide-go/tsql/internal/server/session"
)

// stage is where schedules are played: a server that is put back to its beginning, and the sessions of the present
// schedule.
type stage struct {
	server  *Server
	image   *session.Image
	start   time.Time
	machine *explore.Machine
	players []*Player
	// abandoned says that the schedule has failed, and its sessions are to end as soon as they can.
	abandoned bool
	watch     func(actor int, at schedule.Point)
	space     *explore.Space // of the plan that is being tried
}

// maxPoints is how many scheduling points a schedule may have.
const maxPoints = 1 << 20

// begin makes the server, or borrows it.
func (e *explorer) begin() {
	e.t.Helper()
	if b := e.scenario.Base; b != nil {
		e.server = b.lend(e.t, e.scenario.Setup)
	} else {
		e.server = prepare(e.t, e.scenario.Options, e.scenario.Setup)
	}
	server := e.server
	e.start = server.options.Clock.Now()
	server.exploring = func() time.Time {
		if e.machine == nil {
			return e.start
		}
		return e.start.Add(e.machine.Now())
	}
	server.latch.Scheduler = explore.NewMachine()
	if b := e.scenario.Base; b != nil && e.scenario.Setup == nil {
		e.image = b.image // with the plans that others have made
	} else {
		e.image = server.sessions.Save()
	}
	server.sessions.Take(e.options.plans(e.plan))
}

func (e *explorer) close() {
	e.strike()
	switch {
	case e.server == nil:
	case e.scenario.Base != nil:
		e.scenario.Base.using.Unlock()
	default:
		e.server.Close()
	}
	e.server = nil
}

// strike ends what is left of the last schedule.
func (e *explorer) strike() {
	if e.machine != nil {
		e.machine.Close()
	}
	for _, p := range e.players {
		p.conn.Close()
		p.cancel()
	}
	e.machine, e.players, e.abandoned = nil, nil, false
}

// Machine puts the server back to its beginning and the players on it.
func (e *explorer) Machine() *explore.Machine {
	e.strike()
	if !e.image.Restore() {
		e.close()
		e.begin()
	}
	e.server.sessions.Deadlocks(true)
	e.server.random.Seed(e.options.Seed, 0)
	m := explore.NewMachine()
	m.Space, m.Everywhere, m.Limit, m.Watch = e.space, e.options.Every, maxPoints, e.watch
	e.server.latch.Scheduler, e.machine = m, m
	e.server.sessions.Observe(m)
	for i := range e.scenario.Sessions {
		e.add(&e.scenario.Sessions[i])
	}
	return m
}

// add makes the player of a session.
func (e *explorer) add(s *Session) {
	conn, err := e.server.Connect(context.Background())
	if err != nil {
		e.t.Fatal(err)
	}
	p := &Player{explorer: e, session: s, conn: conn}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	e.players = append(e.players, p)
	e.machine.Go(p.id(), p.play)
}

// Abandon makes the players of a schedule that has failed come to their end.
func (e *explorer) Abandon() {
	e.abandoned = true
	for _, p := range e.players {
		p.cancel()
	}
}

// errAbandoned is what a player panics with to come to its end.
var errAbandoned = errors.New("the schedule has failed")

// Player is a session during a schedule. Its methods are for [Session].Run.
type Player struct {
	explorer *explorer
	session  *Session
	conn     *Conn
	ctx      context.Context //nolint:containedctx // of the schedule
	cancel   func()
	request  func() // cancels the request that is being executed; nil between requests
	results  []*Result
	notes    []any
	err      error
	ended    bool // it was cut or killed
}

func (p *Player) id() schedule.ID {
	c, _ := p.conn.session.(*connection)
	return c.scheduleID()
}

// play is the session from its beginning to its end.
func (p *Player) play() {
	defer func() {
		if r := recover(); r != nil && r != errAbandoned { //nolint:errorlint // it is never wrapped
			panic(r)
		}
		p.conn.Close()
	}()
	if p.session.Run != nil {
		p.err = p.session.Run(p)
		return
	}
	for _, step := range p.session.Steps {
		if _, p.err = p.Exec(step); p.err != nil {
			return
		}
	}
}

// Exec executes a batch.
func (p *Player) Exec(batch string) (*Result, error) {
	return p.do(func(ctx context.Context) (*Result, error) { return p.conn.Exec(ctx, batch) })
}

// Call executes a procedure.
func (p *Player) Call(procedure string, args ...Arg) (*Result, error) {
	return p.do(func(ctx context.Context) (*Result, error) { return p.conn.Call(ctx, procedure, args...) })
}

func (p *Player) do(f func(ctx context.Context) (*Result, error)) (*Result, error) {
	p.order(begins, ends)
	p.explorer.machine.Pause("step")
	if p.explorer.abandoned {
		panic(errAbandoned)
	}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	p.request = cancel
	result, err := f(ctx)
	p.explorer.machine.Pause("answer") // which may not arrive
	p.order(ends, begins)
	p.request = nil
	if p.explorer.abandoned {
		panic(errAbandoned)
	}
	if err == nil && ctx.Err() != nil {
		result, err = nil, fmt.Errorf("tsqltest: the answer is lost: %w", context.Cause(ctx))
	}
	p.results = append(p.results, result)
	return result, err
}

// The ways in which requests come after one another: whether one has begun before or after another has ended matters,
// if the scenario says so.
const (
	begins uint8 = iota
	ends
)

func (p *Player) order(way, against uint8) {
	if p.explorer.scenario.Ordered {
		p.explorer.machine.Changed(requests, way, 1<<against)
	}
}

// requests are all requests, as a thing.
var requests = schedule.Thing("requests")

// Note keeps a value for [End.Notes].
func (p *Player) Note(value any) { p.notes = append(p.notes, value) }

// Now returns the time of the server's clock.
func (p *Player) Now() time.Time {
	p.explorer.machine.Looked(schedule.Clock, schedule.Always)
	return p.explorer.server.now()
}

// Advance moves the server's clock forward by d, at a point that the schedule chooses. It does not end waits.
func (p *Player) Advance(d time.Duration) {
	p.explorer.machine.Pause("step")
	p.explorer.machine.Advance(d)
}

// Cut cancels the request that another session is executing, as a client does after a timeout, at a point that the
// schedule chooses. The request returns an error that matches context.Canceled. A session that executes no request is
// not affected.
func (p *Player) Cut(name string) {
	p.explorer.machine.Pause("step")
	other := p.explorer.player(name)
	p.explorer.machine.Met(other.id())
	if other.request != nil {
		other.ended = true
		other.request()
	}
}

// Kill ends the connection of another session, at a point that the schedule chooses, and rolls back its open
// transaction.
func (p *Player) Kill(name string) {
	p.explorer.machine.Pause("step")
	other := p.explorer.player(name)
	other.ended = true
	if other.request != nil {
		other.request()
	}
	p.explorer.server.sessions.End(other.id())
}

// player finds a session by its name.
func (e *explorer) player(name string) *Player {
	for _, p := range e.players {
		if p.session.Name == name {
			return p
		}
	}
	panic("tsqltest: no session of the scenario is called " + name)
}

// nameOf is the name of a session by its number.
func (e *explorer) nameOf(id schedule.ID) string {
	for _, p := range e.players {
		if p.id() == id {
			return p.session.Name
		}
	}
	return fmt.Sprint("session ", id)
}

// End is the result of a schedule, for [Scenario].Check.
type End struct {
	explorer *explorer
	conn     *Conn
}

// Exec executes a batch on a new connection, after all sessions have ended.
func (e *End) Exec(batch string) (*Result, error) {
	if e.conn == nil {
		conn, err := e.explorer.server.Connect(context.Background())
		if err != nil {
			return nil, err
		}
		e.conn = conn
	}
	return e.conn.Exec(context.Background(), batch)
}

// Value executes a batch and returns the first column of the first row; nil if there is no row. If the batch fails,
// its error is the value.
func (e *End) Value(batch string) any {
	result, err := e.Exec(batch)
	switch {
	case err != nil:
		return err
	case len(result.Sets) == 0 || len(result.Sets[0].Rows) == 0:
		return nil
	}
	return result.Sets[0].Rows[0][0]
}

// Advance moves the server's clock forward by d.
func (e *End) Advance(d time.Duration) { e.explorer.machine.Advance(d) }

// Err returns the error that a session ended with, nil if there was none.
func (e *End) Err(name string) error { return e.explorer.player(name).err }

// Results returns the results of a session's requests, including those that failed.
func (e *End) Results(name string) []*Result { return e.explorer.player(name).results }

// Notes returns the values that sessions have kept with [Player.Note], session by session.
func (e *End) Notes() []any {
	var notes []any
	for _, p := range e.explorer.players {
		notes = append(notes, p.notes...)
	}
	return notes
}

func (e *End) close() {
	if e.conn != nil {
		e.conn.Close()
	}
}
