package syntax

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// A scope says which list of statements is being read, and so what ends it and what may stand in it.
type scope int

const (
	batchScope scope = iota // a batch: ends at GO; its first statement may be a module
	bodyScope               // the body of a module: ends with the batch
	blockScope              // BEGIN … END: ends at END
)

// several are statements that one text stands for: SET ANSI_NULLS, QUOTED_IDENTIFIER ON. It never gets into the tree.
type several struct {
	diag.Span
	stmts []Stmt
}

func (*several) stmt() {}

// simplest returns the one statement of a list of one, else the list.
func (s *several) simplest() Stmt {
	if len(s.stmts) == 1 {
		return s.stmts[0]
	}
	return s
}

// batch reads statements up to a GO or the end of the file.
// An empty batch is one too; script leaves it out of the tree.
func (p *parser) batch() *Batch {
	start := p.peek().Span
	b := &Batch{Module: p.moduleName(), Count: 1}
	before := len(p.found)
	p.passing = b.Module != nil && p.except(b.Module.Name)
	p.native = false
	b.Stmts = p.statements(batchScope)
	b.Span = p.from(start)
	if p.passing {
		b.Torn = len(p.found) > before
		p.found = p.found[:before]
		p.passLexical(b)
	}
	if t := p.peek(); t.kind == tokenGo && t.value != "" {
		b.Count = p.goCount(t)
	}
	return b
}

// passLexical passes over what the lexer found in a batch, as long as it reaches no further: a text without end does,
// and so does the last finding of a lexer that has given the file up.
func (p *parser) passLexical(b *Batch) {
	if len(p.lexical) >= maxLexErrors {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(p.lexical), func(d diag.Diagnostic) bool {
		return b.From <= d.Span.From && d.Span.From < b.To && !strings.HasSuffix(d.Message, noEnd)
	})
	b.Torn = b.Torn || len(kept) < len(p.lexical)
	p.lexical = kept
}

// goCount returns how often a batch is to be executed.
func (p *parser) goCount(t token) int {
	n, err := strconv.Atoi(t.value)
	if err != nil {
		p.report(t.Span, "", "GO %s: the count is too large", t.value)
		return 1
	}
	return n
}

// statements reads statements up to the end of their scope. A statement that can't be read is left out.
// Statements need nothing between them in T-SQL: a new one begins where a word begins one that can't continue the last.
func (p *parser) statements(in scope) []Stmt {
	var stmts []Stmt
	lost := false // a statement could not be read
	for first := true; ; first = false {
		for p.accept(";") {
			continue // an empty statement
		}
		t := p.peek()
		switch {
		case t.kind == tokenEOF, t.kind == tokenGo:
			return stmts
		case in == blockScope && t.is("END") && !p.peekN(1).is("CONVERSATION"):
			return stmts
		case in == bodyScope && !first && p.moduleNext() != "":
			return stmts // the batch's list reports it and reads on
		case lost && t.is("ELSE"):
			p.next() // of an IF that could not be read
			continue
		}
		at := p.at
		switch s := p.attempt(in, first).(type) {
		case nil:
			lost = true
		case *several:
			stmts = append(stmts, s.stmts...)
		default:
			stmts = append(stmts, s)
		}
		if p.at == at {
			p.next() // whatever was wrong, the same token is not tried twice
		}
	}
}

// attempt reads one statement, or returns nil when it can't.
// first says that it is the first of its list, before which no semicolon can be missing.
func (p *parser) attempt(in scope, first bool) Stmt {
	var s Stmt // stays nil when recoverStmt catches a fail
	func() {
		defer p.recoverStmt(p.depth, p.at, in)
		p.checkSeparator(first)
		p.checkModule(in, first)
		s = p.statement()
	}()
	return s
}

// checkSeparator demands the semicolon that T-SQL wants before WITH and THROW; elsewhere none is needed.
// Without it, WITH is taken for the hints of what precedes it, and THROW for an alias or a transaction's name:
// SELECT 1 THROW
// returns a column THROW and throws nothing.
func (p *parser) checkSeparator(first bool) {
	t := p.peek()
	if first || !t.isAny("WITH", "THROW") || p.tokens[p.at-1].isAny(";", "END", ":", "ELSE") {
		return
	}
	p.report(t.Span, "end the statement before it with a semicolon",
		"%s must be separated from the statement before it", t.upper)
}

