package directive

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// A line is one line of a comment, without its decoration. The span is that of the text, so that a finding in a list
// points at its element and not at the whole comment.
type line struct {
	diag.Span
	text string
}

var (
	// banner is a line that only separates: "=====", "-----".
	banner = regexp.MustCompile(`^[-=*#_~+/\\]{3,}$`)
	// noise is what management tools put into headers and version control knows better.
	noise = regexp.MustCompile(`(?i)^(author|creator|created|create date|creation date|created (by|on)|date|modified|` +
		`modified (by|date|on)|last modified|version)\s*:`)
	// description titles the text that is the documentation itself.
	description = regexp.MustCompile(`(?i)^(description|summary|purpose)\s*:\s*`)
	// placeholder is a field of SSMS's template that nobody has filled in: "<Description,,>".
	placeholder = regexp.MustCompile(`^<[^<>]*,[^<>]*>$`)
	// section begins a section. Only these titles do, so that a sentence may end with a colon.
	section = regexp.MustCompile(`(?i)^(errors|results?|result sets?|called by|helper of|transaction|locks|lock order|hints|parameters|` +
		`arguments|returns|length|notes?|remarks|examples?|see also|permissions|history|change history|changes)\s*:\s*(.*)$`)
	// errorLine is one element of the section Errors.
	errorLine = regexp.MustCompile(`^[-*•]?\s*(\d+)\s+([A-Za-z_][A-Za-z0-9_]*)\s*(?::\s*(.*))?$`)
	// numbered is a line that was meant to be one: it begins with a number.
	numbered = regexp.MustCompile(`^[-*•]?\s*\d`)
)

// Doc returns the text of the comment block directly above a place, for people: without directives, without banner
// lines and without "Author:", "Create date:" and their like. "Description:" is dropped before its text.
func Doc(script *syntax.Script, at diag.Span) string {
	return join(prose(lines(script, above(script, at))))
}

// TrailingDoc returns the text of the comments behind the code of the line on which something ends, without directives.
func TrailingDoc(script *syntax.Script, at diag.Span) string {
	return join(prose(lines(script, beside(script, at.To))))
}

// HeaderOf reads the header comment of a procedure: the comment block directly above CREATE, or if there is nothing to
// read there, the comments between AS and the first statement. Its documentation ends where the first section begins.
func HeaderOf(script *syntax.Script, proc *syntax.CreateProcedure) (Header, diag.List) {
	outer, inner := headerBlocks(script, proc)
	all := lines(script, outer)
	// One of the two: put together, text about the first statement would continue a list of errors.
	if join(prose(all)) == "" {
		all = lines(script, inner)
	}
	return headerOf(script, all)
}

// HeaderAbove reads the header comment of a function, a view or a trigger: the comment block directly above it.
func HeaderAbove(script *syntax.Script, at diag.Span) Header {
	header, _ := headerOf(script, lines(script, above(script, at)))
	return header
}

// headerOf reads the lines of a header: its documentation, and then its sections.
func headerOf(script *syntax.Script, all []line) (Header, diag.List) {
	header := Header{Text: join(all)}
	rest := prose(all)
	first := slices.IndexFunc(rest, func(l line) bool { return section.MatchString(l.text) })
	if first < 0 {
		header.Doc = join(rest)
		return header, nil
	}
	header.Doc = join(rest[:first])
	var found diag.List
	header.sections(script.File, rest[first:], &found)
	return header, found
}

// sections reads the sections of a header, the first of which begins with the first line.
func (h *Header) sections(file *diag.File, rest []line, found *diag.List) {
	errors := errorList{header: h, file: file, found: found}
	inside := false
	for _, l := range rest {
		if m := section.FindStringSubmatch(l.text); m != nil {
			title := strings.ToLower(m[1])
			h.Sections = append(h.Sections, Section{Span: l.Span, Title: title})
			inside = title == "errors"
			// Text behind the title is the section's first line.
			l.text, l.From = m[2], l.To-diag.Pos(len(m[2]))
		}
		last := &h.Sections[len(h.Sections)-1]
		last.Text = strings.TrimSpace(last.Text + " " + l.text)
		if inside {
			errors.read(l)
		}
	}
}

