package syntax

import "github.com/duroxide/duroxide-go/tsql/internal/diag"

// A Detail is what an Other says. It is for those who execute statements; the stages that only ask about types go by
// the words.
type Detail interface {
	Node
	detail()
}

type (
	// AlterIndex is ALTER INDEX name|ALL ON table REBUILD|REORGANIZE|DISABLE|SET (…).
	AlterIndex struct {
		diag.Span
		Name    *Ident // nil for ALL
		Table   *ObjectName
		Action  string
		Options []Option
	}

	// SpecialIndex is CREATE INDEX of an index that no key is made of: XML, spatial, JSON and vector indexes.
	SpecialIndex struct {
		diag.Span
		Name  Ident
		Table *ObjectName
	}

	// FullTextIndex is CREATE FULLTEXT INDEX ON table (columns) KEY INDEX key. A table has one at most.
	FullTextIndex struct {
		diag.Span
		Table *ObjectName
		Key   Ident // the unique index whose column tells the rows apart
	}

	// AlterSequence is ALTER SEQUENCE. The Start of its properties is that of RESTART WITH.
	AlterSequence struct {
		diag.Span
		Name       *ObjectName
		Restart    bool
		Properties SequenceProperties
	}

	// AlterSchema is ALTER SCHEMA name TRANSFER [class::]object.
	AlterSchema struct {
		diag.Span
		Name   Ident
		Class  string // "OBJECT", "TYPE", …; empty if not written
		Object *ObjectName
	}

	// AlterAuthorization is ALTER AUTHORIZATION ON [class::]thing TO principal|SCHEMA OWNER.
	AlterAuthorization struct {
		diag.Span
		Class string // empty if not written
		On    *ObjectName
		To    *Ident // nil for SCHEMA OWNER
	}

	// CreateDatabase is CREATE DATABASE name [COLLATE collation].
	CreateDatabase struct {
		diag.Span
		Name      Ident
		Collation string
	}

	// AlterDatabase is ALTER DATABASE name|CURRENT with SET options, COLLATE or MODIFY NAME.
	AlterDatabase struct {
		diag.Span
		Name        *Ident // nil for CURRENT
		NewName     *Ident
		Options     []Option // of SET; the value of "A = B" and "A B" is B
		Termination string   // of SET: "NO_WAIT", "ROLLBACK IMMEDIATE", "ROLLBACK AFTER"; empty if not written
		Seconds     string   // of ROLLBACK AFTER
		Collation   string
	}

	// SwitchTrigger is ENABLE TRIGGER and DISABLE TRIGGER.
	SwitchTrigger struct {
		diag.Span
		Enable bool
		Names  []*ObjectName // empty for ALL
		On     *ObjectName   // nil for DATABASE and ALL SERVER
	}

	// DBCC is DBCC command (arguments) WITH options. Arguments that are bare words are strings.
	DBCC struct {
		diag.Span
		Command string
		Args    []Expr
		Options []Option
	}

	// AlterServerRole is ALTER SERVER ROLE name ADD|DROP MEMBER login.
	AlterServerRole struct {
		diag.Span
		Name   Ident
		Action string // "ADD MEMBER", "DROP MEMBER"
		Member *Ident
	}

	// UpdateStatistics is UPDATE STATISTICS table [statistics].
	UpdateStatistics struct {
		diag.Span
		Table *ObjectName
		Names []Ident // empty for all
	}

	// ExecuteAs is EXECUTE AS USER|LOGIN = x, EXECUTE AS CALLER.
	ExecuteAs struct {
		diag.Span
		Kind     string // "USER", "LOGIN", "CALLER"
		User     Expr   // nil for CALLER
		NoRevert bool
		Cookie   *Variable // WITH COOKIE INTO @v; nil if not written
	}

	// Revert is REVERT [WITH COOKIE = @v].
	Revert struct {
		diag.Span
		Cookie *Variable // nil if not written
	}

	// Kill is KILL session [WITH STATUSONLY].
	Kill struct {
		diag.Span
		Session    string // a number with its sign
		StatusOnly bool
	}
)

func (*AlterIndex) detail()         {}
func (*SpecialIndex) detail()       {}
func (*FullTextIndex) detail()      {}
func (*AlterSequence) detail()      {}
func (*AlterSchema) detail()        {}
func (*AlterAuthorization) detail() {}
func (*CreateDatabase) detail()     {}
func (*AlterDatabase) detail()      {}
func (*SwitchTrigger) detail()      {}
func (*DBCC) detail()               {}
func (*AlterServerRole) detail()    {}
func (*UpdateStatistics) detail()   {}
func (*ExecuteAs) detail()          {}
func (*Revert) detail()             {}
func (*Kill) detail()               {}
