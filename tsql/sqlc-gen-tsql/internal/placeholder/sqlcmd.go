package placeholder

import (
	"regexp"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// The lines that sqlcmd takes for itself and that change nothing in the scripts: those that set variables, and those
// that say where messages go and what happens after an error. The parser refuses the others: what they include, where
// they connect to and where they end decides which statements there are.
var (
	setvar  = regexp.MustCompile(`(?i)^:setvar[ \t]+([A-Za-z_][\w-]*)(?:[ \t]+(?:"((?:[^"\n]|"")*)"|([^\s"]+)))?[ \t\r]*$`)
	ignored = regexp.MustCompile(`(?i)^:(?:on[ \t]+error|error|out|perftrace|listvar|list|serverlist|help|xml)\b`)
)

// sqlcmd reads a line that sqlcmd takes for itself, and reports whether there is one here. Nothing stands in its place.
func (s *scanner) sqlcmd() bool {
	if s.text[s.at] != ':' || !s.startsLine() {
		return false
	}
	line := s.text[s.at:]
	line = line[:endOfLine(line)]
	if m := setvar.FindStringSubmatch(line); len(m) > 0 {
		s.filler.set(m[1], strings.ReplaceAll(m[2], `""`, `"`)+m[3], strings.Contains(line, `"`))
	} else if !ignored.MatchString(line) {
		return false
	}
	s.edits = append(s.edits, edit{Edit: diag.Edit{At: diag.Span{From: diag.Pos(s.at), To: diag.Pos(s.at + len(line))}}})
	s.at += len(line)
	return true
}

// set gives a variable its value. An empty one that isn't written in quotes takes the value away.
func (f *Filler) set(name, value string, quoted bool) {
	if value == "" && !quoted {
		delete(f.variables, fold(name))
		return
	}
	f.variables[fold(name)] = value
}

// startsLine reports whether only white space stands in front of the place in its line.
func (s *scanner) startsLine() bool {
	before := strings.TrimRight(s.text[:s.at], " \t\r")
	return before == "" || strings.HasSuffix(before, "\n")
}
