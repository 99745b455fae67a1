package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// Level is how bad a finding is.
type Level string

// The levels.
const (
	// OK is as it should be.
	OK Level = "ok"
	// Warning works, and could work better or may not go on working.
	Warning Level = "warning"
	// Problem keeps a worker from working, or from working right.
	Problem Level = "problem"
)

// Finding is what one check of the doctor found.
type Finding struct {
	// Check names the check, such as "clock".
	Check string
	Level Level
	// Detail says what is the case, and Advice, unless all is well, what to do.
	Detail, Advice string
}

// patient is a database that is examined.
type patient struct {
	*Database

	facts    facts
	findings []Finding
}

// facts are what one check finds out for others.
type facts struct {
	// babelfish is a server that is PostgreSQL with T-SQL on top.
	babelfish bool
	// azure is Azure SQL Database, whose versions are not ours to judge.
	azure bool
	// seesModules tells whether the login may read the text of procedures.
	seesModules bool
}

// Examine checks the server, the database, the schema and the login. A check that the
// server or the login does not permit is a warning, not an error: others go on. Errors
// are the end of ctx.
func (d *Database) Examine(ctx context.Context) ([]Finding, error) {
	p := &patient{Database: d}
	for _, check := range []struct {
		name string
		run  func(*patient, context.Context) error
	}{
		{"server", (*patient).checkServer},
		{"compatibility level", (*patient).checkCompatibility},
		{"row versioning", (*patient).checkRowVersioning},
		{"durability", (*patient).checkDurability},
		{"writable", (*patient).checkWritable},
		{"login", (*patient).checkLogin},
		{"schema", (*patient).checkSchema},
		{"modules", (*patient).checkModules},
		{"code", (*patient).checkCode},
		{"clock", (*patient).checkClock},
		{"connections", (*patient).checkConnections},
	} {
		before := len(p.findings)
		err := check.run(p, ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			p.note(Warning, fmt.Sprintf("cannot be found out: %v", err), "ask somebody with more rights to run this command")
		}
		for i := before; i < len(p.findings); i++ {
			p.findings[i].Check = check.name
		}
	}
	return p.findings, nil
}

// note adds a finding of the current check.
func (p *patient) note(level Level, detail, advice string) {
	p.findings = append(p.findings, Finding{Level: level, Detail: detail, Advice: advice})
}

// checkServer looks at the version. Before 2016 SP1 there is no CREATE OR ALTER.
func (p *patient) checkServer(ctx context.Context) error {
	is, err := p.queries.GetServerVersion(ctx)
	if err != nil {
		return err
	}
	p.facts = facts{babelfish: isBabelfish(is.Banner), azure: isAzure(int64(orZero(is.EngineEdition)))}
	p.findings = append(p.findings, judgeServer(orZero(is.Edition), orZero(is.ProductVersion), p.facts))
	return nil
}

// orZero is what a pointer points to; the zero value for NULL.
func orZero[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

func (p *patient) checkCompatibility(ctx context.Context) error {
	is, err := p.queries.GetCompatibilityLevel(ctx)
	if err != nil {
		return err
	}
	p.findings = append(p.findings, judgeCompatibility(is.Value, is.Name, p.facts))
	return nil
}

func (p *patient) checkRowVersioning(ctx context.Context) error {
	is, err := p.queries.GetRowVersioning(ctx)
	if err != nil {
		return err
	}
	p.findings = append(p.findings, judgeRowVersioning(orZero(is.Value), is.Name))
	return nil
}

func (p *patient) checkDurability(ctx context.Context) error {
	is, err := p.queries.GetDelayedDurability(ctx)
	if err != nil {
		return err
	}
	p.findings = append(p.findings, judgeDurability(orZero(is.Value), is.Name))
	return nil
}

func (p *patient) checkWritable(ctx context.Context) error {
	updateability, err := p.queries.GetUpdateability(ctx)
	if err != nil {
		return err
	}
	p.findings = append(p.findings, judgeWritable(orZero(updateability)))
	return nil
}

// checkLogin asks what the login may do in the schema.
func (p *patient) checkLogin(ctx context.Context) error {
	schema := quote(p.schema)
	callable, class := schema, "SCHEMA"
	if p.facts.babelfish {
		// It says no for every schema, and the truth for what is in one.
		callable, class = schema+".fetch_orchestration_item", "OBJECT"
	}
	is, err := p.queries.GetPermissions(ctx, mssqldb.GetPermissionsParams{
		Schema: schema, Callable: callable, Class: class, Role: migrate.RoleName(p.schema),
	})
	if err != nil {
		return err
	}
	owner, err := p.queries.IsOwner(ctx)
	if err != nil {
		return err
	}
	g := grants{
		login: orZero(is.LoginName), user: orZero(is.UserName), owner: owner == 1,
		execute: is.MayExecute, runtime: is.InRole,
	}
	p.facts.seesModules = orZero(is.MayViewDefinition) == 1 || g.owner
	p.findings = append(p.findings, judgeGrants(g, p.schema, errors.Is(p.trouble, mssql.ErrMissingSchema)))
	return nil
}
