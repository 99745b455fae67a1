package directive

import (
	"slices"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// Comments have no place in the tree of a script; what one speaks about is a matter of layout. A comment that shares
// its line with code before it speaks about that code, any other about what begins on the next line, or after it on its
// own.

// lineStart returns where the line of a place begins.
func lineStart(text string, at diag.Pos) diag.Pos {
	return diag.Pos(strings.LastIndexByte(text[:at], '\n') + 1)
}

// lineEnd returns where the line of a place ends.
func lineEnd(text string, at diag.Pos) diag.Pos {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + diag.Pos(n)
	}
	return diag.Pos(len(text))
}

// blank reports whether a text is nothing but white space.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// before returns how many comments of a script begin before a place. They are in the order of the text, so this is also
// the index of the first one after it.
func before(script *syntax.Script, at diag.Pos) int {
	n, _ := slices.BinarySearchFunc(script.Comments, at, func(c syntax.Comment, at diag.Pos) int {
		return int(c.From - at)
	})
	return n
}

// trailing reports whether code stands before a comment on its line. Other comments there are no code.
func trailing(script *syntax.Script, i int) bool {
	text := script.File.Text
	start := lineStart(text, script.Comments[i].From)
	for {
		// From right to left over the comments that stand on the line.
		from := script.Comments[i].From
		if from < start {
			return false // the line begins inside a comment
		}
		i--
		if i < 0 || script.Comments[i].To <= start {
			return !blank(text[start:from])
		}
		if !blank(text[script.Comments[i].To:from]) {
			return true
		}
	}
}

// above returns the comments that end directly above the line of a place, or on that line before it, and those directly
// above these. Neither a blank line nor code may stand between them. Comments behind code belong to that code.
func above(script *syntax.Script, at diag.Span) []syntax.Comment { return preceding(script, at, false) }

// preceding is above where blank lines don't separate comments from a place, if apart says so.
func preceding(script *syntax.Script, at diag.Span, apart bool) []syntax.Comment {
	text := script.File.Text
	i := before(script, at.From)
	// Code may stand before the place on its own line: "IF @x = 1 SELECT …".
	edge := lineStart(text, at.From)
	if i > 0 && script.Comments[i-1].To > edge {
		edge = script.Comments[i-1].To
	}
	// From bottom to top: edge is where the part that has been read begins.
	last := i
	for i > 0 {
		c := script.Comments[i-1]
		gap := ""
		if c.To <= edge {
			gap = text[c.To:edge]
		}
		if !blank(gap) || !apart && strings.Count(gap, "\n") > 1 || trailing(script, i-1) {
			break
		}
		i--
		edge = c.From
	}
	return slices.Clone(script.Comments[i:last])
}

// beside returns the comments behind code on the line of a place. The place is the beginning of a statement for
// directives and the end of a column for documentation; both look along one line.
func beside(script *syntax.Script, at diag.Pos) []syntax.Comment {
	text := script.File.Text
	from, to := lineStart(text, at), lineEnd(text, at)
	var found []syntax.Comment
	for i := before(script, from); i < len(script.Comments) && script.Comments[i].From < to; i++ {
		if trailing(script, i) {
			found = append(found, script.Comments[i])
		}
	}
	return found
}

// headerBlocks returns the comments directly above CREATE PROCEDURE, and those between AS and the first statement. Both
// are customs among those who write T-SQL.
func headerBlocks(script *syntax.Script, proc *syntax.CreateProcedure) (outer, inner []syntax.Comment) {
	end := proc.To
	if len(proc.Body) > 0 {
		end = proc.Body[0].Range().From
	}
	for i := before(script, proc.AsPos.To); i < len(script.Comments) && script.Comments[i].To <= end; i++ {
		inner = append(inner, script.Comments[i])
	}
	return above(script, proc.Span), inner
}
