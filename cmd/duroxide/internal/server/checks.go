package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// isAzure tells the services, which are always of the latest version: SQL Database,
// Synapse, Managed Instance, Edge and Fabric
// (https://learn.microsoft.com/sql/t-sql/functions/serverproperty-transact-sql, EngineEdition).
func isAzure(engineEdition int64) bool { return engineEdition == 5 || engineEdition >= 8 }

// judgeServer needs 2016 SP1 (13.0.4001), the first with CREATE OR ALTER.
func judgeServer(edition string, f facts) Finding {
	detail := strings.TrimSpace(edition + " " + f.version)
	if f.azure || !olderThan(f.version, 13, 0, 4001) {
		return Finding{Level: OK, Detail: "SQL Server, " + detail}
	}
	return Finding{Level: Problem, Detail: "SQL Server, " + detail + ", is too old", Advice: "upgrade to 2016 SP1 or later"}
}

// olderThan compares the beginning of a version such as 13.0.4001.0. One that cannot be
// read is not older.
func olderThan(version string, than ...int) bool {
	parts := strings.Split(version, ".")
	for i, want := range than {
		if i >= len(parts) {
			return false
		}
		got, err := strconv.Atoi(parts[i])
		if err != nil || got > want {
			return false
		}
		if got < want {
			return true
		}
	}
	return false
}

// judgeCompatibility wants 130, the level of the oldest server. Nothing needs it, but lower levels are tested by
// nobody.
func judgeCompatibility(level int64, database string) Finding {
	const needed = 130
	if level >= needed {
		return Finding{Level: OK, Detail: fmt.Sprintf("database %s is at level %d", quote(database), level)}
	}
	return Finding{
		Level: Warning,
		Detail: isNot("the level of database "+quote(database), strconv.FormatInt(level, 10), strconv.Itoa(needed)+" or higher",
			"lower levels are not tested"),
		Statement: fmt.Sprintf("ALTER DATABASE %s SET COMPATIBILITY_LEVEL = %d;", quote(database), needed),
	}
}

// judgeWritable takes DATABASEPROPERTYEX's Updateability, empty on a server without it.
func judgeWritable(updateability string) Finding {
	if updateability != "READ_ONLY" {
		return Finding{Level: OK, Detail: "the database can be written"}
	}
	return Finding{
		Level: Problem, Detail: "the database is read-only",
		Advice: "connect to the primary replica, or make the database writable",
	}
}

// grants are what a login may do.
type grants struct {
	login, user string
	owner       bool
	// read, work and remove tell whether it may call what the roles for reading, for workers and
	// for administration may, and runtime whether it is in the workers' role.
	read, work, remove, runtime bool
}

// judgeGrants needs what a worker needs. missing says that there is no schema to have rights on.
func judgeGrants(g grants, schema string, missing bool) Finding {
	who := fmt.Sprintf("login %s, user %s", g.login, g.user)
	join := fmt.Sprintf("ALTER ROLE %s ADD MEMBER %s;", quote(migrate.RoleName(schema)), quote(g.user))
	switch {
	case missing:
		return Finding{Level: OK, Detail: who}
	case g.owner:
		return Finding{Level: OK, Detail: who + ", owner of the database: may migrate; a worker needs only the role " + quote(migrate.RoleName(schema))}
	case g.work && g.remove:
		return Finding{Level: OK, Detail: who + ": may work, delete and prune"}
	case g.work:
		return Finding{Level: OK, Detail: who + ": may work; deleting and pruning need the role " + quote(migrate.AdminRoleName(schema))}
	case g.runtime:
		return Finding{Level: Problem, Detail: who + " is in the role " + quote(migrate.RoleName(schema)) + ", which may not call the procedures that workers call"}
	case g.read:
		return Finding{
			Level: Problem, Detail: who + " may read, but not work", Statement: join,
			Advice: "workers, and programs that start orchestrations, need the role " + quote(migrate.RoleName(schema)),
		}
	}
	return Finding{Level: Problem, Detail: who + " may not call the procedures", Statement: join}
}

// checkGrants compares what the roles may do with this release.
func (p *patient) checkGrants(ctx context.Context) error {
	if errors.Is(p.trouble, mssql.ErrMissingSchema) {
		return nil
	}
	missing, err := (&migrate.Migration{DB: p.db, Schema: p.schema}).MissingGrants(ctx)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		p.note(OK, "the roles may do what this release grants them", "")
		return nil
	}
	p.findings = append(p.findings, Finding{
		Level: Problem, Detail: fmt.Sprintf("the roles lack %d rights that this release grants them", len(missing)),
		Advice: "run this as an owner", Statement: strings.Join(missing, " "),
	})
	return nil
}

