package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// What connections are called on the server: those of the checks, and those of the stores that are checked.
const (
	applicationName = "duroxide-first-day"
	storeName       = applicationName + "-store"
)

// schema is where the store is in each database.
const schema = migrate.DefaultSchema

// server is what is judged.
type server struct {
	options

	url   *url.URL
	db    *sql.DB
	facts []fact
	// version is the major version, 16 for SQL Server 2022.
	version int
	// inProcess says that the server is tsqltest, which has no optimizer and no log.
	inProcess bool
	// asIs says why the database of the URL is used as it is set; empty if databases are made.
	asIs string
	// level and rowVersions are the settings of the URL's database.
	level       int
	rowVersions bool
}

// fact is what the server says of itself.
type fact struct{ name, value string }

// azureDatabase is the EngineEdition of Azure SQL Database.
const azureDatabase = "5"

// connect connects to the server and asks what it is.
func connect(ctx context.Context, text string, o options) (*server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "sqlserver" {
		return nil, fmt.Errorf("%s is not of the form sqlserver://login:password@host:port?database=name", urlVariable)
	}
	s := &server{options: o, url: u}
	if s.db, err = sql.Open("sqlserver", s.dsn("", applicationName)); err != nil {
		return nil, errors.New(urlVariable + " is no URL of a server")
	}
	if err := s.ask(ctx); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

func (s *server) close() error { return s.db.Close() }

// dsn is the URL of a database, that of the URL itself for "".
func (s *server) dsn(database, program string) string {
	u := *s.url
	query := u.Query()
	query.Set("app name", program)
	if database != "" {
		query.Set("database", database)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// questions are asked once. What a server or a login cannot answer is left out of the report.
var questions = []struct{ name, query string }{
	{"Version", "SELECT @@VERSION"},
	{"Edition", "SELECT CAST(SERVERPROPERTY(N'Edition') AS NVARCHAR(200))"},
	{"Build", "SELECT CONCAT(CAST(SERVERPROPERTY(N'ProductVersion') AS NVARCHAR(200)), N' ', CAST(SERVERPROPERTY(N'ProductUpdateLevel') AS NVARCHAR(200)))"},
	{"Collation of the server", "SELECT CAST(SERVERPROPERTY(N'Collation') AS NVARCHAR(200))"},
	{"Processors", "SELECT CAST(i.cpu_count AS NVARCHAR(20)) FROM sys.dm_os_sys_info AS i"},
	{"Memory", "SELECT CONCAT(i.committed_target_kb / 1024, N' MiB') FROM sys.dm_os_sys_info AS i"},
	{"MAXDOP", "SELECT CAST(c.value_in_use AS NVARCHAR(20)) FROM sys.configurations AS c WHERE c.name = N'max degree of parallelism'"},
	{"Cost threshold for parallelism", "SELECT CAST(c.value_in_use AS NVARCHAR(20)) FROM sys.configurations AS c WHERE c.name = N'cost threshold for parallelism'"},
	{"Automatic tuning", `SELECT CASE WHEN EXISTS (SELECT 1 FROM sys.database_automatic_tuning_options AS o WHERE o.actual_state = 1) THEN N'on' ELSE N'off' END`},
}

// azureAsIs is why no databases are made in Azure SQL Database.
const azureAsIs = "a database in Azure costs money, so the one of the URL was used as it is set"

// ask fills in what the server is.
func (s *server) ask(ctx context.Context) error {
	var edition, name string
	var creates bool
	err := s.db.QueryRowContext(ctx, `SELECT CAST(SERVERPROPERTY(N'EngineEdition') AS NVARCHAR(20)), CAST(SERVERPROPERTY(N'ProductMajorVersion') AS INT),
		d.name, d.compatibility_level, d.is_read_committed_snapshot_on, COALESCE(HAS_PERMS_BY_NAME(NULL, NULL, N'CREATE ANY DATABASE'), 0)
		FROM sys.databases AS d WHERE d.name = DB_NAME()`).Scan(&edition, &s.version, &name, &s.level, &s.rowVersions, &creates)
	if err != nil {
		return fmt.Errorf("asking the server what it is: %w", err)
	}
	for _, q := range questions {
		var value sql.NullString
		if err := s.db.QueryRowContext(ctx, q.query).Scan(&value); err == nil && value.String != "" {
			s.facts = append(s.facts, fact{q.name, value.String})
		}
	}
	s.inProcess = len(s.facts) > 0 && strings.Contains(s.facts[0].value, "tsqltest")
	switch {
	case edition == azureDatabase:
		s.asIs = azureAsIs
	case !creates:
		s.asIs = "the login may not create databases, so the one of the URL was used as it is set"
	default:
		return nil
	}
	s.facts = append(s.facts, fact{"Database", name + ": " + s.asIs})
	var there bool
	if err := s.db.QueryRowContext(ctx, "SELECT CAST(CASE WHEN SCHEMA_ID(@p1) IS NULL THEN 0 ELSE 1 END AS BIT)", schema).Scan(&there); err != nil {
		return err
	}
	if there {
		return fmt.Errorf("the database %s has a schema %s already; name a database without one, which will be changed and dropped", name, schema)
	}
	return nil
}

// config is how a database is set.
type config struct {
	level       int
	rowVersions bool
	// optimized is OPTIMIZED_LOCKING.
	optimized bool
	// last says that it is one of those with the highest level, in which everything is checked.
	last bool
}

func (c config) String() string {
	text := fmt.Sprint(c.level)
	if c.rowVersions {
		text += ", RCSI"
	}
	if c.optimized {
		text += ", optimized locking"
	}
	return text
}

// folder is a name for files.
func (c config) folder() string { return strings.NewReplacer(", ", "-", " ", "-").Replace(c.String()) }

// lowestLevel is the compatibility level of SQL Server 2016, the oldest one that the store supports.
const lowestLevel = 130

// optimizedLocking is the version that has OPTIMIZED_LOCKING: SQL Server 2025.
const optimizedLocking = 17

// configs are the databases to look at.
func (s *server) configs() (list []config) {
	if s.asIs != "" {
		return []config{{level: s.level, rowVersions: s.rowVersions, last: true}}
	}
	levels := s.levels
	if len(levels) == 0 {
		for level := lowestLevel; level <= max(10*s.version, s.level); level += 10 { // a Managed Instance is of version 12
			levels = append(levels, level)
		}
	}
	for i, level := range levels {
		last := i == len(levels)-1
		list = append(list, config{level: level, last: last}, config{level: level, rowVersions: true, last: last})
		if last && (s.version >= optimizedLocking || s.inProcess) {
			list = append(list, config{level: level, optimized: true})
		}
	}
	return list
}

// site is a database to check things in.
type site struct {
	*server

	config config
	name   string
	url    string
	db     *sql.DB
	// growth is what was seen while the tables grew, and measure what an orchestration costs; nil before.
	growth  *growth
	measure *measured
}

// open makes a database, or takes that of the URL.
func (s *server) open(ctx context.Context, c config) (*site, error) {
	at := &site{server: s, config: c}
	if s.asIs == "" {
		at.name = "duroxide_first_day_" + strings.ToLower(rand.Text()[:8])
		if err := s.create(ctx, at.name, c); err != nil {
			return nil, errors.Join(err, at.close(context.WithoutCancel(ctx)))
		}
	}
	at.url = s.dsn(at.name, storeName)
	var err error
	at.db, err = sql.Open("sqlserver", s.dsn(at.name, applicationName))
	return at, err
}

// create makes a database with the settings.
func (s *server) create(ctx context.Context, name string, c config) error {
	settings := []string{fmt.Sprintf("COMPATIBILITY_LEVEL = %d", c.level), "RECOVERY SIMPLE", "READ_COMMITTED_SNAPSHOT " + onOff(c.rowVersions)}
	if c.last {
		settings = append(settings, "QUERY_STORE = ON")
	}
	if c.optimized {
		settings = append(settings, "ACCELERATED_DATABASE_RECOVERY = ON", "OPTIMIZED_LOCKING = ON")
	}
	statements := []string{"CREATE DATABASE " + migrate.Quote(name)}
	for _, setting := range settings {
		statements = append(statements, fmt.Sprintf("ALTER DATABASE %s SET %s", migrate.Quote(name), setting))
	}
	for _, statement := range statements {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

// close drops the database, or the schema in that of the URL.
func (at *site) close(ctx context.Context) (err error) {
	if at.name == "" {
		_, err = (&migrate.Migration{DB: at.db}).Drop(ctx)
		return errors.Join(err, at.db.Close())
	}
	if at.db != nil {
		err = at.db.Close()
	}
	_, dropped := at.server.db.ExecContext(ctx, fmt.Sprintf("IF DB_ID(N'%[1]s') IS NOT NULL "+ //nolint:gosec // a name of ours
		"BEGIN ALTER DATABASE %[2]s SET SINGLE_USER WITH ROLLBACK IMMEDIATE; DROP DATABASE %[2]s; END", at.name, migrate.Quote(at.name)))
	return errors.Join(err, dropped)
}
