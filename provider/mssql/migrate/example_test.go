package migrate_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	_ "github.com/microsoft/go-mssqldb" // the driver "sqlserver"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
)

// A program that migrates when it is deployed: it logs what is to do, and does it.
func ExampleMigration_Up() { //nolint:testableexamples // it wants a server
	ctx, log := context.Background(), slog.New(slog.NewTextHandler(os.Stderr, nil))
	db, err := sql.Open("sqlserver", os.Getenv("OWNER_URL"))
	if err != nil {
		panic(err)
	}
	defer db.Close()

	m := &migrate.Migration{DB: db, Schema: "tenant_a", Log: log}
	plan, err := m.Plan(ctx)
	if err != nil {
		panic(err)
	}
	for _, step := range plan.Steps {
		log.InfoContext(ctx, "to do", "step", step.Name, "action", step.Action, "reason", step.Reason)
	}
	done, err := m.Up(ctx)
	switch {
	case errors.Is(err, migrate.ErrNewerSchema):
		log.ErrorContext(ctx, "the schema is a later release's, which no longer serves this one", "error", err)
	case err != nil:
		log.ErrorContext(ctx, "stopped on the way; Up goes on from there", "done", len(done.Steps), "error", err)
	}
}

// For a DBA who applies changes, the plan is a script for sqlcmd.
func ExamplePlan_WriteTo() { //nolint:testableexamples // it wants a server
	db, err := sql.Open("sqlserver", os.Getenv("OWNER_URL"))
	if err != nil {
		panic(err)
	}
	defer db.Close()
	plan, err := (&migrate.Migration{DB: db}).Plan(context.Background())
	if err != nil {
		panic(err)
	}
	if _, err := plan.WriteTo(os.Stdout); err != nil {
		panic(err)
	}
}

// An export needs no server.
func ExampleExport() {
	var script bytes.Buffer
	if err := migrate.Export(&script, "tenant_a"); err != nil {
		panic(err)
	}
	fmt.Println(strings.Contains(script.String(), "CREATE TABLE [tenant_a].inboxes"))
	// Output: true
}

// The application's own user needs no more than a role, whose name follows the schema's.
func ExampleRoleName() {
	fmt.Printf("ALTER ROLE %s ADD MEMBER %s;\n", migrate.Quote(migrate.RoleName("tenant_a")), migrate.Quote("orders-app"))
	// Output: ALTER ROLE [tenant_a_runtime] ADD MEMBER [orders-app];
}
