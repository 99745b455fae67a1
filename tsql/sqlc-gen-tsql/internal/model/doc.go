package model

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/tsql/internal/analyze"
)

// docWidth is how long a line of a comment may be.
const docWidth = 110

// doc writes the comment of a method from the one in the script, otherwise being what stands for a comment that isn't
// there. What follows it is for the caller: how the method ends, and which errors to expect.
func (b *builder) doc(m *Method, text, otherwise string, numbers []int32) []string {
	lines := first(m.Name, m.SQLName, strings.TrimSpace(text))
	if text == "" {
		lines = []string{m.Name + " " + otherwise + "."}
	}
	if m.Stream >= 0 && m.Result != nil {
		lines = append(lines, "", "What else it returns is in result: complete when all rows have been read without an error,",
			"and incomplete if the loop is left before. It may be nil.")
	}
	if m.Stream >= 0 {
		lines = append(lines, "", "In a transaction, another call waits until the loop has ended: one from within the loop, for ever.")
	}
	switch m.Command {
	case analyze.CommandOne:
		lines = append(lines, "", "Without a row the error is [sql.ErrNoRows], wrapped.")
	case analyze.CommandExecRows:
		lines = append(lines, "", "It returns how many rows were changed.")
	case analyze.CommandBatch:
		lines = append(lines, "", "It runs once for each element, as many as fit into a round trip at a time, and returns how many rows",
			"were changed. It stops at the first error, and what ran before stays done: for all or nothing, use",
			"[Queries.WithTx].")
	default:
	}
	var names []string
	for _, n := range numbers {
		if name := b.errors[n]; name != "" {
			names = append(names, "["+name+"]")
		}
	}
	if len(names) > 0 {
		lines = append(lines, "")
		lines = append(lines, wrap("Errors: "+strings.Join(names, ", ")+".")...)
	}
	return lines
}

// purpose says what the method of a query does when its script doesn't, behind the name of the method.
func purpose(q *analyze.Query) string {
	switch q.Command {
	case analyze.CommandOne:
		return "returns the row that its query finds"
	case analyze.CommandMany:
		return "returns the rows that its query finds"
	default:
		verb, _, _ := strings.Cut(strings.Join(strings.Fields(q.Text), " "), " ")
		if verb = strings.ToUpper(verb); verb == "WITH" { // common table expressions come before the verb
			return "runs its statement"
		}
		return "runs its " + verb + " statement"
	}
}

// first makes a text begin with the name of what it describes. "Returns an order." and "get_order returns an order."
// become "GetOrder returns an order."; in front of any other text stands the name with a colon.
func first(goName, sqlName, text string) []string {
	// The object's name may stand there with or without its schema, and in any case.
	word, rest, _ := strings.Cut(text, " ")
	next, _, _ := strings.Cut(rest, " ")
	bare := sqlName[strings.LastIndexByte(sqlName, '.')+1:]
	switch {
	case strings.EqualFold(word, goName), strings.EqualFold(word, bare), strings.EqualFold(word, sqlName):
		text = strings.TrimSpace(goName + " " + rest)
	case verb(strings.TrimRight(word, ".,:")) && !nounBefore[next]:
		text = strings.TrimSpace(goName + " " + strings.ToLower(word) + " " + rest)
	case text != "":
		text = goName + ": " + text
	}
	var lines []string
	over := "" // what did not fit on the line before
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		switch {
		case over == "":
		case continues(line):
			line = over + " " + line
		default:
			lines = append(lines, over)
		}
		wrapped := wrap(line)
		over = ""
		if n := len(wrapped); n > 1 && continues(wrapped[n-1]) {
			over = wrapped[n-1]
			wrapped = wrapped[:n-1]
		}
		lines = append(lines, wrapped...)
	}
	if over != "" {
		lines = append(lines, over)
	}
	return lines
}

// continues says whether a line goes on with the paragraph before it: it is neither blank nor indented nor an element
// of a list.
func continues(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	return line != "" && !strings.ContainsRune(" \t-*•0123456789", first)
}

// nounBefore are words in front of which stands a noun in the plural rather than a verb: "Lines of an order", "Names
// that are taken". Such a text loses nothing by standing behind a colon.
var nounBefore = wordSet("and are at by for from have in is of on or per that to were which who whose with without")

// verb guesses whether a capitalized word begins a sentence about what something does.
func verb(word string) bool {
	if len(word) < 3 || !strings.HasSuffix(word, "s") || strings.HasSuffix(word, "ss") || word == "This" {
		return false
	}
	for i, r := range word {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) != (i == 0) {
			return false
		}
	}
	return true
}

// wrap breaks a line that is too long, and indents what follows as the line is.
func wrap(line string) []string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	var lines []string
	for len(line) > docWidth {
		at := strings.LastIndexByte(line[:docWidth], ' ')
		if at <= len(indent) { // one long word
			break
		}
		lines = append(lines, line[:at])
		line = indent + strings.TrimLeft(line[at:], " ")
	}
	return append(lines, line)
}