// checkSchema reports what opening the store has said.
func (p *patient) checkSchema(context.Context) error {
	switch {
	case p.trouble == nil:
		p.note(OK, "schema "+quote(p.schema)+" suits this program", "")
	case errors.Is(p.trouble, mssql.ErrMissingSchema):
		p.note(Problem, "schema "+quote(p.schema)+" does not exist, or the login may not see it",
			"run `duroxide migrate up`, or make the login a member of the role "+quote(migrate.RoleName(p.schema)))
	default:
		detail, advice := inTwo(strings.TrimPrefix(p.trouble.Error(), "open: "))
		p.note(Problem, detail, advice)
	}
	return nil
}

// inTwo parts a message into what is the case and what to do, as the store's and the
// migrator's messages have it.
func inTwo(message string) (detail, advice string) {
	if at := strings.LastIndex(message, "; "); at >= 0 {
		return message[:at], message[at+len("; "):]
	}
	return message, "see the other lines"
}

// checkModules compares procedures, functions and views with this release's.
// Without the right to read them they would all seem to be missing.
func (p *patient) checkModules(ctx context.Context) error {
	if errors.Is(p.trouble, mssql.ErrMissingSchema) || errors.Is(p.trouble, mssql.ErrNewerSchema) {
		return nil // said already, and there is nothing to compare
	}
	if !p.facts.seesModules {
		p.note(Warning, "this login may not read the procedures and the settings of tables and indexes; a worker needs no such right",
			"run this command as an owner to check them")
		return nil
	}
	problems, err := p.Migration(nil).Verify(ctx)
	if errors.Is(err, migrate.ErrNewerSchema) {
		p.note(Warning, "the schema is of a newer release, which still serves this program; only a program of that release can check the procedures",
			"upgrade this program to the newer release")
		return nil
	}
	if err != nil {
		return err
	}
	p.facts.comparable, p.facts.problems = true, problems
	good := true
	for _, problem := range problems {
		if problem.Kind != migrate.ProblemPageLocks { // another check's
			good = false
			p.findings = append(p.findings, judgeProblem(problem))
		}
	}
	if good {
		p.note(OK, "tables, indexes, procedures, functions, views and their SET options are this release's", "")
	}
	return nil
}

// judgeProblem turns a difference into a finding. What somebody has added is theirs.
func judgeProblem(p migrate.Problem) Finding {
	f := Finding{Level: Problem}
	if p.Kind == migrate.ProblemExtraModule || p.Kind == migrate.ProblemExtraIndex {
		f.Level = Warning
	}
	f.Detail, f.Advice = inTwo(p.Object + ": " + p.Detail)
	return f
}

// checkCode looks for work that no live worker can take.
func (p *patient) checkCode(ctx context.Context) error {
	if p.trouble != nil {
		return nil //nolint:nilerr // said already
	}
	unknown, err := p.queries.ListUnknownCode(ctx, mssqldb.ListUnknownCodeParams{UnknownMs: provider.LiveFor.Milliseconds()})
	if err != nil {
		return err
	}
	for _, code := range unknown.Codes {
		p.findings = append(p.findings, judgeUnknown(code))
	}
	if len(unknown.Codes) == 0 {
		p.note(OK, "no work is held for want of a worker that takes it", "")
	}
	return nil
}

// judgeUnknown is never a problem of the database: the worker may only be stopped.
func judgeUnknown(code mssqldb.ListUnknownCodeCodesRow) Finding {
	missing := provider.UnknownCode{
		CodeName: provider.CodeName{Name: code.Name, Version: code.Version}, Activity: code.Activity, OtherTags: code.OtherTags,
	}
	if code.Tag != "" {
		missing.Tag = &code.Tag
	}
	if code.SeenAt != nil {
		missing.LastKnown = time.UnixMilli(*code.SeenAt)
	}
	return Finding{
		Level: Warning,
		Detail: fmt.Sprintf("%d held, the first since %s: work waits for %s", code.Waiting,
			time.UnixMilli(code.ReadyAt).UTC().Format("2006-01-02 15:04:05"), missing),
		Advice: "start a worker that registers it and takes its tag; the work goes on then. If the name is misspelt, cancel the instance",
	}
}

// checkHeld looks for instances that are held because their code does not fit their histories, or cannot read them.
func (p *patient) checkHeld(ctx context.Context) error {
	if p.trouble != nil {
		return nil //nolint:nilerr // said already
	}
	result, err := p.queries.ListHeldInstances(ctx)
	if err != nil {
		return err
	}
	p.findings = append(p.findings, judgeHeld(result.Held))
	return nil
}

