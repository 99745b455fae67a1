package interleave

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	scripts "github.com/duroxide/duroxide-go/sql"
	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// Claims are scenarios in which several want the same. Each must hold on a server that ignores hints, too: see
// [WithoutHints].
func Claims() []Scenario {
	list := []Scenario{
		{Name: "two fetch one turn", Prepare: enqueueTurn("a", 1), Sessions: []tsqltest.Session{fetches("one", fetchTurnOf(1)), fetches("two", fetchTurnOf(2))}},
		{Name: "two fetch two turns", Prepare: twoTurns, Sessions: []tsqltest.Session{fetches("one", fetchTurnOf(1)), fetches("two", fetchTurnOf(2))}},
		{Name: "two fetch one work", Prepare: enqueueWork("a", "NULL"), Sessions: []tsqltest.Session{fetches("one", fetchWorkOf(1, "w1")), fetches("two", fetchWorkOf(2, "w2"))}},
		{Name: "two fetch two works", Prepare: twoWorks, Sessions: []tsqltest.Session{fetches("one", fetchWorkOf(1, "w1")), fetches("two", fetchWorkOf(2, "w2"))}},
		{
			Name: "two fetch work of one session", Prepare: enqueueWork("a", "s1") + enqueueWork("b", "s1"),
			Sessions: []tsqltest.Session{fetches("one", fetchWorkOf(1, "w1")), fetches("two", fetchWorkOf(2, "w2"))},
			Check:    oneOwner,
		},
		{
			Name: "a fetch and the end of a turn", Prepare: heldTurn + enqueueTurn("a", 3),
			Sessions: []tsqltest.Session{fetches("fetch", fetchTurnOf(1)+fetchTurnOf(2)), does("ack", ackTurnOf(9))},
		},
		oneAtATime(),
	}
	list = append(list, takesBeside()...)
	for i := range list {
		// There is nothing to fetch now; victims of deadlocks and those who add the same row repeat the call.
		list[i].Allow = []int32{1205, 1222, 2627}
	}
	return list
}

// oneAtATime are transactions that lock the inbox of an instance which is not there yet. Each counts what it does under
// the lock, and takes a moment for it.
func oneAtATime() Scenario {
	counting := func(lock string) func(p *tsqltest.Player) error {
		return func(p *tsqltest.Player) error {
			_, err := p.Exec("SET XACT_ABORT ON; BEGIN TRANSACTION; " + lock +
				"DECLARE @n INT = (SELECT c.n FROM dbo.counter AS c); WAITFOR DELAY '00:00:00.010'; UPDATE dbo.counter SET n = @n + 1; COMMIT;")
			if err == nil {
				p.Note(lock + p.Now().String())
			}
			return err
		}
	}
	single, list := counting("EXEC duroxide.lock_inbox @instance_id = N'a';\n"), counting(withList(1, "(1, N'a')", "EXEC duroxide.lock_inboxes @instances = @l%d;\n"))
	return Scenario{
		Name: "one at a time has an inbox, also when it has just been added", Prepare: "CREATE TABLE dbo.counter (n INT NOT NULL); INSERT INTO dbo.counter (n) VALUES (0);",
		Sessions: []tsqltest.Session{
			{Name: "list", Run: list},
			{Name: "single", Run: func(p *tsqltest.Player) error { return errors.Join(single(p), single(p)) }},
		},
		Check: func(e *tsqltest.End) error {
			if n := e.Value("SELECT c.n FROM dbo.counter AS c"); n != int64(len(e.Notes())) {
				return fmt.Errorf("%d have counted to %v", len(e.Notes()), n)
			}
			return nil
		},
	}
}

// oneOwner says that activities of one session are with one owner: who has none of it may take none.
func oneOwner(e *tsqltest.End) error {
	const strangers = `
		SELECT COUNT(*)
		FROM duroxide.worker_queue AS q
		INNER JOIN duroxide.sessions AS s ON s.session_id = q.session_id
		WHERE q.lock_token <> CASE WHEN s.worker_id = N'w1' THEN CAST(%s AS UNIQUEIDENTIFIER) ELSE CAST(%s AS UNIQUEIDENTIFIER) END`
	if n := e.Value(fmt.Sprintf(strangers, tokenOf(1), tokenOf(2))); n != int64(0) {
		return fmt.Errorf("%v activities are with somebody who does not own their session", n)
	}
	return nil
}

// lockHints is a list of hints about locks, with those about plans in it.
var lockHints = regexp.MustCompile(` WITH \([A-Z]+(?:LOCK|PAST|READ)\b(?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)`)

// WithoutHints are the store's procedures as a server takes them that ignores hints about locks, and the amendment
// likewise, if there is one. No hint is needed for correctness (rule Q3).
func WithoutHints(amendment string) (string, error) {
	files, err := fs.Glob(scripts.MSSQLScripts(), "procedures/*.sql")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, file := range files {
		text, err := fs.ReadFile(scripts.MSSQLScripts(), file)
		if err != nil {
			return "", err
		}
		b.WriteString(lockHints.ReplaceAllString(string(text), "") + "\nGO\n")
	}
	return b.String() + lockHints.ReplaceAllString(amendment, ""), nil
}
