package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/provider/mssql"
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
	const query = `
SELECT CONVERT(NVARCHAR(400), SERVERPROPERTY('Edition')), CONVERT(NVARCHAR(128), SERVERPROPERTY('ProductVersion')),
    CONVERT(INT, SERVERPROPERTY('EngineEdition')), @@VERSION`
	var edition, version, banner sql.NullString
	var engine sql.NullInt64
	if err := p.db.QueryRowContext(ctx, query).Scan(&edition, &version, &engine, &banner); err != nil {
		return err
	}
	p.facts = facts{babelfish: isBabelfish(banner.String), azure: isAzure(engine.Int64)}
	p.findings = append(p.findings, judgeServer(edition.String, version.String, p.facts))
	return nil
}

// databaseOption reads a column of sys.databases for this database. A server that does
// not have it returns an error.
func (p *patient) databaseOption(ctx context.Context, column string) (value int64, name string, err error) {
	// column is a constant of this package.
	query := "SELECT CONVERT(BIGINT, d." + column + "), d.name FROM sys.databases AS d WHERE d.database_id = DB_ID()"
	err = p.db.QueryRowContext(ctx, query).Scan(&value, &name)
	return value, name, err
}

func (p *patient) checkCompatibility(ctx context.Context) error {
	level, name, err := p.databaseOption(ctx, "compatibility_level")
	if err != nil {
		return err
	}
	p.findings = append(p.findings, judgeCompatibility(level, name, p.facts))
	return nil
}

func (p *patient) checkRowVersioning(ctx context.Context) error {
	on, name, err := p.databaseOption(ctx, "is_read_committed_snapshot_on")
	if err != nil {
		return err
	}
	p.findings = append(p.findings, judgeRowVersioning(on, name))
	return nil
}

func (p *patient) checkDurability(ctx context.Context) error {
	mode, name, err := p.databaseOption(ctx, "delayed_durability")
	if err != nil {
		return err
	}
	p.findings = append(p.findings, judgeDurability(mode, name))
	return nil
}

func (p *patient) checkWritable(ctx context.Context) error {
	var updateability sql.NullString
	const query = "SELECT CONVERT(NVARCHAR(128), DATABASEPROPERTYEX(DB_NAME(), 'Updateability'))"
	if err := p.db.QueryRowContext(ctx, query).Scan(&updateability); err != nil {
		return err
	}
	p.findings = append(p.findings, judgeWritable(updateability.String))
	return nil
}

// checkLogin asks what the login may do in the schema.
func (p *patient) checkLogin(ctx context.Context) error {
	const query = `
SELECT SUSER_SNAME(), USER_NAME(),
    HAS_PERMS_BY_NAME(@p2, @p3, 'EXECUTE'), HAS_PERMS_BY_NAME(@p1, 'SCHEMA', 'VIEW DEFINITION'), IS_ROLEMEMBER(@p4)`
	schema := quote(p.schema)
	callable, class := schema, "SCHEMA"
	if p.facts.babelfish {
		// It says no for every schema, and the truth for what is in one.
		callable, class = schema+".fetch_orchestration_item", "OBJECT"
	}
	var g grants
	err := p.db.QueryRowContext(ctx, query, schema, callable, class, migrate.RoleName(p.schema)).
		Scan(&g.login, &g.user, &g.execute, &g.definition, &g.runtime)
	if err != nil {
		return err
	}
	const owner = "SELECT CASE WHEN IS_ROLEMEMBER('db_owner') = 1 OR IS_SRVROLEMEMBER('sysadmin') = 1 OR USER_NAME() = 'dbo' THEN 1 ELSE 0 END"
	if err := p.db.QueryRowContext(ctx, owner).Scan(&g.owner); err != nil {
		return err
	}
	p.facts.seesModules = g.definition.Int64 == 1 || g.owner
	p.findings = append(p.findings, judgeGrants(g, p.schema, errors.Is(p.trouble, mssql.ErrMissingSchema)))
	return nil
}
