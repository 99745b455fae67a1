package ask

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/sysview"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// nameFunctions turn names into ids and back.
var nameFunctions = map[string]Function{
	"OBJECT_ID":          {"ss", objectID},
	"OBJECT_NAME":        {"ii", objectName},
	"OBJECT_SCHEMA_NAME": {"ii", objectSchemaName},
	"OBJECT_DEFINITION":  {"i", objectDefinition},
	"SCHEMA_ID":          {"s", schemaID},
	"SCHEMA_NAME":        {"i", schemaName},
	"TYPE_ID":            {"s", typeID},
	"TYPE_NAME":          {"i", typeName},
	"DB_ID":              {"s", databaseID},
	"DB_NAME":            {"i", databaseName},
	"COL_NAME":           {"ii", columnName},
	"COL_LENGTH":         {"ss", columnLength},
	"IDENT_CURRENT":      {"s", identCurrent},
	"IDENT_SEED":         {"s", identSeed},
	"IDENT_INCR":         {"s", identIncrement},
	"STATS_DATE":         {"ii", unanswered},
}

func unanswered(*question) (execute.Value, error) { return null, nil }

// splitName divides a name that stands in a string into its parts: [a.b].c has two. ok is false for what is no name.
func splitName(s string) (parts []string, ok bool) {
	for {
		part, rest, found := namePart(s)
		if !found {
			return nil, false
		}
		parts = append(parts, part)
		if rest == "" {
			return parts, len(parts) <= 4
		}
		if rest[0] != '.' {
			return nil, false
		}
		s = rest[1:]
	}
}

// namePart reads the first part of a name.
func namePart(s string) (part, rest string, ok bool) {
	s = strings.TrimLeft(s, " ")
	var closing byte
	switch {
	case strings.HasPrefix(s, "["):
		closing = ']'
	case strings.HasPrefix(s, `"`):
		closing = '"'
	default:
		i := strings.IndexByte(s, '.')
		if i < 0 {
			return strings.TrimRight(s, " "), "", s != ""
		}
		return strings.TrimRight(s[:i], " "), s[i:], true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != closing:
			b.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == closing:
			b.WriteByte(closing)
			i++
		default:
			return b.String(), strings.TrimLeft(s[i+1:], " "), true
		}
	}
	return "", "", false
}

// object finds what a name in a string stands for; nil if there is nothing that the user may see.
func (q *question) object(name string) (*schema.Database, schema.Object) {
	parts, ok := splitName(name)
	if !ok {
		return nil, nil
	}
	last := parts[len(parts)-1]
	if strings.HasPrefix(last, "#") {
		if len(parts) < 3 && q.db().ID != schema.TempID {
			return nil, nil
		}
		if t := q.facts().Temporary(last); t != nil {
			return q.server().DatabaseByID(schema.TempID), t
		}
		if m := q.facts().TemporaryProcedure(last); m != nil {
			return q.server().DatabaseByID(schema.TempID), m
		}
		return nil, nil
	}
	db, in := q.db(), ""
	if len(parts) > 2 && parts[len(parts)-3] != "" {
		db = q.server().Database(parts[len(parts)-3])
	}
	if len(parts) > 1 {
		in = parts[len(parts)-2]
	}
	if db == nil || len(parts) > 3 {
		return nil, nil
	}
	o := db.Find(in, last, q.defaultSchema())
	if o == nil || !q.sees(db, o) {
		return nil, nil
	}
	return db, o
}

// defaultSchema is that of the user.
func (q *question) defaultSchema() string {
	if u := q.user(); u != nil && u.DefaultSchema != "" {
		return u.DefaultSchema
	}
	return "dbo"
}

// sees reports whether the user has any right on an object.
func (q *question) sees(db *schema.Database, o schema.Object) bool {
	user := q.user()
	if db != q.db() {
		user = q.facts().UserIn(db)
	}
	return user != nil && db.Visible(user, o)
}

// byID finds an object by its id; nil if there is none that the user may see.
func (q *question) byID(id int32, database int) (*schema.Database, schema.Object) {
	db := q.db()
	if n, ok := q.number(database); ok {
		db = q.server().DatabaseByID(n)
	} else if !q.missing(database) {
		return nil, nil
	}
	if db == nil {
		return nil, nil
	}
	o := db.Object(id)
	if o == nil || !q.sees(db, o) {
		return nil, nil
	}
	return db, o
}

func objectID(q *question) (execute.Value, error) {
	name, ok := q.text(0)
	if !ok {
		return null, nil
	}
	kind := q.word(1)
	if v := systemObject(name); v != 0 && (q.missing(1) || kind == "V") {
		return intValue(v)
	}
	_, o := q.object(name)
	if o == nil {
		return null, nil
	}
	// The kind of a table type's table is TT; a name that is left out finds every kind.
	if !q.missing(1) && kind != o.Head().Kind {
		return null, nil
	}
	return intValue(o.Head().ID)
}

// systemObject returns an id for a view of the catalog, which are objects too; 0 for all else.
func systemObject(name string) int32 {
	parts, ok := splitName(name)
	if !ok || len(parts) < 2 || sysview.Lookup(parts[len(parts)-2], parts[len(parts)-1]) == nil {
		return 0
	}
	id := int32(17)
	for _, c := range strings.ToLower(strings.Join(parts[len(parts)-2:], ".")) {
		id = id*31 + c
	}
	if id > 0 {
		id = -id
	}
	return id
}

