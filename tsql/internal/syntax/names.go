package syntax

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// reservedWords is Microsoft's list of Transact-SQL reserved keywords. None of them is a name unless it is quoted.
// Two of
// the list are left out, since servers take them for names: WITHIN, listed as "WITHIN GROUP", and PRECISION, which is a
// column of sys.columns.
const reservedWords = `
	ADD ALL ALTER AND ANY AS ASC AUTHORIZATION BACKUP BEGIN BETWEEN BREAK BROWSE BULK BY CASCADE CASE CHECK CHECKPOINT
	CLOSE CLUSTERED COALESCE COLLATE COLUMN COMMIT COMPUTE CONSTRAINT CONTAINS CONTAINSTABLE CONTINUE CONVERT CREATE
	CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASE DBCC DEALLOCATE DECLARE
	DEFAULT DELETE DENY DESC DISK DISTINCT DISTRIBUTED DOUBLE DROP DUMP ELSE END ERRLVL ESCAPE EXCEPT EXEC EXECUTE
	EXISTS EXIT EXTERNAL FETCH FILE FILLFACTOR FOR FOREIGN FREETEXT FREETEXTTABLE FROM FULL FUNCTION GOTO GRANT GROUP
	HAVING HOLDLOCK IDENTITY IDENTITYCOL IDENTITY_INSERT IF IN INDEX INNER INSERT INTERSECT INTO IS JOIN KEY KILL LEFT
	LIKE LINENO LOAD MERGE NATIONAL NOCHECK NONCLUSTERED NOT NULL NULLIF OF OFF OFFSETS ON OPEN OPENDATASOURCE OPENQUERY
	OPENROWSET OPENXML OPTION OR ORDER OUTER OVER PERCENT PIVOT PLAN PRIMARY PRINT PROC PROCEDURE PUBLIC
	RAISERROR READ READTEXT RECONFIGURE REFERENCES REPLICATION RESTORE RESTRICT RETURN REVERT REVOKE RIGHT ROLLBACK
	ROWCOUNT ROWGUIDCOL RULE SAVE SCHEMA SECURITYAUDIT SELECT SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYDETAILSTABLE
	SEMANTICSIMILARITYTABLE SESSION_USER SET SETUSER SHUTDOWN SOME STATISTICS SYSTEM_USER TABLE TABLESAMPLE TEXTSIZE
	THEN TO TOP TRAN TRANSACTION TRIGGER TRUNCATE TRY_CONVERT TSEQUAL UNION UNIQUE UNPIVOT UPDATE UPDATETEXT USE USER
	VALUES VARYING VIEW WAITFOR WHEN WHERE WHILE WITH WRITETEXT`

var reserved = wordSet(reservedWords)

// statementStarts are the words that begin a statement. WITH and END are not among them: the one also begins hints, the
// other ends blocks. THROW isn't reserved, so a server takes it for an alias or a transaction's name where one may
// stand; it is treated as a beginning here, and the missing semicolon before it is reported.
var statementStarts = wordSet(`
	ALTER BACKUP BEGIN BREAK BULK CHECKPOINT CLOSE COMMIT CONTINUE CREATE DBCC DEALLOCATE DECLARE DELETE DENY DROP EXEC
	EXECUTE FETCH GOTO GRANT IF INSERT KILL MERGE OPEN PRINT RAISERROR READTEXT RECONFIGURE RESTORE RETURN REVERT REVOKE
	ROLLBACK SAVE SELECT SET SHUTDOWN THROW TRUNCATE UPDATE UPDATETEXT USE WAITFOR WHILE WRITETEXT`)

// statementWords only ever begin a statement, or stand first in a line only when they do, so that reading can go on
// there after an error.
var statementWords = strings.Fields(`
	ALTER BEGIN BREAK CHECKPOINT COMMIT CONTINUE CREATE DBCC DEALLOCATE DECLARE DENY DROP GOTO GRANT IF PRINT RAISERROR
	RETURN REVERT REVOKE ROLLBACK SAVE THROW TRUNCATE USE WAITFOR WHILE`)

