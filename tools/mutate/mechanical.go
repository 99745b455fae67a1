package main

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

// sampled is how many of the mutants that are made mechanically are not in the sample for each one that is.
const sampled = 4

// mechanical are mutants made by rules, of which a sample is as good as all: nobody has picked them. Which are in the
// sample depends on what they change only, so that a change elsewhere leaves it as it is.
func mechanical(all texts, everything bool) []mutant {
	var made []mutant
	for _, path := range all.paths() {
		if !strings.HasPrefix(path, "procedures/") {
			continue
		}
		s := script{module: moduleOf(path), lines: apart(strings.Split(all[path], "\n"))}
		for _, m := range s.mutants() {
			h := fnv.New32a()
			fmt.Fprint(h, m.what)
			if everything || h.Sum32()%sampled == 0 || survivors[m.module+": "+m.what] != "" {
				m.survives = survivors[m.module+": "+m.what]
				made = append(made, m)
			}
		}
	}
	return made
}

// script is a procedure in lines: the house style has one condition, one hint list and one table to a line.
type script struct {
	module string
	lines  []string
	made   []mutant
	names  map[string]int
}

var (
	hintList   = regexp.MustCompile(`WITH \(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)`)
	oneHint    = regexp.MustCompile(`[A-Z]+(?: \(\w+(?: \([\w, ]+\))?\))?`)
	loopJoin   = regexp.MustCompile(`LOOP JOIN`)
	writeBegin = regexp.MustCompile(`^\s*(UPDATE|DELETE)\b`)
	plainWrite = regexp.MustCompile(`^\s*(UPDATE|DELETE FROM|DELETE TOP \(1000\) FROM) duroxide\.\w+`)
	condition  = regexp.MustCompile(`^(\s*)(WHERE|AND) (.*[^(;])(;?)$`)
	comparison = regexp.MustCompile(`\b(\w+_until|\w+_at|seen_at)\b.* (<=|>=|<|>) `)
)

// apart gives each condition of a WHERE a line of its own.
func apart(lines []string) (all []string) {
	for _, line := range lines {
		m := condition.FindStringSubmatch(line)
		if m == nil || strings.Contains(line, "BETWEEN") || strings.Contains(line, "CASE") {
			all = append(all, line)
			continue
		}
		depth, from := 0, 0
		for i, c := range line {
			switch {
			case c == '(':
				depth++
			case c == ')':
				depth--
			case depth == 0 && i > len(m[1])+1 && strings.HasPrefix(line[i:], " AND "):
				all = append(all, line[from:i])
				from = i + 1
			}
		}
		rest := line[from:]
		if from > 0 {
			rest = m[1] + "  " + rest
		}
		all = append(all, rest)
	}
	return all
}

// opposite reverses a comparison.
var opposite = map[string]string{"<=": ">", ">": "<=", "<": ">=", ">=": "<"}

// mutants are all that can be made of the procedure.
func (s *script) mutants() []mutant {
	s.names = map[string]int{}
	write := false
	for i, line := range s.lines {
		if strings.HasPrefix(strings.TrimSpace(line), "--") {
			continue
		}
		s.hints(i)
		if m := comparison.FindStringSubmatchIndex(line); m != nil {
			operator := line[m[4]:m[5]]
			s.change(comparedWrong, "compares the other way: "+strings.TrimSpace(line), i, i, line[:m[4]]+opposite[operator]+line[m[5]:])
		}
		if writeBegin.MatchString(line) {
			write = true
		}
		if write {
			s.write(i)
		}
		if strings.HasSuffix(line, ";") {
			write = false
		}
	}
	return s.made
}

