package live

import (
	"context"

	"github.com/duroxide/duroxide-go/tsql/internal/catalog"
)

// serverObjects are the kinds of sys.objects, by the type column, that scripts define, as people call them. The
// others (keys, defaults, triggers, internal tables) belong to one of these.
var serverObjects = map[string]string{
	"U": "table", "V": "view", "P": "procedure",
	"FN": "function", "IF": "function", "TF": "function", "SO": "sequence", "SN": "synonym",
}

// objects looks for objects of the scripts that the server doesn't have, and for procedures that only the server has.
// Extra procedures are reported only in schemas in which the scripts define one: a database may hold other
// applications. Extra tables never are; procedures are the surface that callers see, and a leftover one still
// answers.
func (v *verifier) objects(ctx context.Context) error {
	v.missing = map[string]bool{}
	have, err := v.namesOf(ctx, `SELECT s.name, o.name, RTRIM(o.type)
FROM sys.objects AS o
INNER JOIN sys.schemas AS s ON s.schema_id = o.schema_id
UNION ALL
SELECT s.name, t.name, 'TYPE'
FROM sys.types AS t
INNER JOIN sys.schemas AS s ON s.schema_id = t.schema_id
WHERE t.is_user_defined = 1`)
	if err != nil {
		// Not the server's error: the connection is gone.
		if number(err) == 0 {
			return err
		}
		v.report.unchecked("", "missing and extra objects: %s", brief(err))
		return nil
	}
	schemas := map[string]bool{}
	for _, object := range v.cat.Order {
		kind := kindOf(object)
		name := object.ObjectName()
		_, there := have[key{kind, name.Key()}]
		switch {
		case !there:
			v.missing[kind+" "+name.Key()] = true
			v.report.drift(kind+" "+name.String(), object.Where(), "", "defined", "missing")
		case kind == "procedure":
			schemas[catalog.Fold(name.Schema)] = true
			v.report.Counts.Procedures++
		}
		delete(have, key{kind, name.Key()})
	}
	for k, name := range have {
		if k.kind == "procedure" && schemas[catalog.Fold(name.Schema)] {
			v.report.drift("procedure "+name.String(), catalog.Place{}, "", "not defined", "there")
		}
	}
	return nil
}

// key identifies an object by its kind, as people call it, and its folded name. Types live in a name space of their
// own, so that a type and a table may share a name.
type key struct {
	kind, name string
}

// namesOf reads rows of schema, name and type. Rows of other kinds are passed over.
func (v *verifier) namesOf(ctx context.Context, query string) (map[key]catalog.Name, error) {
	names := map[key]catalog.Name{}
	err := v.each(ctx, query, nil, func(scan func(...any) error) error {
		var n catalog.Name
		var kind string
		if err := scan(&n.Schema, &n.Name, &kind); err != nil {
			return err
		}
		people, ok := serverObjects[kind]
		if kind == "TYPE" {
			people, ok = "type", true
		}
		if ok {
			names[key{people, n.Key()}] = n
		}
		return nil
	})
	return names, err
}

// kindOf says what an object of the catalog is.
func kindOf(object catalog.Object) string {
	switch o := object.(type) {
	case *catalog.Table:
		if o.Type {
			return "type"
		}
		return "table"
	case *catalog.AliasType:
		return "type"
	case *catalog.View:
		return "view"
	case *catalog.Function:
		return "function"
	case *catalog.Procedure:
		return "procedure"
	case *catalog.Sequence:
		return "sequence"
	default:
		return "synonym"
	}
}

// isMissing reports that an object is not there, which is in the report already. Whatever else would be compared of
// it would be reported as missing, too, part by part.
func (v *verifier) isMissing(kind string, name catalog.Name) bool {
	return v.missing[kind+" "+name.Key()]
}