// judgeHeld is never a problem of the database: the code or a history is to be mended.
func judgeHeld(held []mssqldb.ListHeldInstancesHeldRow) Finding {
	if len(held) == 0 {
		return Finding{Level: OK, Detail: "no instance is held"}
	}
	first := held[0]
	return Finding{
		Level: Warning,
		Detail: fmt.Sprintf("%d held, the first since %s: %s", len(held),
			time.UnixMilli(first.Since).UTC().Format("2006-01-02 15:04:05"), first.Misfit),
		Advice: "deploy code that fits, such as the previous release, or mend what cannot be read, and then run 'duroxide retry --all'; " +
			"'duroxide list --status Held' shows the instances, and 'duroxide status' why each is held",
	}
}

// checkDeadLetters looks for what could not be decoded.
func (p *patient) checkDeadLetters(ctx context.Context) error {
	if p.trouble != nil {
		return nil //nolint:nilerr // said already
	}
	result, err := p.queries.CountDeadLetters(ctx)
	if err != nil {
		return err
	}
	p.findings = append(p.findings, JudgeDeadLetters(uint64(result.Letters.Letters)))
	return nil
}

// JudgeDeadLetters is never a problem of the store: nothing is lost, and somebody has to look.
func JudgeDeadLetters(count uint64) Finding {
	f := Finding{Check: "dead letters", Level: OK, Detail: "nothing was set aside"}
	if count > 0 {
		f.Level = Warning
		f.Detail = fmt.Sprintf("%d messages or activities could not be decoded and were set aside; their instances wait for them", count)
		f.Advice = "'duroxide dead-letters' lists them, sends them again (with the release that wrote them) and deletes them"
	}
	return f
}

// clockReading is the server's clock as seen from here.
type clockReading struct {
	// ahead is how far the server's clock is ahead of ours, give or take half a trip.
	ahead, trip time.Duration
}

// checkClock reads the server's clock a few times, and believes the shortest trip.
func (p *patient) checkClock(ctx context.Context) error {
	best := clockReading{trip: math.MaxInt64}
	const readings = 5
	for range readings {
		began := time.Now()
		server, err := p.queries.ReadClock(ctx)
		if err != nil {
			return err
		}
		if trip := time.Since(began); trip < best.trip {
			best = clockReading{time.UnixMilli(server).Sub(began.Add(trip / 2)), trip}
		}
	}
	p.findings = append(p.findings, judgeClock(best))
	return nil
}

// judgeClock never finds a problem: no worker works wrongly, however far the clocks are
// apart. Leases are the server's alone, and a timer reaches it as a length of time
// (docs/contract.md §2.1). What is off are moments that the two note for people or compare:
// a worker dates events and answers UTCNow, the server dates instances and
// executions, and purge deletes by this machine's clock.
func judgeClock(r clockReading) Finding {
	const tolerable = time.Second
	difference, relation := r.ahead.Abs().Round(time.Millisecond), "ahead of"
	if r.ahead < 0 {
		relation = "behind"
	}
	f := Finding{
		Level: OK,
		Detail: fmt.Sprintf("the server's clock is %v %s this machine's, measured over a round trip of %v",
			difference, relation, r.trip.Round(time.Microsecond)),
	}
	if r.ahead.Abs()-r.trip/2 > tolerable {
		f.Level = Warning
		f.Advice = "synchronise both clocks (NTP): times in histories and times of instances differ by that much, and the age by which purge deletes " +
			"is wrong by that much; leases and timers are right; let NTP slew the server's clock and never set it back: set back by an hour, it makes " +
			"timers an hour late, and work of a worker that died waits an hour longer for the next"
	}
	return f
}

// checkConnections compares what a process may open with what the server takes.
func (p *patient) checkConnections(ctx context.Context) error {
	most, err := p.queries.GetMaxConnections(ctx)
	if err != nil {
		return err
	}
	pool, err := poolSize()
	if err != nil {
		return err
	}
	p.findings = append(p.findings, judgeConnections(pool, most))
	return nil
}

func judgeConnections(pool int, most int64) Finding {
	detail := fmt.Sprintf("a process opens up to %d (%s), and the server accepts %d", pool, poolEnv, most)
	if int64(pool) > most {
		return Finding{Level: Problem, Detail: detail, Advice: "lower " + poolEnv}
	}
	return Finding{Level: OK, Detail: detail}
}

// quote writes an identifier.
func quote(name string) string { return migrate.Quote(name) }