// checkModule demands that a definition that owns the rest of its batch is the first statement of it.
//
//	CREATE TABLE t (a int)
//	CREATE VIEW v AS SELECT a FROM t   -- needs a GO before it
//
// CREATE SCHEMA is among them, since a server takes the definitions after it for elements of the schema.
func (p *parser) checkModule(in scope, first bool) {
	kind := p.moduleNext()
	switch {
	case kind == "" || in == batchScope && first:
	case in == batchScope && len(p.found) > 0 && p.found[len(p.found)-1].Span == p.peek().Span:
		// The statement around it has reported it.
	case in == batchScope:
		// It is read nevertheless: a forgotten GO is one error, not as many as the module has lines.
		p.report(p.peek().Span, "put GO before it", "%s must be the first statement of its batch", kind)
	default:
		p.fail(p.peek().Span, "put GO before it", "%s can't stand within other statements", kind)
	}
}

// moduleNext returns which definition of a module comes next, as "CREATE VIEW", or "" when none does.
func (p *parser) moduleNext() string {
	verb, n := p.peek(), 1
	switch {
	case verb.is("CREATE") && p.peekN(1).is("OR") && p.peekN(2).is("ALTER"):
		n = 3
	case !verb.isAny("CREATE", "ALTER"):
		return ""
	}
	kind := p.peekN(n)
	switch {
	case kind.isAny("PROCEDURE", "PROC", "FUNCTION", "VIEW", "TRIGGER"):
		return verb.upper + " " + longKind(kind.upper)
	case kind.is("SCHEMA") && verb.is("CREATE"):
		return "CREATE SCHEMA"
	default:
		return ""
	}
}

// moduleName returns what the batch that begins here defines, without consuming anything; nil if that is no module or
// its name can't be read.
func (p *parser) moduleName() *ModuleName {
	kind := p.moduleNext()
	if kind == "" || kind == "CREATE SCHEMA" {
		return nil
	}
	n := 2
	if p.peekN(1).is("OR") {
		n = 4
	}
	first := p.peekN(n)
	if !first.isName() {
		return nil
	}
	name := &ObjectName{Parts: []Ident{first.asIdent()}}
	for p.peekN(n+1).is(".") && p.peekN(n+2).isName() {
		n += 2
		name.Parts = append(name.Parts, p.peekN(n).asIdent())
	}
	name.Span = first.Span.Until(p.peekN(n).Span)
	_, kind, _ = strings.Cut(kind, " ")
	return &ModuleName{Kind: kind, Name: name}
}

// longKind writes PROC out.
func longKind(kind string) string {
	if kind == "PROC" {
		return "PROCEDURE"
	}
	return kind
}

// recoverStmt is deferred around each statement: it turns a fail into a jump to where the next statement may begin.
// depth and start are those at the statement's beginning.
// Other panics are faults of this package and go on.
func (p *parser) recoverStmt(depth, start int, in scope) {
	r := recover()
	if r == nil {
		return
	}
	if _, ok := r.(syntaxError); !ok {
		panic(r)
	}
	p.depth = depth
	// Errors in the body of a module are caught there, so one that arrives here stands in the header.
	stop := max(p.at, start)
	p.at = start
	header := in == batchScope && p.moduleNext() != ""
	p.at = stop
	switch {
	case p.passing:
		p.skipBatch()
	case len(p.found) >= maxFindings:
		p.at = len(p.tokens) - 1
	case header:
		p.skipBatch()
	default:
		p.resync(start, in)
	}
}

// skipBatch skips to the end of the batch, which a module whose header can't be read owns.
func (p *parser) skipBatch() {
	for t := p.peek(); t.kind != tokenEOF && t.kind != tokenGo; t = p.peek() {
		p.next()
	}
}

// resync skips to where the next statement may begin after the one whose first token is start: past a semicolon or an
// ELSE, or up to the end of the batch, the END of the surrounding block if there is one, a BEGIN, or a word that
// begins a line and a
// statement. The CASEs of the statement are counted, so that their ELSE and END are not taken for others.
// Too early is worse than too late: a part of the lost statement that is read as a statement yields errors that
// aren't there.
func (p *parser) resync(start int, in scope) {
	cases := 0
	count := func(t token) {
		if t.is("CASE") {
			cases++
		} else if t.is("END") {
			cases = max(0, cases-1)
		}
	}
	for _, t := range p.tokens[start:p.at] {
		count(t)
	}
	for ; ; p.next() {
		t := p.peek()
		switch {
		case t.kind == tokenEOF, t.kind == tokenGo:
			return
		case t.is(";"):
			p.next()
			if p.peek().is("ELSE") {
				p.next()
			}
			return
		case t.is("ELSE") && cases == 0:
			p.next()
			return
		case p.at > start && (t.is("END") && cases == 0 && in == blockScope || t.is("BEGIN") || p.beginsLine(t, start)):
			return
		}
		count(t)
	}
}

