package store

// EscalateAt makes locks escalate earlier, so that few rows are enough.
func (e *Engine) EscalateAt(keys int) { e.escalateAt = keys }