func objectName(q *question) (execute.Value, error) {
	id, ok := q.number(0)
	if !ok {
		return null, nil
	}
	_, o := q.byID(id, 1)
	if o == nil {
		return null, nil
	}
	return value.OfString(o.Head().Name), nil
}

func objectSchemaName(q *question) (execute.Value, error) {
	id, ok := q.number(0)
	if !ok {
		return null, nil
	}
	_, o := q.byID(id, 1)
	if o == nil {
		return null, nil
	}
	return value.OfString(o.Head().Schema.Name), nil
}

func objectDefinition(q *question) (execute.Value, error) {
	id, ok := q.number(0)
	if !ok {
		return null, nil
	}
	db, o := q.byID(id, 9)
	if o == nil || !db.MayObject(q.user(), "VIEW DEFINITION", o, nil) {
		return null, nil
	}
	switch o := o.(type) {
	case *schema.Module:
		return value.OfString(o.Text), nil
	case *schema.Check:
		return value.OfString(o.Text), nil
	case *schema.Default:
		return value.OfString(o.Text), nil
	default:
		return null, nil
	}
}

func schemaID(q *question) (execute.Value, error) {
	name, ok := q.text(0)
	if q.missing(0) {
		name, ok = q.defaultSchema(), true
	}
	if s := q.db().Schema(name); ok && s != nil {
		return intValue(s.ID)
	}
	return null, nil
}

func schemaName(q *question) (execute.Value, error) {
	if q.missing(0) {
		return value.OfString(q.defaultSchema()), nil
	}
	id, ok := q.number(0)
	if s := q.db().SchemaByID(id); ok && s != nil {
		return value.OfString(s.Name), nil
	}
	return null, nil
}

func typeID(q *question) (execute.Value, error) {
	name, ok := q.text(0)
	parts, isName := splitName(name)
	if !ok || !isName || len(parts) > 2 {
		return null, nil
	}
	in := ""
	if len(parts) == 2 {
		in = parts[0]
	}
	last := parts[len(parts)-1]
	if in == "" || strings.EqualFold(in, "sys") {
		if t, ok := schema.SystemTypeByName(strings.ToLower(last)); ok {
			return intValue(t.UserID)
		}
	}
	if u := q.db().FindType(in, last, q.defaultSchema()); u != nil && q.db().VisibleType(q.user(), u) {
		return intValue(u.ID)
	}
	return null, nil
}

func typeName(q *question) (execute.Value, error) {
	id, ok := q.number(0)
	if !ok {
		return null, nil
	}
	for _, t := range schema.SystemTypes {
		if t.UserID == id {
			return value.OfString(t.Name), nil
		}
	}
	if u := q.db().TypeByID(id); u != nil && q.db().VisibleType(q.user(), u) {
		return value.OfString(u.Name), nil
	}
	return null, nil
}

func databaseID(q *question) (execute.Value, error) {
	if q.missing(0) {
		return intValue(q.db().ID)
	}
	name, ok := q.text(0)
	if db := q.server().Database(name); ok && db != nil {
		return intValue(db.ID)
	}
	return null, nil
}

func databaseName(q *question) (execute.Value, error) {
	if q.missing(0) {
		return value.OfString(q.db().Name), nil
	}
	id, ok := q.number(0)
	if db := q.server().DatabaseByID(id); ok && db != nil {
		return value.OfString(db.Name), nil
	}
	return null, nil
}

// table finds a table by its id.
func (q *question) table(id int32) *schema.Table {
	_, o := q.byID(id, 9)
	t, _ := o.(*schema.Table)
	return t
}

func columnName(q *question) (execute.Value, error) {
	id, ok := q.number(0)
	column, given := q.number(1)
	_, o := q.byID(id, 9)
	if !ok || !given || o == nil {
		return null, nil
	}
	name := sysview.ColumnName(Context(q.run.Frame), o, column)
	if name == "" {
		return null, nil
	}
	return value.OfString(name), nil
}

func columnLength(q *question) (execute.Value, error) {
	name, ok := q.text(0)
	column, given := q.text(1)
	if !ok || !given {
		return null, nil
	}
	db, o := q.object(name)
	t, isTable := o.(*schema.Table)
	if !isTable {
		return null, nil
	}
	c := t.Column(column, db.Fold)
	if c == nil {
		return null, nil
	}
	return intValue(schema.MaxLength(c.Type))
}

// identity finds the identity column of the table that the first argument names.
func (q *question) identity() *schema.Identity {
	name, ok := q.text(0)
	if !ok {
		return nil
	}
	_, o := q.object(name)
	t, isTable := o.(*schema.Table)
	if !isTable {
		return nil
	}
	return t.Identity
}

func identCurrent(q *question) (execute.Value, error) {
	id := q.identity()
	switch {
	case id == nil:
		return null, nil
	case id.Last == nil:
		return decimal38(id.Seed)
	default:
		return decimal38(*id.Last)
	}
}

func identSeed(q *question) (execute.Value, error) {
	id := q.identity()
	if id == nil {
		return null, nil
	}
	return decimal38(id.Seed)
}

func identIncrement(q *question) (execute.Value, error) {
	id := q.identity()
	if id == nil {
		return null, nil
	}
	return decimal38(id.Increment)
}

// decimal38 is a number as decimal(38, 0), which these functions return.
func decimal38(n int64) (execute.Value, error) {
	return value.Convert(value.OfInt(n), askedBigInt, value.DecimalType(38, 0), 0)
}
