package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/server"
	"github.com/duroxide/duroxide-go/provider/mssql"
	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// planDocument is what `migrate plan --json` and `migrate up --json` print.
type planDocument struct {
	Schema string `json:"schema"`
	// Newer is a schema of a newer release that serves this program too, and so has no steps.
	Newer bool           `json:"newer"`
	Steps []stepDocument `json:"steps"`
}

// stepDocument is a step of a migration.
type stepDocument struct {
	Name   string `json:"name"`
	Action string `json:"action"`
	Reason string `json:"reason"`
}

// schemaDocument is what `migrate status --json` prints.
type schemaDocument struct {
	Schema         string `json:"schema"`
	Exists         bool   `json:"exists"`
	Version        int    `json:"version"`
	Latest         int    `json:"latest"`
	Revision       int    `json:"revision"`
	LatestRevision int    `json:"latest_revision"`
	// OldestRevision is the oldest whose programs the schema serves. A program's own is the
	// latest revision that it knows.
	OldestRevision int               `json:"oldest_revision"`
	Newer          bool              `json:"newer"`
	Pending        []string          `json:"pending"`
	Problems       []problemDocument `json:"problems"`
}

// verifyDocument is what `migrate verify --json` prints.
type verifyDocument struct {
	Schema   string            `json:"schema"`
	Problems []problemDocument `json:"problems"`
}

// problemDocument is a difference between a schema and what it should be.
type problemDocument struct {
	Kind   string `json:"kind"`
	Object string `json:"object"`
	Detail string `json:"detail"`
}

func (a *app) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create a store's schema, or bring it up to date",
		Long: `Create a store's schema in a SQL Server database, or bring it up to date. The login
needs the rights of an owner; workers need only a role that the migration makes,
which is named after the schema: duroxide_runtime. Members of duroxide_admin may also
delete and prune, those of duroxide_reader may only read, and those of
duroxide_scaler only count what waits.

Any number of processes may migrate at the same time: one works, the others wait. To
finish an interrupted migration, start it again. Workers of the previous release keep
running meanwhile and can be restarted: a schema records which releases it serves, and
no release changes the schema of a newer one.`,
		GroupID: operateGroup,
		Args:    usage(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		a.migratePlanCommand(), a.migrateUpCommand(), a.migrateStatusCommand(), a.migrateVerifyCommand(), a.migrateExportCommand(), a.migrateDropCommand(),
	)
	return cmd
}

