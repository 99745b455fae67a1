// Package define executes the statements that change the catalog: CREATE, ALTER and DROP of everything, GRANT, DENY and
// REVOKE, and what the system procedures sp_rename and sp_addrolemember do.
//
// Every change is made at once and registers its undoing with the transaction. What it changes it locks with Sch-M, so
// that nobody compiles against an object whose definition is not committed.
//
//	define.go       the surface: what a session gives, which statements are handled, and by what
//	name.go         objects by their names, and new names; type.go types
//	table.go        CREATE TABLE; column.go, constraint.go and foreign.go what stands in it; check.go rows that are there
//	index.go        CREATE, ALTER and DROP INDEX; keylimit.go how long keys may be; data.go indexes of the store
//	variable.go     table variables and table types
//	alter.go        ALTER TABLE; altercolumn.go ALTER COLUMN; dropcolumn.go DROP of columns and constraints
//	drop.go         DROP; module.go procedures, functions, views and triggers
//	sequence.go, kind.go, principal.go, permission.go, database.go, rename.go  after their subjects
package define

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
	"github.com/duroxide/duroxide-go/tsql/internal/server/store"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Type is short for schema.Type.
type Type = schema.Type

// Context is the session for which something is defined.
type Context interface {
	Server() *schema.Server
	Database() *schema.Database
	Login() *schema.Login
	// Principal is the user whose rights count.
	Principal() *schema.Principal
	Store() *store.Session
	// Statement is the statement that is being executed. It is asked for when something is locked or changed.
	Statement() *store.Statement
	// Frame is the activation whose session evaluates defaults for rows that are there already.
	Frame() *execute.Frame
	// File is the text in which the statement stands, and Schema where names without one are looked for first.
	File() *diag.File
	Schema() string
	// Option is the value of a SET option, "ON" or "OFF".
	Option(name string) string
	Now() time.Time
	// Temporary finds a temporary table by its name: the innermost one, or only one that the present procedure or batch
	// itself has made.
	Temporary(name string, own bool) *schema.Table
	AddTemporary(t *schema.Table)
	RemoveTemporary(t *schema.Table)
	TemporaryProcedure(name string) *schema.Module
	AddTemporaryProcedure(m *schema.Module)
	RemoveTemporaryProcedure(m *schema.Module)
	// Check compiles a module that is being created, and refuses what the server does not support.
	Check(m *schema.Module) error
	// Columns returns the names of the columns of a view.
	Columns(m *schema.Module) ([]string, error)
	// InTransaction reports whether the user has begun a transaction.
	InTransaction() bool
	// InUse reports whether a session is in a database, apart from the one that asks.
	InUse(db *schema.Database) bool
	// LoggedIn reports whether a session is one of the login.
	LoggedIn(login *schema.Login) bool
	// EndOthers gives the sessions that InUse is about a while to go by themselves, ends those that have not, and
	// returns when they are gone. AwaitOthers waits until all have gone by themselves; inTime is false if LOCK_TIMEOUT
	// was first.
	EndOthers(db *schema.Database, after time.Duration) error
	AwaitOthers(db *schema.Database) (inTime bool, err error)
	// Message sends text to the client, such as a warning.
	Message(number int32, class uint8, text string)
}

// Handles reports whether a statement is one that Execute knows.
func Handles(stmt syntax.Stmt) bool {
	switch s := stmt.(type) {
	case *syntax.CreateTable, *syntax.AlterTable, *syntax.CreateIndex, *syntax.CreateType, *syntax.CreateView,
		*syntax.CreateFunction, *syntax.CreateProcedure, *syntax.CreateTrigger, *syntax.CreateSequence,
		*syntax.CreateSynonym, *syntax.CreateSchema, *syntax.CreatePrincipal, *syntax.Permission, *syntax.Drop:
		return true
	case *syntax.Other:
		if s.Detail != nil {
			_, isExecuteAs := s.Detail.(*syntax.ExecuteAs)
			return !isExecuteAs
		}
		return noOperation[s.Words]
	default:
		return false
	}
}

// noOperation are statements that change nothing which this server has: pages and caches.
var noOperation = map[string]bool{"CHECKPOINT": true, "RECONFIGURE": true}

// definer executes one statement.
type definer struct {
	Context

	db *schema.Database // the one that the statement changes: another one only for names of three parts
	// global says that a global temporary object changes, of which plans of all databases may know.
	global bool
}

// Execute executes a statement that Handles knows.
func Execute(c Context, stmt syntax.Stmt) error {
	d := &definer{Context: c, db: c.Database()}
	err := d.execute(stmt)
	if d.global {
		d.bumpAll()
	}
	return err
}

// bumpAll makes plans of all databases stale.
func (d *definer) bumpAll() {
	for _, db := range d.Server().Databases {
		db.Bump()
	}
}

func (d *definer) execute(stmt syntax.Stmt) error {
	switch s := stmt.(type) {
	case *syntax.CreateTable:
		return d.createTable(s)
	case *syntax.AlterTable:
		return d.alterTable(s)
	case *syntax.CreateIndex:
		return d.createIndex(s)
	case *syntax.CreateType:
		return d.createType(s)
	case *syntax.CreateView, *syntax.CreateFunction, *syntax.CreateProcedure, *syntax.CreateTrigger:
		return d.createModule(s)
	case *syntax.CreateSequence:
		return d.createSequence(s)
	case *syntax.CreateSynonym:
		return d.createSynonym(s)
	case *syntax.CreateSchema:
		return d.createSchema(s)
	case *syntax.CreatePrincipal:
		return d.principal(s)
	case *syntax.Permission:
		return d.permission(s)
	case *syntax.Drop:
		return d.drop(s)
	case *syntax.Other:
		return d.other(s)
	default:
		return d.unsupported(stmt.Range(), fmt.Sprintf("%T", stmt))
	}
}

