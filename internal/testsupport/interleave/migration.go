package interleave

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/tsqltest"
)

// Migrations are scenarios in which procedures are replaced, as a migration does it, while they are at work, and by two at once. Each
// order needs a database of its own, so they take a thousand times as long as others.
func Migrations() []Scenario {
	list := []Scenario{
		among([]string{"fetch turn"}), among([]string{"ack turn with everything"}), {Name: "two migrations", world: true},
	}
	for i := range list {
		list[i].Sessions = append(list[i].Sessions, migrates("migrate"))
		if i < 2 {
			list[i].Name += " | migrate"
			continue
		}
		list[i].Sessions = append(list[i].Sessions, migrates("migrate too"))
	}
	return list
}

// migrates is a session that replaces procedures by themselves, under the lock that keeps migrations apart.
func migrates(name string) tsqltest.Session {
	return tsqltest.Session{Name: name, Run: func(p *tsqltest.Player) error {
		if _, err := p.Exec("EXEC sp_getapplock @Resource = N'migrate duroxide', @LockMode = 'Exclusive', @LockOwner = 'Session';"); err != nil {
			return err
		}
		for _, procedure := range []string{"lock_inbox", "refresh_inbox", "ready_due_inboxes", "fetch_orchestration_item", "ack_orchestration_item"} {
			r, err := p.Exec("SELECT m.definition FROM sys.sql_modules AS m WHERE m.object_id = OBJECT_ID(N'duroxide." + procedure + "');")
			if err != nil {
				return err
			}
			_, text, _ := strings.Cut(fmt.Sprint(r.Sets[0].Rows[0][0]), "PROCEDURE ")
			if _, err := p.Exec("CREATE OR ALTER PROCEDURE " + text); err != nil {
				return err
			}
		}
		_, err := p.Exec("EXEC sp_releaseapplock @Resource = N'migrate duroxide', @LockOwner = 'Session';")
		return err
	}}
}