// errorList reads the section Errors, one line at a time:
//
//	Errors:
//	  50010 lock_lost: the lock has expired,
//	        or another worker holds it.
//	  50011 queue_full: try again later.
type errorList struct {
	header *Header
	file   *diag.File
	found  *diag.List
	open   bool // the next line may be more text of the last element
	begun  bool // there has been an element or "none"
}

// read reads one line: "50010 lock_lost: text", or more text of the element before, or "none" for the whole list. A
// blank line ends an element; text after it is for people.
func (e *errorList) read(l line) {
	const fix = "write each error as: 50010 lock_lost: what it means"
	m := errorLine.FindStringSubmatch(l.text)
	switch {
	case m != nil:
		e.add(l, m)
	case numbered.MatchString(l.text):
		e.found.Add(e.file, l.Span, ruleDirective, fix, "this error can't be read: a number and a name are expected")
		e.open, e.begun = false, true
	case l.text == "":
		e.open = false
	case strings.EqualFold(strings.TrimSuffix(l.text, "."), "none"):
		e.begun = true
	case e.open:
		last := &e.header.Errors[len(e.header.Errors)-1]
		last.Text = strings.TrimSpace(last.Text + " " + l.text)
	case !e.begun:
		e.found.Add(e.file, l.Span, ruleDirective, fix, "the list of errors begins without a number")
		e.begun = true
	}
}

// add adds an element; m are the groups of the pattern errorLine.
func (e *errorList) add(l line, m []string) {
	e.open, e.begun = false, true
	number, err := strconv.ParseInt(m[1], 10, 32)
	switch {
	case err != nil || number < 1:
		e.found.Add(e.file, l.Span, ruleDirective, "numbers for THROW are from 50000 to 2147483647",
			"%s is not an error number", m[1])
	case slices.ContainsFunc(e.header.Errors, func(o ErrorName) bool { return int64(o.Number) == number }):
		e.found.Add(e.file, l.Span, ruleDirective, "list each number once", "error %d is listed twice", number)
	default:
		e.open = true
		e.header.Errors = append(e.header.Errors, ErrorName{Span: l.Span, Number: int32(number), Name: m[2], Text: m[3]})
	}
}

// lines takes comments apart into lines. Directives are left out, and so is the column of stars of a block comment.
// Line comments and block comments read the same afterwards:
//
//	-- Ships an order.        /* Ships an order.
//	--                         *
//	-- Locks: orders.          * Locks: orders. */
func lines(script *syntax.Script, comments []syntax.Comment) []line {
	var all []line
	for _, c := range comments {
		if isDirective(script, c) {
			continue
		}
		from := c.From + 2
		for text := range strings.Lines(c.Text) {
			to := from + diag.Pos(len(text))
			l := trim(line{Span: diag.Span{From: from, To: to}, text: text})
			// A star with a blank behind it is decoration; "*bold*" is text.
			if !c.Line && (l.text == "*" || strings.HasPrefix(l.text, "* ")) {
				l = trim(line{Span: diag.Span{From: l.From + 1, To: l.To}, text: l.text[1:]})
			}
			all = append(all, l)
			from = to
		}
		if c.Text == "" { // an empty comment line separates paragraphs
			all = append(all, line{Span: diag.Span{From: from, To: from}})
		}
	}
	return all
}

// trim drops the blanks around a line.
func trim(l line) line {
	left := strings.TrimLeft(l.text, blanks)
	l.From += diag.Pos(len(l.text) - len(left))
	l.text = strings.TrimRight(left, blanks)
	l.To = l.From + diag.Pos(len(l.text))
	return l
}

// prose leaves out what is not for readers. A banner becomes a blank line, because it separates; a field of a template,
// such as "Author: x", disappears without a gap.
func prose(all []line) []line {
	var kept []line
	for _, l := range all {
		if title := description.FindString(l.text); title != "" {
			l.From += diag.Pos(len(title))
			l.text = l.text[len(title):]
		}
		switch {
		case banner.MatchString(l.text):
			l.text = ""
		case noise.MatchString(l.text), placeholder.MatchString(l.text):
			continue
		}
		kept = append(kept, l)
	}
	return kept
}

// join puts lines together, without blank ones around them and with one blank line between paragraphs.
func join(all []line) string {
	var out []string
	for _, l := range all {
		if l.text == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, l.text)
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}