// other executes what the parser calls other statements.
func (d *definer) other(s *syntax.Other) error {
	switch detail := s.Detail.(type) {
	case *syntax.AlterIndex:
		return d.alterIndex(detail)
	case *syntax.AlterSequence:
		return d.alterSequence(detail)
	case *syntax.AlterSchema:
		return d.alterSchema(detail)
	case *syntax.AlterAuthorization:
		return d.alterAuthorization(detail)
	case *syntax.CreateDatabase:
		return d.createDatabase(detail)
	case *syntax.AlterDatabase:
		return d.alterDatabase(detail)
	case *syntax.SwitchTrigger:
		return d.switchTrigger(detail)
	case *syntax.DBCC:
		return d.dbcc(detail)
	case *syntax.AlterServerRole:
		return d.alterServerRole(detail)
	case *syntax.UpdateStatistics:
		return d.updateStatistics(detail)
	}
	if noOperation[s.Words] {
		return nil
	}
	return d.unsupported(s.Span, s.Words)
}

// unsupported is the error for what SQL Server has and this server has not.
func (d *definer) unsupported(at diag.Span, what string) error {
	return fault.New(fault.Unsupported, place(d.File(), at, what+" is not supported by tsqltest"))
}

// place adds the position in a file to a message.
func place(file *diag.File, at diag.Span, message string) string {
	if file == nil {
		return message
	}
	line, column := file.Position(at.From)
	return fmt.Sprintf("%s (%s:%d:%d)", message, file.Name, line, column)
}

// undo registers what undoes a change. Plans that were made in between are stale afterwards.
func (d *definer) undo(f func()) {
	db := d.db
	d.Store().Undo(func() {
		f()
		db.Bump()
		if d.global {
			d.bumpAll()
		}
	})
}

// set changes a variable of the catalog, and back when the transaction is undone.
func set[T any](d *definer, p *T, v T) {
	old := *p
	*p = v
	d.db.Bump()
	d.undo(func() { *p = old })
}

// setList is set for a list that the transactions of several sessions change at once. Undone, what came goes and what
// went comes back; what the others changed meanwhile stays.
func setList[T comparable](d *definer, p *[]T, v []T) {
	old := *p
	*p = v
	d.db.Bump()
	d.undo(func() { *p = append(missing(*p, missing(v, old)), missing(old, v)...) })
}

// missing copies what another list lacks of a list.
func missing[T comparable](list, other []T) []T {
	others := make(map[T]bool, len(other))
	for _, one := range other {
		others[one] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(one T) bool { return others[one] })
}

// add enters an object.
func (d *definer) add(o schema.Object) {
	db := d.db
	db.Add(o)
	d.undo(func() { db.Remove(o) })
}

// remove takes an object out. Until the transaction ends its name is not free for others.
func (d *definer) remove(o schema.Object) {
	db, h := d.db, o.Head()
	db.Remove(o)
	back := h.Schema.Leave(h.Name, schema.Leaving{ID: waited(o), Transaction: d.Store().TransactionID()})
	d.undo(func() {
		back()
		db.Add(o)
	})
}

// lock takes a Sch-M lock on an object to the end of the transaction. Waiting for it lets others change the catalog.
func (d *definer) lock(o schema.Object) error {
	h := o.Head()
	if t, ok := o.(*schema.Table); ok && (t.Temporary && t.Global == 0 || t.Variable) {
		return nil
	}
	return d.Statement().LockSchema(d.db.ID, h.ID, lock.SchM)
}

// header makes the header of a new object.
func (d *definer) header(kind, name string, s *schema.Schema) schema.Header {
	now := datetime(d.Now())
	return schema.Header{
		ID: d.Server().NextObjectID(), Name: name, Schema: s, Kind: kind, Created: now, Modified: now,
	}
}

// modified notes that an object was altered.
func (d *definer) modified(o schema.Object) { set(d, &o.Head().Modified, datetime(d.Now())) }

// may reports whether the user has a permission on the database.
func (d *definer) may(permission string) bool {
	return d.db.May(d.user(), permission, schema.Securable{Class: "DATABASE"})
}

// mayObject reports whether the user has a permission on an object.
func (d *definer) mayObject(permission string, o schema.Object) bool {
	return d.db.MayObject(d.user(), permission, o, nil)
}

// maySchema reports whether the user has a permission on a schema.
func (d *definer) maySchema(permission string, s *schema.Schema) bool {
	return d.db.May(d.user(), permission, schema.Securable{Class: "SCHEMA", ID: s.ID})
}

// user is who the session is in the database that the statement changes.
func (d *definer) user() *schema.Principal {
	if d.db == d.Database() {
		return d.Principal()
	}
	if user := d.db.UserOf(d.Login()); user != nil {
		return user
	}
	return d.db.Public()
}

// needs returns error 262 unless the user has a permission on the database.
func (d *definer) needs(permission string) error {
	if d.may(permission) {
		return nil
	}
	return fault.New(262, permission, d.db.Name)
}

// followed returns an error with the one that SQL Server sends after it.
func followed(err error, number int32, args ...any) error {
	return errors.Join(err, fault.New(number, args...))
}