// longTypes are the names of types that consist of several words, longest first where one begins another.
var longTypes = [][]string{
	{"NATIONAL", "CHARACTER", "VARYING"},
	{"NATIONAL", "CHAR", "VARYING"},
	{"NATIONAL", "CHARACTER"},
	{"NATIONAL", "CHAR"},
	{"NATIONAL", "TEXT"},
	{"CHARACTER", "VARYING"},
	{"CHAR", "VARYING"},
	{"BINARY", "VARYING"},
	{"DOUBLE", "PRECISION"},
}

// wordSet makes a set of the words of a text.
func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// isReserved reports whether an upper-case word is a keyword that can't be a name.
func isReserved(upper string) bool { return reserved[upper] }

// isStatementStart reports whether a token is a word that begins a statement, which also ends the one before it.
func isStatementStart(t token) bool { return t.kind == tokenWord && statementStarts[t.upper] }

// isName reports whether a token can be a name: a word that isn't reserved, or anything quoted.
// Whether a word is reserved doesn't depend on where it stands; the few productions that take a reserved one say so.
func (t token) isName() bool {
	return t.kind == tokenQuoted || t.kind == tokenWord && !isReserved(t.upper)
}

// asIdent turns a token into a name, whatever it is.
func (t token) asIdent() Ident {
	return Ident{Span: t.Span, Value: t.value, Quoted: t.kind == tokenQuoted}
}

// ident reads a name.
func (p *parser) ident() Ident { return p.name("a name") }

// name is ident with words for what is expected.
// The spelling stays: how names are compared depends on the server's collation, which package catalog decides about.
func (p *parser) name(what string) Ident {
	t := p.peek()
	if !t.isName() {
		fix := "" // of a keyword there is a way
		if t.kind == tokenWord {
			fix = "write [" + t.value + "] if that is the name"
		}
		p.fail(t.Span, fix, "expected %s, found %s", what, t.describe())
	}
	return p.next().asIdent()
}

// comma reads a comma.
func (p *parser) comma() {
	if !p.accept(",") {
		p.failExpected("a comma")
	}
}

// idents reads names separated by commas.
func (p *parser) idents() []Ident {
	return commaList(p, p.ident)
}

// identList reads names in parentheses.
func (p *parser) identList() []Ident {
	p.expect("(")
	names := p.idents()
	p.expect(")")
	return names
}

// objectName reads a name of one to four parts. Any part but the last may be left out, as in db..t or ..t.
func (p *parser) objectName() *ObjectName { return p.qualifiedName("a name", 4) }

// qualifiedName is objectName with words for what is expected and a bound on the number of parts.
// It is less than four where a server refuses longer ones: CREATE PROCEDURE takes no database.
func (p *parser) qualifiedName(what string, parts int) *ObjectName {
	start := p.peek().Span
	n := &ObjectName{Parts: []Ident{p.namePart(what)}}
	for p.accept(".") {
		n.Parts = append(n.Parts, p.namePart("a name after the dot"))
	}
	n.Span = p.from(start)
	// Checked at the end, so that the message can name the whole.
	if len(n.Parts) > parts {
		p.fail(n.Span, "", "a name of %d parts; at most %d are possible here", len(n.Parts), parts)
	}
	return n
}

// namePart reads one part of a name, or an empty one before a dot.
// The empty one has an empty span, before the dot.
func (p *parser) namePart(what string) Ident {
	if t := p.peek(); t.is(".") {
		return Ident{Span: diag.Span{From: t.From, To: t.From}}
	}
	return p.name(what)
}

// typeName reads a data type with its facets.
//
//	int   nvarchar(max)   decimal(10, 2)   dbo.email   double precision
//
// Whether there is such a type, and which facets it takes, package sqltype says.
func (p *parser) typeName() *TypeName {
	start := p.peek().Span
	typ := &TypeName{Name: p.longType()}
	if typ.Name == nil {
		typ.Name = p.qualifiedName("a data type", 3)
	}
	switch last := typ.Name.Last(); {
	case p.peek().is("(") && strings.EqualFold(last.Value, "xml") && p.peekN(1).isName():
		typ.Collection = p.collection()
	case p.peek().is("("):
		typ.Args = p.facets()
	}
	typ.Span = p.from(start)
	return typ
}

