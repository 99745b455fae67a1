package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// admin and reader are the roles whose procedures read or delete whole tables by their nature.
const (
	admin  = schema + "_admin"
	reader = schema + "_reader"
)

// mayScan says that nobody calls the procedure to take or to commit work.
func (p procedure) mayScan() bool {
	return slices.Contains(p.roles, reader) || slices.Contains(p.roles, admin)
}

// judgement is what the plans of a check came to.
type judgement struct {
	// folder is below that of the report.
	folder string
	// saved and statements are how many there were.
	saved, statements int
	rows              [][]string
	// absent are the procedures that had no plan in the cache.
	absent []string
}

// judge looks at the plan of a procedure, and writes it.
func (at *site) judge(j *judgement, folder string, p procedure, plan string) error {
	list, err := parsePlan(plan)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	file := filepath.Join(j.folder, folder, p.name+".sqlplan")
	path := filepath.Join(at.out, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(plan), 0o644); err != nil {
		return err
	}
	j.saved++
	for _, s := range list {
		// A procedure that is called has a plan of its own.
		if s.procedure != "" && !strings.HasSuffix(bare(s.procedure), p.name) {
			continue
		}
		j.statements++
		for _, objection := range s.objections(p.mayScan()) {
			j.rows = append(j.rows, []string{"`" + p.name + "`", "`" + excerpt(s.text) + "`", objection, fmt.Sprintf("[plan](%s)", filepath.ToSlash(file))})
		}
	}
	return nil
}

// excerpt is the beginning of a statement.
func excerpt(text string) string {
	const most = 90
	words := strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "'")), " ")
	if len(words) > most {
		return strings.ToValidUTF8(words[:most], "") + "…"
	}
	return words
}

// result is the judgement as a result.
func (j *judgement) result() result {
	if len(j.rows) > 0 {
		return fails("%s to pinned statements in %s with %s.", counted(len(j.rows), "objection"), counted(j.saved, "plan"), counted(j.statements, "statement")).
			with(table([]string{"Procedure", "Statement", "Objection", "Plan"}, j.rows)...)
	}
	r := holds("%s with %s, in [%[3]s](%[3]s).", counted(j.saved, "plan"), counted(j.statements, "statement"), filepath.ToSlash(j.folder))
	if len(j.absent) > 0 {
		r = r.with("These were not run at one of the sizes, so only their estimated plans are known: " + strings.Join(j.absent, ", ") + ".")
	}
	return r
}

// folderOf is a folder for plans of this database.
func (at *site) folderOf(kind string) string {
	return filepath.Join(plansFolder, at.config.folder(), kind)
}

// checkEstimates has the optimizer make a plan for each procedure, with all statements in it, without running it.
func checkEstimates(ctx context.Context, at *site) (r result) {
	list, err := procedures(ctx, at.db)
	if err != nil {
		return fails("%v", err)
	}
	conn, err := at.db.Conn(ctx)
	if err != nil {
		return fails("%v", err)
	}
	defer func() { _ = conn.Close() }()
	if err := execute(ctx, conn, "SET SHOWPLAN_XML ON"); err != nil {
		return unavailable("SHOWPLAN", err)
	}
	defer func() { _ = execute(context.WithoutCancel(ctx), conn, "SET SHOWPLAN_XML OFF") }()
	j := judgement{folder: at.folderOf("estimated")}
	for _, p := range list {
		plans, err := scan(ctx, conn, p.batch())
		if err == nil && len(plans) == 0 {
			err = errors.New("the server returned no plan")
		}
		for _, plan := range plans {
			err = errors.Join(err, at.judge(&j, "", p, plan[0]))
		}
		if numbers := numbersOf(err); slices.Contains(numbers, 262) { // SHOWPLAN permission denied
			return unavailable("SHOWPLAN", err)
		}
		if err != nil {
			j.rows = append(j.rows, []string{"`" + p.name + "`", "", "no plan: " + said(err), ""})
		}
	}
	return j.result()
}

// checkPlans looks at the plans in the cache: of statements that were run, with the numbers of rows of their first run.
func checkPlans(ctx context.Context, at *site) result {
	g := at.grown(ctx)
	switch {
	case g.noPlans.outcome == notDone:
		return g.noPlans
	case g.err != nil:
		return fails("%v", g.err)
	}
	return g.plans.result()
}

// plansAreThere is a result that is not asked if the plan cache cannot be read.
func (at *site) plansAreThere(ctx context.Context) result {
	if why := withPlans(at); why != "" {
		return unasked("%s", why)
	}
	if _, err := scan(ctx, at.db, "SELECT TOP (1) s.object_id FROM sys.dm_exec_procedure_stats AS s"); err != nil {
		return unavailable("the plan cache", err)
	}
	return result{}
}

// cached judges all plans of the procedures in the cache, and writes them to a folder below that of the judgement.
func (at *site) cached(ctx context.Context, j *judgement, folder string) error {
	list, err := procedures(ctx, at.db)
	if err != nil {
		return err
	}
	plans, err := scan(ctx, at.db, `SELECT p.name, q.query_plan
		FROM sys.dm_exec_procedure_stats AS s
		INNER JOIN sys.procedures AS p ON p.object_id = s.object_id
		CROSS APPLY sys.dm_exec_text_query_plan(s.plan_handle, 0, -1) AS q
		WHERE s.database_id = DB_ID() AND p.schema_id = SCHEMA_ID(@p1) AND q.query_plan IS NOT NULL`, schema)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, plan := range plans {
		seen[plan[0]] = true
		i := slices.IndexFunc(list, func(p procedure) bool { return p.name == plan[0] })
		if i < 0 {
			continue
		}
		if err := at.judge(j, folder, list[i], plan[1]); err != nil {
			return err
		}
	}
	for _, p := range list {
		if name := "`" + p.name + "`"; !seen[p.name] && !slices.Contains(j.absent, name) {
			j.absent = append(j.absent, name)
		}
	}
	return nil
}

// forgetPlans has the server make new plans of all procedures.
func (at *site) forgetPlans(ctx context.Context) error {
	list, err := procedures(ctx, at.db)
	if err != nil {
		return err
	}
	for _, p := range list {
		if _, err := at.db.ExecContext(ctx, "sp_recompile", sql.Named("objname", schema+"."+p.name)); err != nil {
			return fmt.Errorf("sp_recompile %s: %w", p.name, err)
		}
	}
	return nil
}
