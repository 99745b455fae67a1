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
	// Detail says what is the case, and Advice and Statement, unless all is well, what to do: Statement is T-SQL to be
	// executed as it is, and Advice then what to think of before; either may be empty.
	Detail, Advice, Statement string
}

// patient is a database that is examined.
type patient struct {
	*Database

	facts    facts
	findings []Finding
}

// facts are what one check finds out for others.
type facts struct {
	// azure is Azure SQL Database, whose versions are not ours to judge.
	azure bool
	// version is the server's, such as 16.0.4135.4.
	version string
	// seesModules tells whether the login may read the text of procedures.
	seesModules bool
	// comparable tells that the schema could be compared with the scripts, with these problems.
	comparable bool
	problems   []migrate.Problem
}

// Examine checks the server, the database, the schema and the login. A check that the
// server or the login does not permit is a warning, not an error: others go on. Errors
// are the end of ctx.
func (d *Database) Examine(ctx context.Context) ([]Finding, error) {
	p := &patient{Database: d}
	for _, check := range checks() {
		before := len(p.findings)
		err := check.run(p, ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			p.note(Warning, fmt.Sprintf("cannot be checked: %v", err), "run this command with a login that has more rights")
		}
		for i := before; i < len(p.findings); i++ {
			p.findings[i].Check = check.name
		}
	}
	return p.findings, nil
}

// check is one thing that is looked at. Each has a name, which documents and programs know.
type check struct {
	name string
	run  func(*patient, context.Context) error
}

// checks are all checks, in the order of the report. Those of tables and indexes stand behind that of the modules,
// which finds out whether they can be seen.
func checks() []check {
	list := []check{
		{"server", (*patient).checkServer},
		{"compatibility level", (*patient).checkCompatibility},
	}
	for _, s := range databaseSettings() {
		list = append(list, check{s.check, func(p *patient, ctx context.Context) error { return s.examine(ctx, p) }})
	}
	list = append(list,
		check{"writable", (*patient).checkWritable},
		check{"login", (*patient).checkLogin},
		check{"grants", (*patient).checkGrants},
		check{"schema", (*patient).checkSchema},
		check{"modules", (*patient).checkModules},
	)
	for _, s := range tableSettings() {
		list = append(list, check{s.check, func(p *patient, ctx context.Context) error { return s.examine(ctx, p) }})
	}
	return append(list,
		check{"code", (*patient).checkCode},
		check{"held", (*patient).checkHeld},
		check{"dead letters", (*patient).checkDeadLetters},
		check{"clock", (*patient).checkClock},
		check{"connections", (*patient).checkConnections},
	)
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
	p.facts = facts{azure: isAzure(int64(orZero(is.EngineEdition))), version: orZero(is.ProductVersion)}
	p.findings = append(p.findings, judgeServer(orZero(is.Edition), p.facts))
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
	p.findings = append(p.findings, judgeCompatibility(is.Value, is.Name))
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
	is, err := p.queries.GetPermissions(ctx, mssqldb.GetPermissionsParams{Schema: quote(p.schema), Role: migrate.RoleName(p.schema)})
	if err != nil {
		return err
	}
	owner, err := p.queries.IsOwner(ctx)
	if err != nil {
		return err
	}
	g := grants{
		login: orZero(is.LoginName), user: orZero(is.UserName), owner: owner == 1,
		read: orZero(is.MayRead) == 1, work: orZero(is.MayWork) == 1, remove: orZero(is.MayDelete) == 1, runtime: orZero(is.InRole) == 1,
	}
	p.facts.seesModules = orZero(is.MayViewDefinition) == 1 || g.owner
	p.findings = append(p.findings, judgeGrants(g, p.schema, errors.Is(p.trouble, mssql.ErrMissingSchema)))
	return nil
}