// longType reads a type's name of several words, or returns nil when none comes next.
// CHAR alone is a type as well, hence the longest first.
func (p *parser) longType() *ObjectName {
	for _, words := range longTypes {
		tokens := p.tokens[p.at:min(p.at+len(words), len(p.tokens))]
		if !p.accept(words...) {
			continue
		}
		values := make([]string, len(words))
		for i, t := range tokens {
			values[i] = t.value
		}
		span := p.from(tokens[0].Span)
		return &ObjectName{Span: span, Parts: []Ident{{Span: span, Value: strings.Join(values, " ")}}}
	}
	return nil
}

// collection reads the XML schema collection of a type, and whether documents or fragments are meant: ([CONTENT |
// DOCUMENT] name).
func (p *parser) collection() *ObjectName {
	p.expect("(")
	if p.peek().isAny("CONTENT", "DOCUMENT") && p.peekN(1).isName() {
		p.next()
	}
	name := p.objectName()
	p.expect(")")
	return name
}

// facets reads (n), (p, s), (max) or (n, float16).
func (p *parser) facets() []Ident {
	p.expect("(")
	var args []Ident
	for {
		t := p.peek()
		switch {
		case t.kind == tokenInt, t.isAny("MAX", "FLOAT16", "FLOAT32"): // the latter are of vectors
			args = append(args, p.next().asIdent())
		default:
			p.failExpected("a number", "max")
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return args
}

// optionList reads options in parentheses: (A = 1, B C = ON, D (x), E). An option's value is its text as written.
// Which options there are isn't checked: each version of the server has more, and no type depends on them.
func (p *parser) optionList() []Option {
	p.expect("(")
	options := commaList(p, p.option)
	p.expect(")")
	return options
}

// option reads one element of an optionList.
func (p *parser) option() Option {
	start := p.peek().Span
	words := p.words()
	if len(words) == 0 {
		p.failExpected("an option")
	}
	o := Option{Name: strings.Join(words, " ")}
	if p.accept("=") {
		o.Value = p.rawUntil(",", ")")
	} else if p.peek().is("(") {
		o.Value = p.rawParens()
	}
	o.Span = p.from(start)
	return o
}

// words reads the words that come next, reserved or not, and returns them in upper case.
// They end at the first token of another kind, such as = or a parenthesis.
func (p *parser) words() []string {
	var words []string
	for p.peek().kind == tokenWord {
		words = append(words, p.next().upper)
	}
	return words
}

// rawUntil reads tokens up to one of the given words or marks outside parentheses and returns their text. There must be
// at least one token, and the batch must not end before.
// It is for values whose own grammar matters to no stage: DATA_COMPRESSION = ROW ON PARTITIONS (1 TO 3).
func (p *parser) rawUntil(stops ...string) string {
	start, depth := p.peek().Span, 0
	for at := p.at; ; {
		t := p.peek()
		switch {
		case t.kind == tokenEOF, t.kind == tokenGo, t.is(";"):
			p.failExpected(stops...)
		case depth == 0 && p.at > at && slices.ContainsFunc(stops, t.is):
			return p.file.Slice(p.from(start))
		case depth == 0 && slices.ContainsFunc(stops, t.is):
			p.failExpected("a value")
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		}
		p.next()
	}
}

// rawParens reads a balanced pair of parentheses and returns the text between them.
// Inner pairs are part of the text.
func (p *parser) rawParens() string {
	p.expect("(")
	if p.accept(")") {
		return ""
	}
	text := p.rawUntil(")")
	p.expect(")")
	return text
}

// nullability reads NULL or NOT NULL, if one of them is next.
// Two words decide it, so that a NOT that begins something else is left alone.
func (p *parser) nullability() Nullability {
	switch {
	case p.accept("NULL"):
		return NullAllowed
	case p.accept("NOT", "NULL"):
		return NullRefused
	default:
		return NullUnsaid
	}
}
