package interleave

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider/mssql/migrate"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Migrations are scenarios in which a process migrates the schema ([migrate.Migration.Up]) while procedures that it
// replaces are at work, and while another one migrates it, too. Each order needs a database of its own, so they take a
// thousand times as long as others.
func Migrations() []Scenario {
	beside := among([]string{"fetch turn", "ack turn with everything"})
	beside.Name += " | migrate"
	beside.Sessions = append(beside.Sessions, migrates("migrate"))
	two := among([]string{"fetch turn"})
	two.Name, two.time = two.Name+" | migrate | migrate too", aMigration
	two.Sessions = append(two.Sessions, migrates("migrate"), tsqltest.Session{Name: "migrate too", Run: up})
	return []Scenario{beside, two}
}

// aMigration is how long one waits for another, which is more than the operations of a worker may take.
const aMigration = 10 * time.Second

// firstMigrations are two processes that migrate an empty database.
func firstMigrations() tsqltest.Scenario {
	return tsqltest.Scenario{
		Sessions: []tsqltest.Session{{Name: "one", Run: up}, {Name: "two", Run: up}},
		Check: func(e *tsqltest.End) error {
			if n := e.Value("SELECT COUNT(*) FROM duroxide.v_migrations WHERE complete = 1"); n != int64(1) {
				return fmt.Errorf("%v revisions are complete", n)
			}
			return nil
		},
	}
}

// migrates is a session that edits some procedures, and then migrates the schema, which makes them ours again.
func migrates(name string) tsqltest.Session {
	return tsqltest.Session{Name: name, Run: func(p *tsqltest.Player) error {
		for _, procedure := range []string{"lock_inbox", "refresh_inbox", "ready_due_inboxes", "claim_turn", "ack_orchestration_item"} {
			r, err := p.Exec("SELECT m.definition FROM sys.sql_modules AS m WHERE m.object_id = OBJECT_ID(N'duroxide." + procedure + "');")
			if err != nil {
				return err
			}
			_, text, _ := strings.Cut(fmt.Sprint(r.Sets[0].Rows[0][0]), "PROCEDURE ")
			if _, err := p.Exec("CREATE OR ALTER PROCEDURE " + text + "-- edited"); err != nil {
				return err
			}
		}
		return up(p)
	}}
}

// up migrates the schema to what it is in this release.
func up(p *tsqltest.Player) error {
	db := databaseOf(p)
	_, err := (&migrate.Migration{DB: db}).Up(context.Background())
	if closed := db.Close(); err == nil {
		err = closed
	}
	return err
}
