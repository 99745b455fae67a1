package schema

import (
	"cmp"
	"slices"
)

// Schema finds a schema by its name.
func (db *Database) Schema(name string) *Schema { return db.Schemas[db.Fold(name)] }

// SchemaByID finds a schema by its id.
func (db *Database) SchemaByID(id int32) *Schema {
	for _, s := range db.Schemas {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Principal finds a user or a role by its name.
func (db *Database) Principal(name string) *Principal { return db.Principals[db.Fold(name)] }

// PrincipalByID finds a user or a role by its id.
func (db *Database) PrincipalByID(id int32) *Principal {
	for _, p := range db.Principals {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// UserOf returns the user that a login is in the database; nil if it may not enter.
func (db *Database) UserOf(l *Login) *Principal {
	if l == nil {
		return nil
	}
	if l.Sysadmin || l == db.Owner {
		return db.Dbo()
	}
	for _, p := range db.Principals {
		if p.Login == l && !p.Role {
			if !db.May(p, "CONNECT", Securable{Class: "DATABASE"}) {
				return nil
			}
			return p
		}
	}
	guest := db.Principal("guest")
	if db.ID == MasterID || db.ID == TempID || db.ID == MsdbID || db.May(guest, "CONNECT", Securable{Class: "DATABASE"}) {
		return guest // it has CONNECT in the system's databases
	}
	return nil
}

// Object finds an object by its id.
func (db *Database) Object(id int32) Object { return db.Objects[id] }

// Find returns the object of a name in a schema; nil if there is none. Without a schema, the one called first is looked
// into, and then dbo.
func (db *Database) Find(schema, name, first string) Object {
	if schema != "" {
		return db.in(schema, name)
	}
	if o := db.in(first, name); o != nil {
		return o
	}
	return db.in("dbo", name)
}

// in is Find in one schema.
func (db *Database) in(schema, name string) Object {
	s := db.Schema(schema)
	if s == nil {
		return nil
	}
	return s.Objects[db.Fold(name)]
}

// FindTable is Find for tables; ok is false if the name is that of something else.
func (db *Database) FindTable(schema, name, first string) (t *Table, ok bool) {
	o := db.Find(schema, name, first)
	if o == nil {
		return nil, true
	}
	t, ok = o.(*Table)
	return t, ok
}

// FindType returns the alias or table type of a name. Without a schema, the one called first is looked into, and then
// dbo.
func (db *Database) FindType(schema, name, first string) *UserType {
	if schema != "" {
		return db.Types[db.typeKey(schema, name)]
	}
	if t := db.Types[db.typeKey(first, name)]; t != nil {
		return t
	}
	return db.Types[db.typeKey("dbo", name)]
}

// TypeByID finds an alias or table type by its id.
func (db *Database) TypeByID(id int32) *UserType {
	for _, t := range db.Types {
		if t.ID == id {
			return t
		}
	}
	return nil
}

func (db *Database) typeKey(schema, name string) string { return db.Fold(schema) + "." + db.Fold(name) }

// Add enters an object, which has its schema and id already, and makes plans stale.
func (db *Database) Add(o Object) {
	h := o.Head()
	h.Schema.Objects[db.Fold(h.Name)] = o
	db.Objects[h.ID] = o
	db.Bump()
}

// Remove takes an object out.
func (db *Database) Remove(o Object) {
	h := o.Head()
	if h.Schema.Objects[db.Fold(h.Name)] == o {
		delete(h.Schema.Objects, db.Fold(h.Name))
	}
	delete(db.Objects, h.ID)
	db.Bump()
}

// Leave notes that a transaction has given a name up. Undone, which the caller registers, forgets it.
func (s *Schema) Leave(name string, l Leaving) (undone func()) {
	name = s.Database.Fold(name)
	if s.leaving == nil {
		s.leaving = map[string]Leaving{}
	}
	old, had := s.leaving[name]
	s.leaving[name] = l
	return func() {
		delete(s.leaving, name)
		if had {
			s.leaving[name] = old
		}
	}
}

// LeavingName returns what has given up a name of the schema in a transaction other than the given one, if its end
// isn't known. Whoever needs the name waits for a Sch-S lock on it, calls Left, and looks the name up again.
func (s *Schema) LeavingName(name string, transaction int64) (Leaving, bool) {
	l, ok := s.leaving[s.Database.Fold(name)]
	return l, ok && l.Transaction != transaction
}

// Left forgets a name whose transaction has ended.
func (s *Schema) Left(name string, l Leaving) {
	name = s.Database.Fold(name)
	if s.leaving[name] == l {
		delete(s.leaving, name)
	}
}

// Leaving returns all names of the database that transactions other than the given one have given up.
func (db *Database) Leaving(transaction int64) []Leaving {
	var list []Leaving
	for _, s := range db.Schemas {
		for _, l := range s.leaving {
			if l.Transaction != transaction {
				list = append(list, l)
			}
		}
	}
	slices.SortFunc(list, func(a, b Leaving) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// AllLeft forgets names whose transactions have ended.
func (db *Database) AllLeft(list []Leaving) {
	for _, s := range db.Schemas {
		for name, l := range s.leaving {
			if slices.Contains(list, l) {
				delete(s.leaving, name)
			}
		}
	}
}

// AddType enters an alias or table type.
func (db *Database) AddType(t *UserType) {
	db.Types[db.typeKey(t.Schema.Name, t.Name)] = t
	db.Bump()
}

// RemoveType takes a type out.
func (db *Database) RemoveType(t *UserType) {
	delete(db.Types, db.typeKey(t.Schema.Name, t.Name))
	db.Bump()
}

// AddSchema enters a schema; one without an id gets one.
func (db *Database) AddSchema(s *Schema) {
	if s.ID == 0 {
		s.ID = db.nextSchema
		db.nextSchema++
	}
	s.Database = db
	if s.Objects == nil {
		s.Objects = map[string]Object{}
	}
	db.Schemas[db.Fold(s.Name)] = s
	db.Bump()
}

// RemoveSchema takes a schema out.
func (db *Database) RemoveSchema(s *Schema) {
	delete(db.Schemas, db.Fold(s.Name))
	db.Bump()
}

// AddPrincipal enters a user or role; one without an id gets one.
func (db *Database) AddPrincipal(p *Principal) {
	if p.ID == 0 {
		p.ID = db.nextPrincipal
		db.nextPrincipal++
	}
	if p.MemberOf == nil {
		p.MemberOf = map[*Principal]bool{}
	}
	db.Principals[db.Fold(p.Name)] = p
	db.Bump()
}

// RemovePrincipal takes a user or role out.
func (db *Database) RemovePrincipal(p *Principal) {
	delete(db.Principals, db.Fold(p.Name))
	db.Bump()
}

// NextTypeID returns an id for a new alias or table type.
func (db *Database) NextTypeID() int32 {
	id := db.nextType
	db.nextType++
	return id
}

// NextColumnID returns an id for a new column of the table. Ids are not used again after DROP COLUMN.
func (t *Table) NextColumnID() int32 {
	t.nextColumn++
	return t.nextColumn
}

// Column finds a column by its name, folded by the given function; nil if there is none.
func (t *Table) Column(name string, fold func(string) string) *Column {
	want := fold(name)
	for _, c := range t.Columns {
		if fold(c.Name) == want {
			return c
		}
	}
	return nil
}

// Index finds an index by its name; nil if there is none.
func (t *Table) Index(name string, fold func(string) string) *Index {
	want := fold(name)
	for _, ix := range t.Indexes {
		if ix.ID != 0 && fold(ix.Name) == want {
			return ix
		}
	}
	return nil
}

// IndexByID finds an index by its id; nil if there is none.
func (t *Table) IndexByID(id int32) *Index {
	i := slices.IndexFunc(t.Indexes, func(ix *Index) bool { return ix.ID == id })
	if i < 0 {
		return nil
	}
	return t.Indexes[i]
}

// Clustered returns the clustered index; nil for a heap.
func (t *Table) Clustered() *Index {
	if len(t.Indexes) > 0 && t.Indexes[0].Clustered {
		return t.Indexes[0]
	}
	return nil
}

// PrimaryKey returns the primary key; nil if there is none.
func (t *Table) PrimaryKey() *Key {
	for _, k := range t.Keys {
		if k.Primary {
			return k
		}
	}
	return nil
}

// RowVersionColumn returns the rowversion column; nil if there is none.
func (t *Table) RowVersionColumn() *Column {
	for _, c := range t.Columns {
		if c.RowVersion {
			return c
		}
	}
	return nil
}

// QualifiedName returns schema.name of an object, as messages have it.
func QualifiedName(o Object) string {
	h := o.Head()
	if h.Schema == nil {
		return h.Name
	}
	return h.Schema.Name + "." + h.Name
}

// OwnerOf returns who owns an object: somebody of its own, or the owner of its schema.
func OwnerOf(o Object) *Principal {
	h := o.Head()
	if h.Owner != nil || h.Schema == nil {
		return h.Owner
	}
	return h.Schema.Owner
}