// hints drops each hint of a line, and adds READPAST where it is not. READCOMMITTEDLOCK stays where it is not beside
// READPAST or UPDLOCK: a write locks its row whatever READ COMMITTED reads, and a look may be at the last version that
// was committed. With optimized locking a write does not wait for a row whose last version does not meet its condition.
// Then it has come before whoever is writing the row, as if it had been called earlier: a lease is lost or not there
// yet, and a claim tries again. Only an inbox that is being added is not to be missed. The list has that mutant, of
// lock_inbox; lock_inboxes looks once more.
func (s *script) hints(i int) {
	line := s.lines[i]
	for _, at := range hintList.FindAllStringSubmatchIndex(line, -1) {
		if strings.Contains(line[at[0]:at[1]], "DELAYED_DURABILITY") {
			continue // not hints, but how a transaction ends
		}
		list := oneHint.FindAllString(line[at[2]:at[3]], -1)
		for j, hint := range list {
			if hint == "READCOMMITTEDLOCK" && !strings.Contains(line[at[0]:at[1]], "READPAST") && !strings.Contains(line[at[0]:at[1]], "UPDLOCK") && strings.Contains(line[at[0]:at[1]], "ROWLOCK") {
				continue // see above
			}
			var rest []string
			rest = append(append(rest, list[:j]...), list[j+1:]...)
			with := "WITH (" + strings.Join(rest, ", ") + ")"
			text := line[:at[0]] + with + line[at[1]:]
			if len(rest) == 0 {
				text = strings.TrimRight(line[:at[0]], " ") + line[at[1]:]
			}
			k := hintRemoved
			if strings.HasPrefix(hint, "INDEX") || strings.HasPrefix(hint, "FORCESEEK") {
				k = indexHintRemoved
			}
			s.change(k, "without "+hint+": "+strings.TrimSpace(line), i, i, text)
		}
		if !strings.Contains(line[at[0]:at[1]], "READPAST") {
			s.change(readpastAdded, "with READPAST: "+strings.TrimSpace(line), i, i, line[:at[2]]+"READPAST, "+line[at[2]:])
		}
	}
	if at := loopJoin.FindStringIndex(line); at != nil {
		s.change(hintRemoved, "without LOOP: "+strings.TrimSpace(line), i, i, line[:at[0]]+"JOIN"+line[at[1]:])
	}
}

// write changes a line of an UPDATE or DELETE.
func (s *script) write(i int) {
	line := s.lines[i]
	if at := plainWrite.FindStringIndex(line); at != nil && !strings.Contains(line, "WITH (") {
		s.change(readpastAdded, "with READPAST: "+strings.TrimSpace(line), i, i,
			line[:at[1]]+" WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK)"+line[at[1]:])
	}
	m := condition.FindStringSubmatch(line)
	if m == nil || strings.Count(line, "(") != strings.Count(line, ")") || strings.HasSuffix(m[3], "lock_token IS NOT NULL") {
		return // the filter of an index, which the comparison of the token implies
	}
	what, next := "without its condition "+m[3], ""
	if i+1 < len(s.lines) {
		next = s.lines[i+1]
	}
	following := condition.FindStringSubmatch(next)
	switch {
	case m[4] == ";" && m[2] == "AND": // the last of several
		s.change(conditionRemoved, what, i-1, i, s.lines[i-1]+";")
	case m[4] == ";": // the only one
		s.change(conditionRemoved, what, i-1, i, s.lines[i-1]+";")
	case m[2] == "AND":
		s.change(conditionRemoved, what, i-1, i, s.lines[i-1])
	case len(following) > 2 && following[2] == "AND":
		s.change(conditionRemoved, what, i, i+1, m[1]+"WHERE "+following[3]+following[4])
	}
}

// change replaces the lines from first to last.
func (s *script) change(k kind, what string, first, last int, text string) {
	s.names[what]++
	if n := s.names[what]; n > 1 {
		what = fmt.Sprintf("%s (%d)", what, n)
	}
	lines := slices.Concat(s.lines[:first], []string{text}, s.lines[last+1:])
	s.made = append(s.made, mutant{what: what, kind: k, module: s.module, whole: strings.Join(lines, "\n")})
}
