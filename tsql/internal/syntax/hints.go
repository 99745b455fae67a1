package syntax

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// valueKind says what follows the words of an option.
type valueKind int

const (
	noValue     valueKind = iota
	plainValue            // a number: MAXDOP 1
	equalValue            // = and a number or a string: MAX_GRANT_PERCENT = 10
	parenValue            // text in parentheses: USE HINT ('…')
	optionParen           // text in parentheses, which may be missing: FORCESEEK
	indexValue            // INDEX (a, b), INDEX = a or INDEX a
)

// An optionSyntax is one phrase with what follows it.
type optionSyntax struct {
	words string
	value valueKind
}

// tableHintSyntax holds the table hints.
// None of the words is reserved but INDEX and HOLDLOCK, and their number is small and stable, so a misspelt one is
// told.
var tableHintSyntax = parsePhrases([]optionSyntax{
	{"FORCESCAN", noValue},
	{"FORCESEEK", optionParen},
	{"HOLDLOCK", noValue},
	{"IGNORE_CONSTRAINTS", noValue},
	{"IGNORE_TRIGGERS", noValue},
	{"INDEX", indexValue},
	{"KEEPDEFAULTS", noValue},
	{"KEEPIDENTITY", noValue},
	{"NOEXPAND", noValue},
	{"NOLOCK", noValue},
	{"NOWAIT", noValue},
	{"PAGLOCK", noValue},
	{"READCOMMITTED", noValue},
	{"READCOMMITTEDLOCK", noValue},
	{"READPAST", noValue},
	{"READUNCOMMITTED", noValue},
	{"REPEATABLEREAD", noValue},
	{"ROWLOCK", noValue},
	{"SERIALIZABLE", noValue},
	{"SNAPSHOT", noValue},
	{"SPATIAL_WINDOW_MAX_CELLS", equalValue},
	{"TABLOCK", noValue},
	{"TABLOCKX", noValue},
	{"UPDLOCK", noValue},
	{"XLOCK", noValue},
})

// queryHintSyntax holds what may stand in OPTION (…); a phrase stands before those it begins with.
var queryHintSyntax = parsePhrases([]optionSyntax{
	{"HASH GROUP", noValue},
	{"ORDER GROUP", noValue},
	{"CONCAT UNION", noValue},
	{"HASH UNION", noValue},
	{"MERGE UNION", noValue},
	{"LOOP JOIN", noValue},
	{"MERGE JOIN", noValue},
	{"HASH JOIN", noValue},
	{"DISABLE_OPTIMIZED_PLAN_FORCING", noValue},
	{"EXPAND VIEWS", noValue},
	{"FAST", plainValue},
	{"FORCE ORDER", noValue},
	{"IGNORE_NONCLUSTERED_COLUMNSTORE_INDEX", noValue},
	{"KEEP PLAN", noValue},
	{"KEEPFIXED PLAN", noValue},
	{"LABEL", equalValue},
	{"MAX_GRANT_PERCENT", equalValue},
	{"MIN_GRANT_PERCENT", equalValue},
	{"MAXDOP", plainValue},
	{"MAXRECURSION", plainValue},
	{"NO_PERFORMANCE_SPOOL", noValue},
	{"OPTIMIZE FOR UNKNOWN", noValue},
	{"OPTIMIZE FOR", parenValue},
	{"PARAMETERIZATION SIMPLE", noValue},
	{"PARAMETERIZATION FORCED", noValue},
	{"QUERYTRACEON", plainValue},
	{"RECOMPILE", noValue},
	{"ROBUST PLAN", noValue},
	{"TABLE HINT", parenValue},
	{"USE HINT", parenValue},
	{"USE PLAN", plainValue},
})

// forJSONSyntax and forXMLSyntax hold what may stand after FOR JSON and FOR XML.
var (
	forJSONSyntax = parsePhrases([]optionSyntax{
		{"AUTO", noValue},
		{"PATH", noValue},
		{"ROOT", optionParen},
		{"INCLUDE_NULL_VALUES", noValue},
		{"WITHOUT_ARRAY_WRAPPER", noValue},
	})
	forXMLSyntax = parsePhrases([]optionSyntax{
		{"AUTO", noValue},
		{"RAW", optionParen},
		{"PATH", optionParen},
		{"EXPLICIT", noValue},
		{"ROOT", optionParen},
		{"TYPE", noValue},
		{"ELEMENTS XSINIL", noValue},
		{"ELEMENTS ABSENT", noValue},
		{"ELEMENTS", noValue},
		{"BINARY BASE64", noValue},
		{"XMLDATA", noValue},
		{"XMLSCHEMA", optionParen},
	})
)

// A phrase is an optionSyntax with its words told apart.
// what is the kind of option, for the message.
type phrase struct {
	words []string
	value valueKind
}

// parsePhrases prepares a table when the program starts.
func parsePhrases(list []optionSyntax) []phrase {
	phrases := make([]phrase, 0, len(list))
	for _, o := range list {
		phrases = append(phrases, phrase{words: strings.Fields(o.words), value: o.value})
	}
	return phrases
}

