package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/screen"
	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/server"
)

// dropDocument is what `migrate drop --json` prints: what was removed, and the objects that stayed.
type dropDocument struct {
	Schema    string   `json:"schema"`
	Instances int64    `json:"instances"`
	Left      []string `json:"left"`
}

func (a *app) migrateDropCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "drop --yes",
		Short: "Remove a schema with everything in it",
		Long: `Remove a schema with all instances, their histories, and the schema's roles, for
example when a tenant leaves. Stop its workers first. If somebody has put other objects
into the schema, these stay, and so does the schema; the command names them.

Without --yes, say what would be removed and remove nothing. A schema of a newer release
is left as it is.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withDatabase(cmd, func(ctx context.Context, d *server.Database) error {
				return a.migrateDrop(ctx, cmd, d, yes)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm the removal; required")
	return a.storeFlags(cmd)
}

func (a *app) migrateDrop(ctx context.Context, cmd *cobra.Command, d *server.Database, yes bool) error {
	m := d.Migration(nil)
	status, err := m.Status(ctx)
	if err != nil {
		return err
	}
	if !status.Exists {
		return notFound("there is no duroxide schema %q in this database, or this login may not see it", m.Schema)
	}
	instances, err := d.Instances(ctx)
	if err != nil {
		return fmt.Errorf("counting the instances: %w", err)
	}
	if !yes {
		return usageError{cmd, fmt.Errorf("this removes schema %q with its instances (%d) for ever; to do it, add --yes",
			m.Schema, instances)}
	}
	left, err := m.Drop(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(dropDocument{m.Schema, instances, append([]string{}, left...)})
	}
	if len(left) == 0 {
		a.screen.Printf("Removed schema %s with its instances (%d).\n", screen.Visible(m.Schema), instances)
		return nil
	}
	a.screen.Printf("Removed all that duroxide had made in schema %s, with its instances (%d).\n"+
		"The schema stays, because these objects in it are not duroxide's (%d): %s\n",
		screen.Visible(m.Schema), instances, len(left), screen.Visible(strings.Join(left, ", ")))
	return nil
}