// beginsLine reports whether a token is the first in its line and a statement begins with it. Of words that also stand
// within statements that is only believed if they stand no further to the right than the statement that failed, and if
// it doesn't have such a part.
// That indentation counts is a guess about how people write, made only after an error.
func (p *parser) beginsLine(t token, start int) bool {
	if !t.line || t.kind != tokenWord {
		return false
	}
	if slices.Contains(statementWords, t.upper) {
		return true
	}
	// WITH and MERGE have clauses of statements; definitions have options and events that are spelt like statements.
	failed := p.tokens[start]
	if !isStatementStart(t) || failed.isAny("WITH", "MERGE", "CREATE", "ALTER", "GRANT", "DENY", "REVOKE") {
		return false
	}
	switch t.upper {
	case "SELECT", "EXEC", "EXECUTE":
		// The source of an INSERT, the query of a cursor, or an operand of UNION.
		if failed.isAny("INSERT", "DECLARE") || p.tokens[p.at-1].isAny("UNION", "ALL", "EXCEPT", "INTERSECT", "(") {
			return false
		}
	case "SET":
		if failed.is("UPDATE") {
			return false
		}
	}
	return p.indent(t) <= p.indent(failed)
}

// indent returns how far from the beginning of its line a token stands.
// Tabs count as one, like all else: what is compared are lines of one author.
func (p *parser) indent(t token) int {
	text := p.file.Text[:t.From]
	return len(text) - 1 - strings.LastIndexByte(text, '\n')
}

// statement reads one statement. What stands next is not a semicolon.
// A name in brackets begins none, but a label may be one, and the message about it is better from unknownStatement.
func (p *parser) statement() Stmt {
	p.enter()
	defer p.leave()
	t := p.peek()
	p.refuseBroker(t)
	switch {
	case t.isName() && p.peekN(1).is(":"):
		return p.label()
	case t.is("("):
		q := p.query()
		return &SelectStmt{Span: q.Span, Query: q}
	case t.kind == tokenVariable && isAssignment(p.peekN(1)):
		p.fail(t.Span, "write SET before it", "expected a statement, found %s", t.describe())
	case t.kind != tokenWord && t.kind != tokenQuoted:
		p.fail(t.Span, "", "expected a statement, found %s", t.describe())
	}
	// Each family returns nil for words that begin none of its statements.
	s := p.dataStatement(t)
	if s == nil {
		s = p.controlStatement(t)
	}
	if s == nil {
		s = p.variableStatement(t)
	}
	if s == nil {
		s = p.definition(t)
	}
	if s == nil {
		p.unknownStatement(t)
	}
	return s
}

// single reads the one statement that IF, ELSE and WHILE govern.
// A definition can't stand there, and a list (SET a, b ON) becomes a block, so that the tree has one statement.
func (p *parser) single() Stmt {
	p.checkModule(bodyScope, false)
	if t := p.peek(); t.isAny("END", "ELSE") {
		p.failExpected("a statement")
	}
	s := p.statement()
	if list, ok := s.(*several); ok {
		return &Block{Span: list.Span, Stmts: list.stmts}
	}
	return s
}

// brokerStatements are how the statements of Service Broker begin, whose messages are rows that no script describes.
var brokerStatements = splitAll(
	"RECEIVE", "SEND ON", "BEGIN DIALOG", "BEGIN CONVERSATION", "END CONVERSATION", "MOVE CONVERSATION", "GET CONVERSATION",
)

// refuseBroker reports the statements of Service Broker. Without it, their first words would be taken for misspelt ones
// or for blocks.
func (p *parser) refuseBroker(t token) {
	if t.kind != tokenWord || p.peekN(1).is(":") {
		return // a label
	}
	for _, words := range brokerStatements {
		at := 0
		for at < len(words) && p.peekN(at).is(words[at]) {
			at++
		}
		if at == len(words) {
			p.fail(t.Span, "exclude the procedure", "Service Broker (%s) isn't supported", strings.Join(words, " "))
		}
	}
}

