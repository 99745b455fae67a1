package catalog

import "github.com/duroxide/duroxide-go/tsql/internal/syntax"

// switchOff follows SET NOEXEC and SET PARSEONLY. Behind ON a script runs nothing until OFF. An installer says so under
// an IF that finds something missing, which is passed over: here, nothing is.
func (b *builder) switchOff(s *syntax.SetOption) {
	switch {
	case s.Name != "NOEXEC" && s.Name != "PARSEONLY":
	case s.Value == "OFF":
		b.off = nil
	case b.guard == nil:
		b.off = s
	}
}

// checkRuns reports a definition that a script doesn't run.
func (b *builder) checkRuns(s syntax.Stmt) {
	if b.off != nil && b.defines(s) {
		b.fail(b.off.Span, "remove it, or put it under the IF that is its reason",
			"SET %s ON keeps what follows from running, and so from being defined", b.off.Name)
		b.off = nil
	}
}
