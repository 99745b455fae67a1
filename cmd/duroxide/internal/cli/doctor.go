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
	// Detail says what is the case, Advice what to do, and Statement is the T-SQL that does it; null when there is
	// none.
	Detail    string  `json:"detail"`
	Advice    *string `json:"advice"`
	Statement *string `json:"statement"`
}

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check a store: a SQL Server database, its schema, and the login",
		Long: `Check a SQL Server database, its schema, and the login: the version and the settings
that matter, procedures that are missing or were edited, how tables and indexes are
stored, what the login may do, and how far the server's clock is from this machine's.
Of any store, check what work waits for: code that no worker has, code that fits, and
somebody who looks at what could not be decoded. Nothing is changed.

Each line is ok, a warning or a problem, and says what to do about it. For a setting, it
has the T-SQL that changes the setting. A problem keeps workers from working, or from
working correctly, and makes the exit code 1.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if storeURL, err := a.storeURL(cmd); err == nil && !server.IsAddress(storeURL) {
				return a.withStore(cmd, false, a.examine)
			}
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
	return a.printFindings(findings)
}

// examine is doctor for a store without a server.
func (a *app) examine(ctx context.Context, s session) error {
	findings := []server.Finding{{
		Check: "store", Level: server.OK, Detail: "the " + s.store.Name() + " store can be opened, and its schema is this release's",
	}}
	held, reasons, err := s.countHeld(ctx)
	if err != nil {
		return err
	}
	for _, row := range heldRows(reasons) {
		findings = append(findings, server.Finding{
			Check: "held", Level: server.Warning, Detail: row[1], Advice: "'duroxide list --status Held' shows the instances",
		})
	}
	if held == 0 {
		findings = append(findings, server.Finding{Check: "held", Level: server.OK, Detail: "no instance is held"})
	}
	letters, err := s.store.CountDeadLetters(ctx)
	if err != nil {
		return err
	}
	return a.printFindings(append(findings, server.JudgeDeadLetters(letters)))
}

func (a *app) printFindings(findings []server.Finding) error {
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