// tableHints reads WITH (hint, …).
func (p *parser) tableHints() []Option {
	p.expect("WITH")
	return p.hintList()
}

// hintList reads (hint, …). Commas between hints may be missing, an old habit that servers still accept.
//
//	(UPDLOCK, READPAST, INDEX (ix_orders))
func (p *parser) hintList() []Option {
	p.expect("(")
	list := []Option{p.phrase(tableHintSyntax, "a table hint")}
	for !p.peek().is(")") {
		p.accept(",")
		list = append(list, p.phrase(tableHintSyntax, "a table hint"))
	}
	p.expect(")")
	return list
}

// oldHints reports whether hints without WITH are next: parentheses that begin with a hint.
//
//	FROM dbo.orders (NOLOCK)    a hint
//	FROM dbo.orders (5)         a function
//
// A function whose first argument is a column with the name of a hint, f(nowait), is misread.
func (p *parser) oldHints() bool {
	if !p.peek().is("(") || p.peekN(1).kind != tokenWord || !p.peekN(2).isAny(")", ",", "(", "=") {
		return false
	}
	word := p.peekN(1).upper
	return slices.ContainsFunc(tableHintSyntax, func(f phrase) bool { return f.words[0] == word })
}

// queryOptions reads OPTION (hint, …).
//
//	OPTION (RECOMPILE, MAXDOP 1, OPTIMIZE FOR (@id = 5))
func (p *parser) queryOptions() []Option {
	p.expect("OPTION", "(")
	list := []Option{p.phrase(queryHintSyntax, "a query hint")}
	for p.accept(",") {
		list = append(list, p.phrase(queryHintSyntax, "a query hint"))
	}
	p.expectClose("OPTION (")
	return list
}

// forClause reads FOR JSON …, FOR XML … or FOR BROWSE.
//
//	FOR JSON PATH, ROOT('orders'), INCLUDE_NULL_VALUES
//	FOR XML RAW('row'), ELEMENTS XSINIL
func (p *parser) forClause() *ForClause {
	start := p.peek().Span
	p.expect("FOR")
	f := &ForClause{Kind: p.next().upper}
	var known []phrase
	switch f.Kind {
	case "JSON":
		known = forJSONSyntax
	case "XML":
		known = forXMLSyntax
	default:
		f.Span = p.from(start)
		return f
	}
	for {
		f.Options = append(f.Options, p.phrase(known, "an option of FOR "+f.Kind))
		if !p.accept(",") {
			break
		}
	}
	f.Span = p.from(start)
	return f
}

// phrase reads one of the known options.
func (p *parser) phrase(known []phrase, what string) Option {
	start := p.peek()
	// The lists are short, and options rare; a map of first words would save nothing.
	for _, k := range known {
		if !p.accept(k.words...) {
			continue
		}
		o := Option{Name: strings.Join(k.words, " ")}
		o.Value = p.optionValue(k.value)
		o.Span = p.from(start.Span)
		return o
	}
	if start.kind == tokenWord {
		fix := ""
		if near := diag.Nearest(start.upper, firstWords(known)); near != "" {
			fix = "did you mean " + near + "?"
		}
		p.fail(start.Span, fix, "%s is not %s that is known", clip(start.value), what)
	}
	p.failExpected(what)
	return Option{}
}

// firstWords returns the word with which each option begins.
func firstWords(known []phrase) []string {
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = k.words[0]
	}
	return words
}

// optionValue reads what follows the words of an option and returns its text.
func (p *parser) optionValue(kind valueKind) string {
	switch kind {
	// The text is kept as it is written: no stage computes with it.
	case plainValue:
		return p.file.Slice(p.constant())
	case equalValue:
		p.expect("=")
		return p.file.Slice(p.constant())
	case parenValue:
		return p.rawParens()
	case optionParen:
		if p.peek().is("(") {
			return p.rawParens()
		}
	case indexValue:
		p.accept("=")
		if p.peek().is("(") {
			return p.rawParens()
		}
		if t := p.peek(); t.kind == tokenInt {
			return p.next().value
		}
		return p.name("the name of an index").Value
	case noValue:
	}
	return ""
}

// constant reads a number or a string and returns where it stands.
// No sign and no variable may stand there.
func (p *parser) constant() diag.Span {
	t := p.peek()
	switch t.kind {
	case tokenInt, tokenDecimal, tokenString, tokenNString:
		return p.next().Span
	default:
		p.failExpected("a constant")
		return t.Span
	}
}

// tableSample reads TABLESAMPLE [SYSTEM] (n [PERCENT|ROWS]) [REPEATABLE (seed)].
// It is kept with the hints, since like them it changes which rows are read and no type.
func (p *parser) tableSample() Option {
	start := p.peek().Span
	p.expect("TABLESAMPLE")
	p.accept("SYSTEM")
	o := Option{Name: "TABLESAMPLE", Value: p.rawParens()}
	if p.accept("REPEATABLE") {
		o.Value += " REPEATABLE (" + p.rawParens() + ")"
	}
	o.Span = p.from(start)
	return o
}
