package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
)

// grant is a right on one object that a script gives a role.
type grant struct {
	right string // EXECUTE, SELECT or VIEW DEFINITION
	class string // TYPE, or empty for procedures, functions, views and tables
	name  string
	role  string // as the scripts call it
}

// grantsOf finds the grants in batches. Each is one statement, of one right to one role; those on a schema are left
// out.
func grantsOf(batches []Batch) (grants []grant) {
	for _, batch := range batches {
		list := statements(tokens(batch.Text))
		for i, t := range list {
			if !t.is("GRANT") {
				continue
			}
			rest := list[i+1:]
			words := slices.IndexFunc(rest, func(t token) bool { return t.is("ON") })
			if words < 1 || len(rest) < words+6 {
				continue
			}
			one, on := grant{}, rest[words+1:]
			for _, word := range rest[:words] {
				one.right = strings.TrimSpace(one.right + " " + strings.ToUpper(word.text))
			}
			if on[0].is("SCHEMA") {
				continue
			}
			if on[0].is("TYPE") {
				one.class = "TYPE"
				on = on[slices.IndexFunc(on, func(t token) bool { return t.name() == DefaultSchema }):]
			}
			one.name, _ = qualified(on)
			one.role = on[4].name()
			grants = append(grants, one)
		}
	}
	return grants
}

// grants are all of the release but those of the steps.
func (s *release) grants(steps []Step) []grant {
	among := func(name string) bool {
		return slices.ContainsFunc(steps, func(step Step) bool { return step.Name == name })
	}
	list := grantsOf(foundationBatches())
	for _, one := range s.numbered {
		if !among(one.name) {
			list = append(list, grantsOf(one.batches)...)
		}
	}
	for _, one := range s.modules {
		if !among(one.file) {
			list = append(list, grantsOf(one.batches)...)
		}
	}
	return list
}

// statement is the grant as T-SQL for a schema.
func (g grant) statement(schema string) string {
	class := ""
	if g.class != "" {
		class = g.class + "::"
	}
	return fmt.Sprintf(grantRight, g.right, class, Quote(schema), g.name, Quote(g.role))
}

// MissingGrants returns the statements that give the roles what this release grants them
// and the schema does not, because somebody has taken it away or has made an object
// again by hand: for an owner all of them, for anybody else those of the roles that the
// login is in. It takes an owner to execute them, as [Migration.Up] does.
func (m *Migration) MissingGrants(ctx context.Context) ([]string, error) {
	m, err := m.prepared()
	if err != nil {
		return nil, err
	}
	missing, _, err := m.missingGrants(ctx, m.DB, nil)
	return missing, err
}

// restoreGrants adds to the steps the one that gives back what is granted by none of them
// and has been taken away. Only an owner can do that.
func (m *Migration) restoreGrants(ctx context.Context, db mssqldb.DBTX, plan *Plan) error {
	missing, owner, err := m.missingGrants(ctx, db, plan.Steps)
	if err != nil || !owner || len(missing) == 0 {
		return err
	}
	step := Step{Name: "grants", Action: ActionApply, Reason: reasonTaken}
	for _, text := range missing {
		step.Batches = append(step.Batches, Batch{Text: text, Repeat: 1})
	}
	plan.Steps = append(plan.Steps, step)
	return nil
}

// missingGrants is MissingGrants without those of the steps, and tells whether the login is an owner.
func (m *Migration) missingGrants(ctx context.Context, db mssqldb.DBTX, steps []Step) (missing []string, owner bool, err error) {
	scaler, reader, runtime, admin := ScalerRoleName(m.schema()), ReaderRoleName(m.schema()), RoleName(m.schema()), AdminRoleName(m.schema())
	is, err := m.on(db).GetMembership(ctx, mssqldb.GetMembershipParams{Scaler: scaler, Reader: reader, Runtime: runtime, Admin: admin})
	if err != nil {
		return nil, false, fmt.Errorf("reading who is in which role: %w", err)
	}
	rows, err := m.on(db).ListGrants(ctx, mssqldb.ListGrantsParams{Schema: m.schema()})
	if err != nil {
		return nil, false, fmt.Errorf("reading what is granted in schema %s: %w", Quote(m.schema()), err)
	}
	owner = is.IsOwner == 1
	there := map[grant]bool{}
	for _, row := range rows {
		there[grant{right: row.PermissionName, class: row.Class, name: row.Name, role: row.Role}] = true
	}
	if is.ReaderCounts != nil && *is.ReaderCounts == 0 {
		missing = append(missing, fmt.Sprintf(addMember, Quote(scaler), Quote(reader)))
	}
	if is.RuntimeReads != nil && *is.RuntimeReads == 0 {
		missing = append(missing, fmt.Sprintf(addMember, Quote(reader), Quote(runtime)))
	}
	if is.AdminWorks != nil && *is.AdminWorks == 0 {
		missing = append(missing, fmt.Sprintf(addMember, Quote(runtime), Quote(admin)))
	}
	member := map[string]*int32{
		ScalerRoleName(DefaultSchema): is.InScaler, ReaderRoleName(DefaultSchema): is.InReader,
		RoleName(DefaultSchema): is.InRuntime, AdminRoleName(DefaultSchema): is.InAdmin,
	}
	names := map[string]string{
		ScalerRoleName(DefaultSchema): scaler, ReaderRoleName(DefaultSchema): reader,
		RoleName(DefaultSchema): runtime, AdminRoleName(DefaultSchema): admin,
	}
	for _, one := range m.release.grants(steps) {
		mine := member[one.role]
		one.role = names[one.role]
		if !there[one] && (owner || mine != nil && *mine == 1) {
			missing = append(missing, one.statement(m.schema()))
		}
	}
	return missing, owner, nil
}
