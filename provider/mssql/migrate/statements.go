package migrate

import "fmt"

// This file holds all T-SQL that the migrator writes itself. Everything else are the scripts, and the queries of
// sql/queries, which are linted and typed. These cannot be such queries: a plan is text that people read and run by
// hand ([Plan.WriteTo]), with values and names in it, and the lock is taken before there is a schema. Formats are for
// [planner.statement], which puts another schema in the place of duroxide.

// sessionOptions is sent once the lock is held. The first two are frozen into modules
// and asked for by filtered indexes; the third makes every error undo its
// whole transaction. A step gives way to the workers: it is the one to be chosen in a
// deadlock, and it waits 10 seconds at most for a lock, because whoever needs a table
// that it waits for waits behind it.
const sessionOptions = moduleOptions + `
SET XACT_ABORT ON;
SET NOCOUNT ON;
SET DEADLOCK_PRIORITY LOW;
SET LOCK_TIMEOUT 10000;`

// moduleOptions are those that a module keeps from the session that has made it.
const moduleOptions = `SET QUOTED_IDENTIFIER ON;
SET ANSI_NULLS ON;`

// takeLock takes the application lock @p1, if it is free within @p2 milliseconds.
const takeLock = `DECLARE @result INT;
EXEC @result = sp_getapplock @Resource = @p1, @LockMode = N'Exclusive', @LockOwner = N'Session', @LockTimeout = @p2;
SELECT @result;`

// What a script to be run by hand has around its steps.
const (
	beginStep = "BEGIN TRANSACTION;"
	endStep   = "COMMIT TRANSACTION;"
	// stopScript keeps the rest of a script from running after an error or, worse, from
	// running outside of its transaction. Batches are still compiled then, not executed.
	stopScript = `IF @@ERROR <> 0 OR @@TRANCOUNT = 0
BEGIN
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    SET NOEXEC ON;
END;`
	goOn = "SET NOEXEC OFF;"
)

// takeLockByHand waits a minute for the lock, and keeps the script from running without.
func takeLockByHand(schema string) string {
	return `DECLARE @result INT;
EXEC @result = sp_getapplock @Resource = ` + quoteText(lockName(schema)) + `, @LockMode = N'Exclusive', @LockOwner = N'Session', @LockTimeout = 60000;
IF @result < 0
BEGIN
    RAISERROR (N'Another process is migrating the schema. Nothing was changed.', 16, 1);
    SET NOEXEC ON;
END;`
}

func releaseLockByHand(schema string) string {
	return "EXEC sp_releaseapplock @Resource = " + quoteText(lockName(schema)) + ", @LockOwner = N'Session';"
}

// createSchema needs a batch to itself. The schema belongs to dbo, so that whoever migrates can be dropped later.
// createSchemaOnce is for a script that may run again.
const createSchema = "CREATE SCHEMA duroxide AUTHORIZATION dbo;"

func createSchemaOnce(schema string) string {
	create := "CREATE SCHEMA " + Quote(schema) + " AUTHORIZATION dbo;"
	return fmt.Sprintf("IF SCHEMA_ID(%s) IS NULL EXEC (%s);", quoteText(schema), quoteText(create))
}

// now is the server's clock, in milliseconds since the Unix epoch (rule T2).
const now = "DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())"

// Formats of what is recorded, in the tables of [recordsFile].
const (
	// insertScript takes the version, the name and the checksum of a numbered script.
	insertScript = "INSERT INTO duroxide.migrations (version, name, checksum, applied_at)\nVALUES (%d, %s, 0x%x, " + now + ");"
	// insertModule takes the name, the kind and the checksum of a module.
	insertModule = `DELETE FROM duroxide.modules WHERE name = %[1]s;
INSERT INTO duroxide.modules (name, kind, checksum, server_checksum, applied_at)
SELECT o.name, N'%[2]s', 0x%[3]x, HASHBYTES('SHA2_256', m.definition), ` + now + `
FROM sys.sql_modules AS m
INNER JOIN sys.objects AS o ON o.object_id = m.object_id
WHERE o.schema_id = SCHEMA_ID(N'duroxide') AND o.name = %[1]s;`
	// deleteModule takes its name.
	deleteModule = "DELETE FROM duroxide.modules WHERE name = %s;"
	// insertRevision takes the revision, and the oldest whose programs may go on.
	insertRevision   = "INSERT INTO duroxide.revisions (revision, oldest, complete, applied_at)\nVALUES (%d, %d, 0, " + now + ");"
	completeRevision = "UPDATE duroxide.revisions SET complete = 1 WHERE revision = %d;"
)

// Formats of what is removed.
const (
	// dropObject takes the kind of an object and its quoted name.
	dropObject = "DROP %s IF EXISTS duroxide.%s;"
	// dropMember takes the quoted names of a role and a member.
	dropMember = "ALTER ROLE %s DROP MEMBER %s;"
	// dropRole takes the quoted name of a role.
	dropRole   = "DROP ROLE %s;"
	dropSchema = "DROP SCHEMA duroxide;"
)

// Formats of what gives rights back.
const (
	// addMember takes the quoted names of a role and a member.
	addMember = "ALTER ROLE %s ADD MEMBER %s;"
	// grantRight takes the right, a class with colons or nothing, and the quoted names of the schema, the object and
	// the role.
	grantRight = "GRANT %s ON %s%s.%s TO %s;"
)

// Formats of what restores an index. The name of the table is one of the scripts'.
const (
	// addConstraint takes a table and the constraint.
	addConstraint = "ALTER TABLE duroxide.%s ADD %s;"
	// dropConstraint takes a table and the quoted name of a constraint.
	dropConstraint = "ALTER TABLE duroxide.%s DROP CONSTRAINT %s;"
	// dropIndex and rebuildIndex take the quoted name of an index and its table.
	dropIndex    = "DROP INDEX %s ON duroxide.%s;"
	rebuildIndex = "ALTER INDEX %s ON duroxide.%s REBUILD;"
)

// alterIndex begins each statement that says how an index is stored.
const alterIndex = "ALTER INDEX "

// turnPageLocksOff takes the quoted names of an index, its schema and its table.
const turnPageLocksOff = "ALTER INDEX %s ON %s.%s SET (ALLOW_PAGE_LOCKS = OFF);"
