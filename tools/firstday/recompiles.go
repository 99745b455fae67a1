package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// mostRecompiles is how often a statement may be compiled again under steady work: when it is first run with rows in a
// table variable, and once more when the server has changed its mind about a table.
const mostRecompiles = 3

// warmUp is how many orchestrations run before anything is counted, steadyWork how many while it is.
const warmUp, steadyWork = 100, 300

// dispatched is longer than an event session keeps events before it hands them to its target.
const dispatched = 3 * time.Second

// checkRecompiles counts statements that are compiled again under steady work, by extended events.
func checkRecompiles(ctx context.Context, at *site) (r result) {
	on := "SERVER"
	if at.asIs == azureAsIs {
		on = "DATABASE"
	}
	name := "duroxide_first_day"
	if err := execute(ctx, at.db, fmt.Sprintf("IF EXISTS (SELECT 1 FROM %s AS s WHERE s.name = N'%s') DROP EVENT SESSION %[2]s ON %[3]s",
		catalogOf(on), name, on)); err != nil {
		return unavailable("extended events", err)
	}
	var database int
	if err := at.db.QueryRowContext(ctx, "SELECT DB_ID()").Scan(&database); err != nil {
		return fails("%v", err)
	}
	if err := execute(ctx, at.db, fmt.Sprintf(`CREATE EVENT SESSION %s ON %s
		ADD EVENT sqlserver.sql_statement_recompile (WHERE ([sqlserver].[database_id] = (%d)))
		ADD TARGET package0.ring_buffer (SET max_memory = 4096, max_events_limit = 0)
		WITH (MAX_DISPATCH_LATENCY = 1 SECONDS)`, name, on, database)); err != nil {
		return unavailable("extended events", err)
	}
	defer func() {
		_ = execute(context.WithoutCancel(ctx), at.db, fmt.Sprintf("DROP EVENT SESSION %s ON %s", name, on))
	}()
	if err := at.steady(ctx, warmUp); err != nil { // which compiles
		return fails("%v", err)
	}
	if err := execute(ctx, at.db, fmt.Sprintf("ALTER EVENT SESSION %s ON %s STATE = START", name, on)); err != nil {
		return unavailable("extended events", err)
	}
	if err := at.steady(ctx, steadyWork); err != nil {
		return fails("%v", err)
	}
	if err := after(ctx, dispatched); err != nil {
		return fails("%v", err)
	}
	text, err := scan(ctx, at.db, fmt.Sprintf(`SELECT CAST(t.target_data AS NVARCHAR(MAX)) FROM %s AS s
		INNER JOIN %s AS t ON t.event_session_address = s.address
		WHERE s.name = @p1 AND t.target_name = N'ring_buffer'`, viewOf(on, "sessions"), viewOf(on, "session_targets")), name)
	if err != nil || len(text) != 1 {
		return unavailable("the events", err)
	}
	names, err := scan(ctx, at.db, "SELECT CAST(o.object_id AS NVARCHAR(20)), o.name FROM sys.objects AS o WHERE o.schema_id = SCHEMA_ID(@p1)", schema)
	if err != nil {
		return fails("%v", err)
	}
	return recompiled(text[0][0], names)
}

func catalogOf(on string) string {
	if on == "DATABASE" {
		return "sys.database_event_sessions"
	}
	return "sys.server_event_sessions"
}

func viewOf(on, what string) string {
	if on == "DATABASE" {
		return "sys.dm_xe_database_" + what
	}
	return "sys.dm_xe_" + what
}

// steady runs orchestrations of everything until so many have ended.
func (at *site) steady(ctx context.Context, amount int64) error {
	c, err := at.hire(ctx, defaults())
	if err != nil {
		return err
	}
	l := c.run(ctx, fmt.Sprint("steady ", time.Now().UnixNano()), 8)
	err = l.await(ctx, amount)
	return errors.Join(err, l.end(), c.stop())
}

// after waits for a time.
func after(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// ring is what a ring buffer holds.
type ring struct {
	Events []struct {
		Data []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value"`
			Text  string `xml:"text"`
		} `xml:"data"`
	} `xml:"event"`
}

// recompiled counts the events by statement and cause.
func recompiled(text string, names [][]string) result {
	var buffer ring
	if err := xml.Unmarshal([]byte(text), &buffer); err != nil {
		return fails("reading the events: %v", err)
	}
	counts := map[string]int{}
	for _, event := range buffer.Events {
		data := map[string]string{}
		for _, d := range event.Data {
			if data[d.Name] = d.Value; d.Text != "" {
				data[d.Name] = d.Text
			}
		}
		for _, name := range names {
			if name[0] == data["object_id"] {
				data["object_name"] = name[1]
			}
		}
		counts[strings.Join([]string{data["object_name"], data["line_number"], data["recompile_cause"]}, "\n")]++
	}
	var rows [][]string
	worst := 0
	for id, n := range counts {
		rows = append(rows, append(strings.Split(id, "\n"), fmt.Sprint(n)))
		worst = max(worst, n)
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(strings.Join(a, "\n"), strings.Join(b, "\n")) })
	details := table([]string{"Procedure", "Line", "Cause", "Times"}, rows)
	if worst > mostRecompiles {
		return fails("While %d orchestrations ran, a statement was compiled again %d times.", steadyWork, worst).with(details...)
	}
	return holds("%s while %d orchestrations ran.", counted(len(buffer.Events), "recompile"), steadyWork).with(details...)
}
