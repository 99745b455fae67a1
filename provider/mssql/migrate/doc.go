// Package migrate creates the schema of the SQL Server store and brings it up to date, for
// a program that does so itself: when it is deployed, or for a new tenant. It does what the
// commands `duroxide migrate …` do, and they use it.
//
//	db, err := sql.Open("sqlserver", url) // with an owner's login
//	m := &migrate.Migration{DB: db}       // of the schema duroxide
//	plan, err := m.Plan(ctx)              // what is to do; plan.WriteTo prints it as SQL
//	done, err := m.Up(ctx)                // do it
//
// [Migration.Check] tells whether this program may use the schema, as opening the store
// does. [Migration.Status] and [Migration.Verify] compare the schema with this release,
// [Migration.Drop] removes it with its data, and [Export] writes all of it as one script
// for another migration tool. Nothing here has a time limit of its own but the context,
// and nothing is tried again when the connection breaks: call Up again, which goes on from
// there.
//
// The scripts are embedded in the program: a release of this module brings its own, and
// can migrate to nothing else.
//
// # Steps
//
// A migration is a list of steps, each one transaction together with the row that
// records it. So it may be cut anywhere and goes on with the next call, and the
// workers of the previous release wait for one module at a time, not for all of them.
// A lock, held by the session for the whole migration, lets one process in at a time;
// who comes later finds nothing left to do. A step waits 10 seconds at most for a lock of
// the workers, is the one to be chosen in a deadlock, and is tried five times.
//
// Three tables in the schema record what was done: migrations (a row per numbered
// script), modules (a row per module, with the checksum of our text and of the
// definition that the server stored for it, which is how an edit on the server is
// found) and revisions (a row per revision that was begun: the oldest one whose programs
// it serves, and whether all of it was applied). The view v_migrations shows all three.
//
// Up also makes each index again that an applied script has made and that somebody has dropped,
// disabled or changed. Of tables Verify says which columns differ; no script can bring back what
// was in them. For that the scripts are read: one may create and drop tables and indexes, and
// add, change and drop columns and constraints with names, each in a statement of its own.
//
// Procedures are applied helpers first, so that between two steps a caller of the new release never
// meets a helper of the old one.
//
// # Rolling upgrades
//
// Migrate first, then replace the workers. Meanwhile programs of the release before go
// on, and start anew: a schema records, beside its revision, the oldest revision of
// programs that it still serves.
//
//	the program's revision is              Check          Up
//	the schema's                           compares all   repairs what was edited
//	lower, at least the schema's oldest    accepts        succeeds and does nothing
//	below the schema's oldest              ErrNewerSchema the same error
//	higher                                 ErrOldSchema   migrates
//
// A program never changes a schema of a newer release, nor compares it: only its own
// texts are known to it. The revision is recorded before the first change, so that a
// program that is too old is refused before anything is taken away from it, and marked as
// complete after the last. A newer release that stops on its way harms nobody who was
// served before; a program whose own revision was never complete there is told so
// ([ErrOldSchema]).
//
// A release that only expands raises the revision and leaves the oldest one as it is: a
// new column has a default, a new parameter has a default, a changed type has a new name,
// and a procedure that is no longer needed stays for one release. What only modules of an
// earlier release have used, a script marked `-- after: modules` may take away. A release
// that takes away or changes what programs use contracts: it raises the oldest revision
// above the last one that used it. When the release before has already done without it,
// that one's workers go on all the same.
//
// # Identities
//
// The owner migrates: it creates schemas, roles and everything in them, as db_owner
// does. The application needs no more than membership in the role <schema>_runtime,
// which may execute the procedures that workers and clients call and read the views.
// <schema>_admin may also delete and prune, and <schema>_reader only reads. Each file grants
// what it defines. [Migration.Check] runs as either.
//
// # Servers
//
// SQL Server 2016 SP1 and later, and Azure SQL.
//
// # Scripts
//
// Schema is history, modules are the present. The scripts are those of the folder sql of
// this repository:
//
//	schema/records/*.sql      the tables that record all of this, made before anything else
//	schema/NNNN_name.sql      numbered scripts, applied once each, in order
//	schema/functions/*.sql    modules: one function, view or procedure per file, always
//	schema/views/*.sql        as it should be now, applied whenever its text differs
//	procedures/*.sql          from what was applied
//	schema/revision.txt       the number of this set of scripts and modules, raised by
//	                          every release that changes one, and the oldest revision
//	                          whose programs can use a schema of this one
//
// A numbered script may say in its first line when it is applied:
//
//	-- after: modules         after the modules: the place to take away what only modules
//	                          of an earlier release have used
//
// The files name the schema duroxide and the roles duroxide_scaler, duroxide_reader,
// duroxide_runtime and duroxide_admin, and run as they are in any SQL tool. For another schema they are rewritten token
// by token (rewrite.go).
package migrate