func (a *app) migratePlanCommand() *cobra.Command {
	return a.storeFlags(&cobra.Command{
		Use:   "plan",
		Short: "Show what 'migrate up' would do",
		Long: `Show what 'migrate up' would do, step by step, and why. Nothing is changed.
'migrate up --dry-run' shows the SQL.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMigration(cmd, func(ctx context.Context, m *migrate.Migration) error {
				plan, err := m.Plan(ctx)
				if err != nil {
					return err
				}
				return a.printPlan(plan, "to do")
			})
		},
	})
}

func (a *app) migrateUpCommand() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Create the schema, or bring it up to date",
		Long: `Create the schema, or bring it up to date, and repair procedures that somebody has
edited. A schema of a newer release is left as it is, and that is an error only if it no
longer serves this one.

With --dry-run, print the SQL and change nothing. The script is for tools that end a
batch with GO, such as sqlcmd.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dryRun && a.json {
				return usageError{cmd, errors.New("--dry-run prints SQL, so leave --json out")}
			}
			return a.withMigration(cmd, func(ctx context.Context, m *migrate.Migration) error {
				return a.migrateUp(ctx, m, dryRun)
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the SQL instead of running it")
	return a.storeFlags(cmd)
}

func (a *app) migrateUp(ctx context.Context, m *migrate.Migration, dryRun bool) error {
	if dryRun {
		plan, err := m.Plan(ctx)
		if err != nil {
			return err
		}
		_, err = plan.WriteTo(a.screen)
		return err
	}
	m.Log = slog.New(slog.NewTextHandler(a.env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	done, err := m.Up(ctx)
	if err != nil {
		if done != nil && !done.Empty() && !a.json {
			_ = a.printPlan(done, "done before it failed") // the failure is what matters
		}
		return err
	}
	return a.printPlan(done, "done")
}

// printPlan prints steps. what says whether they are done.
func (a *app) printPlan(plan *migrate.Plan, what string) error {
	document := planDocument{plan.Schema, plan.Newer, []stepDocument{}}
	rows := [][]string{{"STEP", "ACTION", "REASON"}}
	for _, step := range plan.Steps {
		document.Steps = append(document.Steps, stepDocument{step.Name, string(step.Action), step.Reason})
		rows = append(rows, []string{step.Name, string(step.Action), step.Reason})
	}
	if a.json {
		return a.printJSON(document)
	}
	if plan.Newer {
		a.screen.Printf("Schema %s is newer than this program, which it still serves: nothing %s.\n", screen.Visible(plan.Schema), what)
		return nil
	}
	if plan.Empty() {
		a.screen.Printf("Schema %s is up to date: nothing %s.\n", screen.Visible(plan.Schema), what)
		return nil
	}
	a.screen.Printf("Schema %s, %s:\n\n", screen.Visible(plan.Schema), what)
	printTable(a.screen, rows)
	return nil
}

func (a *app) migrateStatusCommand() *cobra.Command {
	return a.storeFlags(&cobra.Command{
		Use:   "status",
		Short: "Show how a schema compares with this release",
		Args:  usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMigration(cmd, func(ctx context.Context, m *migrate.Migration) error {
				status, err := m.Status(ctx)
				if err != nil {
					return err
				}
				return a.printSchema(status)
			})
		},
	})
}

func (a *app) printSchema(s *migrate.Status) error {
	if a.json {
		return a.printJSON(schemaDocument{
			Schema: s.Schema, Exists: s.Exists, Version: s.Version, Latest: s.Latest,
			Revision: s.Revision, LatestRevision: s.LatestRevision, OldestRevision: s.OldestRevision, Newer: s.Newer,
			Pending: append([]string{}, s.Pending...), Problems: describeProblems(s.Problems),
		})
	}
	rows := [][]string{{"schema", s.Schema}}
	switch {
	case !s.Exists:
		rows = append(rows, []string{"state", "does not exist, or this login may not see it; 'duroxide migrate up' creates it"})
	case s.Newer && s.LatestRevision >= s.OldestRevision:
		rows = append(rows, []string{"state", "newer than this program, which it still serves; a later release can compare and change it"})
	case s.Newer:
		rows = append(rows, []string{"state", "newer than this program; use a later release of it"})
	case len(s.Pending) > 0:
		rows = append(rows, []string{"state", fmt.Sprintf("%d steps behind; run 'duroxide migrate up'", len(s.Pending))})
	default:
		rows = append(rows, []string{"state", "up to date"})
	}
	if s.Exists {
		rows = append(
			rows,
			[]string{"tables", fmt.Sprintf("version %d, and %d is the latest known", s.Version, s.Latest)},
			[]string{"procedures", fmt.Sprintf("revision %d, and %d is the latest known", s.Revision, s.LatestRevision)},
			[]string{"serves", fmt.Sprintf("programs from revision %d", s.OldestRevision)},
			[]string{"problems", strconv.Itoa(len(s.Problems))},
		)
	}
	printTable(a.screen, rows)
	for _, p := range s.Problems {
		a.screen.Printf("  %s\n", screen.Visible(p.String()))
	}
	return nil
}

func (a *app) migrateVerifyCommand() *cobra.Command {
	return a.storeFlags(&cobra.Command{
		Use:   "verify",
		Short: "Check that a schema is exactly this release's",
		Long: `Check that a schema is exactly this release's: no script missing or changed, no
procedure, function or view missing, edited, or compiled with other options, no table
with other columns, and no index missing, disabled or different. Any difference is exit
code 1, and so is a schema of a newer release, which only a program of that release can
check.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMigration(cmd, func(ctx context.Context, m *migrate.Migration) error {
				problems, err := m.Verify(ctx)
				if err != nil {
					return err
				}
				return a.printVerified(m.Schema, problems)
			})
		},
	})
}

func (a *app) printVerified(schema string, problems []migrate.Problem) error {
	if a.json {
		if err := a.printJSON(verifyDocument{schema, describeProblems(problems)}); err != nil {
			return err
		}
	} else {
		for _, p := range problems {
			a.screen.Printf("%s\n", screen.Visible(p.String()))
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("schema %q differs from this release in %d places", schema, len(problems))
	}
	if !a.json {
		a.screen.Printf("Schema %s is exactly this release's.\n", screen.Visible(schema))
	}
	return nil
}

func describeProblems(problems []migrate.Problem) []problemDocument {
	list := []problemDocument{}
	for _, p := range problems {
		list = append(list, problemDocument{string(p.Kind), p.Object, p.Detail})
	}
	return list
}

func (a *app) migrateExportCommand() *cobra.Command {
	var schema string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the whole schema as SQL, for another migration tool",
		Long: `Print the whole schema as one SQL script for SQL Server, whose batches end with GO.
It is meant for another migration tool. The schema's name comes from --schema or from
the store's URL. The command connects to nothing.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("schema") {
				var err error
				if schema, err = a.schemaToExport(cmd); err != nil {
					return err
				}
			}
			if err := migrate.CheckSchemaName(schema); err != nil {
				return usageError{cmd, err}
			}
			if err := migrate.Export(cmd.OutOrStdout(), schema); err != nil {
				return usageError{cmd, err}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&schema, "schema", "", "the `name` of the schema (default: the store's, or "+mssql.DefaultSchema+")")
	cmd.Flags().StringVar(&a.store, "store", "", "`URL` of the store that names the schema (default $DUROXIDE_STORE)")
	return cmd
}

// schemaToExport is the schema of the store, or the default if no store is named.
func (a *app) schemaToExport(cmd *cobra.Command) (string, error) {
	if cmp.Or(a.store, a.env.Getenv("DUROXIDE_STORE")) == "" {
		return mssql.DefaultSchema, nil
	}
	address, err := a.address(cmd)
	if err != nil {
		return "", err
	}
	schema, err := address.Schema()
	if err != nil {
		return "", openingError{err}
	}
	return schema, nil
}

// withMigration connects to the database of --store.
func (a *app) withMigration(cmd *cobra.Command, run func(ctx context.Context, m *migrate.Migration) error) error {
	return a.withDatabase(cmd, func(ctx context.Context, d *server.Database) error {
		err := run(ctx, d.Migration(nil))
		if errors.Is(err, migrate.ErrMissingSchema) {
			return notFound("%v", err)
		}
		return err
	})
}

// address is that of the SQL Server database of --store.
func (a *app) address(cmd *cobra.Command) (server.Address, error) {
	storeURL, err := a.storeURL(cmd)
	if err == nil && !server.IsAddress(storeURL) {
		err = usageError{cmd, fmt.Errorf("%q is for SQL Server databases (sqlserver://...); a SQLite file is brought up to date when it is opened",
			cmd.CommandPath())}
	}
	return server.Address(storeURL), err
}

// withDatabase connects to the SQL Server database of --store.
func (a *app) withDatabase(cmd *cobra.Command, run func(ctx context.Context, d *server.Database) error) (err error) {
	address, err := a.address(cmd)
	if err != nil {
		return err
	}
	d, err := server.Connect(cmd.Context(), a.env.Login, address)
	if err != nil {
		return openingError{err}
	}
	defer func() {
		if closeErr := d.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("closing the store: %w", closeErr)
		}
	}()
	return run(cmd.Context(), d)
}
