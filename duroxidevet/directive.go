package duroxidevet

import (
	"bytes"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// directive begins a comment that states what the analyser cannot see.
const directive = "//duroxide:deterministic"

// readDirectives finds what is stated to be deterministic.
func (c *checker) readDirectives() {
	c.trustedLines = map[line]bool{}
	for _, file := range c.Files {
		docs := map[*ast.CommentGroup]bool{}
		if c.states(file.Doc) {
			c.trustsPackage = true
		}
		docs[file.Doc] = true
		ast.Inspect(file, func(n ast.Node) bool {
			if doc := docOf(n); doc != nil {
				docs[doc] = true
				if c.states(doc) {
					c.trusted = append(c.trusted, span{n.Pos(), n.End()})
				}
			}
			return true
		})
		for _, group := range file.Comments {
			if !docs[group] {
				c.trustLines(group)
			}
		}
	}
}

func docOf(n ast.Node) *ast.CommentGroup {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Doc
	case *ast.GenDecl:
		return n.Doc
	case *ast.ValueSpec:
		return n.Doc
	}
	return nil
}

// states reports whether a comment has the directive with a reason, and reports one without.
func (c *checker) states(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	return slices.ContainsFunc(doc.List, c.reasoned)
}

// reasoned is states for one comment.
func (c *checker) reasoned(comment *ast.Comment) bool {
	reason, ok := strings.CutPrefix(comment.Text, directive)
	if !ok || reason != "" && reason[0] != ' ' && reason[0] != '\t' {
		return false
	}
	reason, _, _ = strings.Cut(reason, "// want") // of the analyser's own tests
	if strings.TrimSpace(reason) == "" {
		c.Report(analysis.Diagnostic{
			Pos: comment.Pos(), End: comment.End(), Category: "directive",
			Message: directive + " needs a reason behind it: what makes this code deterministic?",
		})
		return false
	}
	return true
}

// trustLines accepts the line of each directive, and the next one if nothing but the comment is on its line.
func (c *checker) trustLines(group *ast.CommentGroup) {
	for _, comment := range group.List {
		if !c.reasoned(comment) {
			continue
		}
		at := c.Fset.Position(comment.Pos())
		c.trustedLines[line{at.Filename, at.Line}] = true
		if c.alone(comment.Pos()) {
			c.trustedLines[line{at.Filename, at.Line + 1}] = true
		}
	}
}

// alone reports whether only blanks stand before a place on its line.
func (c *checker) alone(pos token.Pos) bool {
	at := c.Fset.Position(pos)
	source, err := c.ReadFile(at.Filename)
	if err != nil || at.Offset > len(source) {
		return false
	}
	before := source[:at.Offset]
	return len(bytes.TrimSpace(before[bytes.LastIndexByte(before, '\n')+1:])) == 0
}

// trusts reports whether the code at a place is stated to be deterministic.
func (c *checker) trusts(pos token.Pos) bool {
	at := c.Fset.Position(pos)
	if c.trustedLines[line{at.Filename, at.Line}] {
		return true
	}
	for _, s := range c.trusted {
		if s.holds(pos) {
			return true
		}
	}
	return false
}
