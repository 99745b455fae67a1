package live

import (
	"context"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
)

// roleQuery reads who is a member of what. Everybody is a member of public.
const roleQuery = `SELECT m.name, r.name
FROM sys.database_role_members AS rm
INNER JOIN sys.database_principals AS m ON m.principal_id = rm.member_principal_id
INNER JOIN sys.database_principals AS r ON r.principal_id = rm.role_principal_id`

// permissionQuery reads what lets or keeps somebody from executing: on an object, on its schema, on the database.
// CONTROL includes EXECUTE. Classes are 0 for the database, 1 for an object and 3 for a schema; state is G for
// granted, W for granted with grant option, D for denied.
const permissionQuery = `SELECT u.name, RTRIM(p.state),
  CAST(p.class AS int), COALESCE(s.name, os.name, ''), COALESCE(o.name, '')
FROM sys.database_permissions AS p
INNER JOIN sys.database_principals AS u ON u.principal_id = p.grantee_principal_id
LEFT JOIN sys.objects AS o ON p.class = 1 AND o.object_id = p.major_id
LEFT JOIN sys.schemas AS os ON os.schema_id = o.schema_id
LEFT JOIN sys.schemas AS s ON p.class = 3 AND s.schema_id = p.major_id
WHERE p.class IN (0, 1, 3) AND p.permission_name IN ('EXECUTE', 'CONTROL')`

// permission is a row of permissionQuery. Name is empty for a whole schema, and Schema too for the whole database.
type permission struct {
	who, state   string
	schema, name string
}

// grants compares who may execute. Ownership is not looked at, apart from db_owner: an owner doesn't need a grant,
// and is seldom the one who calls.
func (v *verifier) grants(ctx context.Context) error {
	if v.options.Grantee == "" {
		return nil
	}
	// What is granted to a role counts for its members, and so does what is denied.
	names, err := v.principals(ctx)
	if err != nil {
		v.report.unchecked("", "permissions of %s: %s", v.options.Grantee, brief(err))
		return dead(ctx, err)
	}
	var all []permission
	err = v.each(ctx, permissionQuery, nil, func(scan func(...any) error) error {
		var p permission
		var class int
		err := scan(&p.who, &p.state, &class, &p.schema, &p.name)
		if names[catalog.Fold(p.who)] {
			all = append(all, p)
		}
		return err
	})
	if err != nil {
		v.report.unchecked("", "permissions of %s: %s", v.options.Grantee, brief(err))
		return dead(ctx, err)
	}
	for _, p := range v.program.Procedures {
		if !v.isMissing("procedure", p.Name) && !mayExecute(p.Name, all) && !names["db_owner"] {
			v.notGranted(p)
		}
	}
	return nil
}

// notGranted reports a procedure that the grantee may not execute.
func (v *verifier) notGranted(p *analyze.Procedure) {
	v.report.drift("procedure "+p.Name.String(), p.Place, "permission",
		"EXECUTE granted to "+v.options.Grantee, "none, or denied")
}

// principals returns the grantee with all roles it is in, directly or through others, by folded name. A role is
// visited once, so that roles in a circle, which servers refuse anyway, end.
func (v *verifier) principals(ctx context.Context) (map[string]bool, error) {
	roles := map[string][]string{}
	err := v.each(ctx, roleQuery, nil, func(scan func(...any) error) error {
		var member, role string
		err := scan(&member, &role)
		roles[catalog.Fold(member)] = append(roles[catalog.Fold(member)], catalog.Fold(role))
		return err
	})
	names := map[string]bool{"public": true}
	for todo := []string{catalog.Fold(v.options.Grantee)}; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if !names[name] {
			names[name] = true
			todo = append(todo, roles[name]...)
		}
	}
	return names, err
}

// mayExecute applies the server's rule: one DENY outweighs every GRANT.
func mayExecute(name catalog.Name, permissions []permission) bool {
	granted := false
	for _, p := range permissions {
		// The permission is about something else.
		if p.schema != "" && catalog.Fold(p.schema) != catalog.Fold(name.Schema) ||
			p.name != "" && catalog.Fold(p.name) != catalog.Fold(name.Name) {
			continue
		}
		if p.state == "D" {
			return false
		}
		// W is a grant that may be passed on.
		granted = granted || p.state == "G" || p.state == "W"
	}
	return granted
}