// foreignWords are words of other dialects with what to write instead.
var foreignWords = map[string]string{
	"CALL":      "write EXEC",
	"LIMIT":     "write SELECT TOP (n), or OFFSET … FETCH after ORDER BY",
	"NATURAL":   "write JOIN … ON",
	"REPLACE":   "write MERGE, or an UPDATE and an INSERT",
	"RETURNING": "write OUTPUT before WHERE or VALUES",
	"THEN":      "leave it out: IF is followed by the statement itself",
	"UPSERT":    "write MERGE, or an UPDATE and an INSERT",
}

// unknownStatement reports a word that begins no statement.
// Other words get the nearest one that begins a statement, since a misspelt keyword is the usual cause.
func (p *parser) unknownStatement(t token) {
	switch {
	case t.kind == tokenWord && foreignWords[t.upper] != "":
		p.fail(t.Span, foreignWords[t.upper], "%s isn't T-SQL here", t.upper)
	case t.is("END"):
		p.fail(t.Span, "remove it, or write the BEGIN that it ends", "END without a BEGIN")
	case t.is("ELSE"):
		p.fail(t.Span, "IF governs one statement: put several between BEGIN and END", "ELSE without an IF")
	case t.kind == tokenWord && isReserved(t.upper):
		p.fail(t.Span, "", "expected a statement, found %s", t.describe())
	}
	// A server would call a procedure of that name if the word were the first of its batch.
	n := 0
	for p.peekN(n+1).is(".") && p.peekN(n+2).isName() {
		n += 2
	}
	name := clip(p.file.Slice(t.Span.Until(p.peekN(n).Span)))
	fix := "write EXEC " + name + " to call a procedure"
	if word := diag.Nearest(t.upper, slices.Collect(maps.Keys(statementStarts))); word != "" && t.kind == tokenWord && n == 0 {
		fix = "write " + word + "; or EXEC " + name + " to call a procedure"
	}
	p.fail(t.Span, fix, "unknown statement %q", clip(t.value))
}

// endsStatement reports whether nothing that could belong to the present statement comes next, so that an operand that
// may be left out is left out.
// WITH is among the ends: behind an operand it begins either options, which the caller looks for, or the next
// statement.
func (p *parser) endsStatement() bool {
	t := p.peek()
	switch t.kind {
	case tokenEOF, tokenGo:
		return true
	case tokenWord, tokenQuoted, tokenPunct:
		return t.isAny(";", ")", "END", "ELSE", "WITH") || isStatementStart(t) || t.isName() && p.peekN(1).is(":")
	default:
		return false
	}
}

// other reads a statement of which only the leading words matter, as many as are given, and skips to its end.
// They are kept at all so that every token of a script is in a statement, and stages that matter can refuse them.
func (p *parser) other(words int) Stmt {
	start := p.peek()
	leading := make([]string, 0, words)
	for range words {
		leading = append(leading, p.next().upper)
	}
	return p.withDetail(start, strings.Join(leading, " "), false)
}

// skipRest skips the rest of a statement that isn't looked into: up to a semicolon, the end of the batch or of the
// block, or a word that begins both a line and a statement. What follows WITH belongs to it, as in ALTER DATABASE d
// SET …
// WITH ROLLBACK IMMEDIATE, and so does the first SET if the statement has one.
// set says that it has one.
func (p *parser) skipRest(set bool) {
	for depth := 0; ; p.next() {
		t := p.peek()
		switch {
		case t.kind == tokenEOF, t.kind == tokenGo, t.is(";"):
			if depth > 0 {
				p.failExpected(")")
			}
			return
		case t.is("SET") && set:
			set = false
		case depth == 0 && (t.isAny("END", "ELSE") || t.line && isStatementStart(t) && !p.tokens[p.at-1].is("WITH")):
			return
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth < 0 {
				p.fail(t.Span, "", "found a ) without its (")
			}
		}
	}
}

// expectEnd demands that the batch ends here, as it must after what can't be followed by another statement.
func (p *parser) expectEnd(after string) {
	for p.accept(";") {
		continue
	}
	t := p.peek()
	if t.kind == tokenEOF || t.kind == tokenGo {
		return
	}
	p.report(t.Span, "put GO before it", "expected the end of the batch after %s, found %s", after, t.describe())
	p.skipBatch()
}
