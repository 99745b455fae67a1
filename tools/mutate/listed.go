package main

import (
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// mutantFiles hold the mutants that somebody has thought of, by subject. A mutant is a section:
//
//	-- procedure: what is wrong with it --
//	kind; found by the finder that noticed it last
//	 WHERE q.id = @id
//	-  AND q.lock_token = @lock_token
//	+  AND q.locked_until > @now
//
// Lines with - are replaced by those with +, and the others tell which ones are meant. Only tokens count: blanks, line
// ends and comments of the procedure may be others.
//
//go:embed mutants/*.txtar
var mutantFiles embed.FS

// clock is how a procedure reads the time.
const clock = "DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())"

// listed are the mutants that somebody has thought of.
func listed() ([]mutant, error) {
	var all []mutant
	for _, subject := range []string{"turns", "work", "deletion"} {
		text, err := mutantFiles.ReadFile("mutants/" + subject + ".txtar")
		if err != nil {
			return nil, err
		}
		for _, section := range txtar.Parse(text).Files {
			m, err := parseMutant(section.Name, string(section.Data))
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", subject, section.Name, err)
			}
			all = append(all, m)
		}
	}
	for _, module := range []string{
		"abandon_orchestration_item", "abandon_work_item", "ack_orchestration_item", "append_with_execution", "claim_turn",
		"cleanup_orphaned_sessions", "delete_orphan_messages", "end_work", "enqueue_for_orchestrator", "enqueue_for_worker",
		"give_back", "get_queue_depths", "register_known_code", "renew_orchestration_item_lock", "requeue_work",
		"renew_session_lock", "renew_work_item_lock", "set_messages_aside", "set_work_aside", "start_instance",
	} {
		all = append(all, mutant{
			what: "reads the clock a second before", kind: clockEarlier, module: module,
			old: clock, new: clock + " - 1000",
		})
	}
	for i := range all {
		if why := survivors[all[i].module+": "+all[i].what]; why != "" {
			all[i].survives = why
		}
	}
	return all, nil
}

// parseMutant reads a section.
func parseMutant(name, text string) (mutant, error) {
	var m mutant
	var ok bool
	if m.module, m.what, ok = strings.Cut(name, ": "); !ok {
		return m, errors.New("its name is no procedure: what is wrong")
	}
	first, hunk, _ := strings.Cut(text, "\n")
	name, m.foundBy, _ = strings.Cut(first, "; found by ")
	if m.kind = kind(name); !slices.Contains(kinds, m.kind) {
		return m, fmt.Errorf("there is no kind %q", name)
	}
	known := func(f finder) bool { return f.name == m.foundBy }
	if m.foundBy != "" && !slices.ContainsFunc(finders, known) {
		return m, fmt.Errorf("there is no finder %q", m.foundBy)
	}
	var was, is strings.Builder
	for line := range strings.Lines(hunk) {
		sign, rest := line[0], line[1:]
		if sign != '+' {
			was.WriteString(rest)
		}
		if sign != '-' {
			is.WriteString(rest)
		}
		if !strings.ContainsRune(" +-", rune(sign)) {
			return m, fmt.Errorf("a line begins with %q", sign)
		}
	}
	m.old, m.new = was.String(), is.String()
	return m, nil
}

// lexeme is a comment, a string, a name in brackets, a word, or one other sign.
var lexeme = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|N?'(?:[^']|'')*'|\[[^\]]*\]|[@#$\w]+|\S`)

// A token is a lexeme with its place.
type token struct {
	text     string
	from, to int
}

// tokens are the lexemes of a text but for its comments.
func tokens(text string) (list []token) {
	for _, at := range lexeme.FindAllStringIndex(text, -1) {
		if t := text[at[0]:at[1]]; !strings.HasPrefix(t, "--") && !strings.HasPrefix(t, "/*") {
			list = append(list, token{t, at[0], at[1]})
		}
	}
	return list
}

func alike(a, b token) bool { return a.text == b.text }

// patch replaces, in a text, the tokens of before by those of after. What both begin and end with stays as it is, with
// the comments around it. Error: before does not occur once.
func patch(text, before, after string) (string, error) {
	all, was, is := tokens(text), tokens(before), tokens(after)
	at, n := 0, 0
	for i := range len(all) - len(was) + 1 {
		if slices.EqualFunc(all[i:i+len(was)], was, alike) {
			at, n = i, n+1
		}
	}
	if n != 1 {
		return "", fmt.Errorf("what it replaces occurs %d times", n)
	}
	begin, end := 0, 0
	for begin < min(len(was), len(is)) && alike(was[begin], is[begin]) {
		begin++
	}
	for end < min(len(was), len(is))-begin && alike(was[len(was)-1-end], is[len(is)-1-end]) {
		end++
	}
	var insert string
	if begin < len(is)-end {
		insert = "\n" + after[is[begin].from:is[len(is)-end-1].to] + "\n"
	}
	switch {
	case begin < len(was)-end:
		return text[:all[at+begin].from] + insert + text[all[at+len(was)-end-1].to:], nil
	case begin > 0: // what is inserted comes before the comments of what follows
		place := all[at+begin-1].to
		return text[:place] + insert + text[place:], nil
	default:
		return text[:all[at].from] + insert + text[all[at].from:], nil
	}
}
