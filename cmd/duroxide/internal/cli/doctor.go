package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/duroxide/duroxide-go/cmd/duroxide/internal/server"
)

// doctorDocument is what `doctor --json` prints.
type doctorDocument struct {
	Findings []findingDocument `json:"findings"`
}

// findingDocument is what one check found.
type findingDocument struct {
	Check string       `json:"check"`
	Level server.Level `json:"level"`
	// Detail says what is the case, Advice what to do, and Statement is the T-SQL that does it; null when there is none.
	Detail    string  `json:"detail"`
	Advice    *string `json:"advice"`
	Statement *string `json:"statement"`
}

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check a SQL Server database, its schema, and the login",
		Long: `Check a SQL Server database, its schema, and the login: the version and the settings
that matter, procedures that are missing or were edited, how tables and indexes are
stored, what the login may do, and how far the server's clock is from this machine's.
Nothing is changed.

Each line is ok, a warning or a problem, and says what to do about it. For a setting, it
has the T-SQL that changes the setting. A problem keeps workers from working, or from
working correctly, and makes the exit code 1.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withDatabase(cmd, a.doctor)
		},
	}
	cmd.GroupID = operateGroup
	return a.storeFlags(cmd)
}

func (a *app) doctor(ctx context.Context, d *server.Database) error {
	findings, err := d.Examine(ctx)
	if err != nil {
		return err
	}
	document := doctorDocument{[]findingDocument{}}
	rows := [][]string{}
	problems := 0
	for _, f := range findings {
		if f.Level == server.Problem {
			problems++
		}
		one := findingDocument{Check: f.Check, Level: f.Level, Detail: f.Detail}
		rows = append(rows, []string{string(f.Level), f.Check, f.Detail})
		if f.Advice != "" {
			one.Advice = &f.Advice
			rows = append(rows, []string{"", "", "→ " + f.Advice})
		}
		if f.Statement != "" {
			one.Statement = &f.Statement
			rows = append(rows, []string{"", "", "→ " + f.Statement})
		}
		document.Findings = append(document.Findings, one)
	}
	if a.json {
		if err := a.printJSON(document); err != nil {
			return err
		}
	} else {
		printTable(a.screen, rows)
	}
	if problems > 0 {
		return fmt.Errorf("problems found: %d", problems)
	}
	return nil
}
