package binder

import (
	"strconv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/execute"
	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// levels are the hints about isolation.
var levels = map[string]execute.Level{
	"NOLOCK": execute.AsReadUncommitted, "READUNCOMMITTED": execute.AsReadUncommitted, "READCOMMITTED": execute.AsReadCommitted,
	"READCOMMITTEDLOCK": execute.AsReadCommittedLock, "REPEATABLEREAD": execute.AsRepeatableRead,
	"SERIALIZABLE": execute.AsSerializable, "HOLDLOCK": execute.AsSerializable, "SNAPSHOT": execute.AsSnapshot,
}

// hints reads the table hints of one reference.
func (b *Binder) hints(list []syntax.Option) (execute.Hints, error) {
	var h execute.Hints
	for _, o := range list {
		if err := b.hint(&h, o); err != nil {
			return h, err
		}
	}
	dirty := h.Level == execute.AsReadUncommitted
	switch {
	case dirty && (h.Update || h.Exclusive || h.RowLock || h.PageLock || h.TableLock || h.TableExclusive || h.ReadPast),
		h.RowLock && (h.PageLock || h.TableLock || h.TableExclusive), h.PageLock && (h.TableLock || h.TableExclusive),
		h.ForceSeek && h.ForceScan:
		return h, fault.New(1047)
	case h.ReadPast && h.Level == execute.AsSerializable:
		return h, fault.New(650)
	}
	return h, nil
}

// writingHints reads the hints behind the name of a table that is changed. Those about the way to rows stand in FROM
// only, but for MERGE, whose target may have an index.
func (b *Binder) writingHints(ref *syntax.TableRef) (execute.Hints, error) {
	h, err := b.hints(ref.Hints)
	switch {
	case err != nil:
	case h.Level == execute.AsReadUncommitted:
		err = fault.New(1065)
	case h.Index != "" && !b.inMerge, h.ForceSeek, h.ForceScan:
		err = fault.New(1069)
	}
	return h, err
}

// hint adds a table hint to those before it.
func (b *Binder) hint(h *execute.Hints, o syntax.Option) error {
	if level, ok := levels[o.Name]; ok {
		if h.Level != execute.AsSession && h.Level != level {
			return fault.New(1047)
		}
		h.Level = level
		return nil
	}
	switch o.Name {
	case "READPAST":
		h.ReadPast = true
	case "NOWAIT":
		h.NoWait = true
	case "UPDLOCK":
		h.Update = true
	case "XLOCK":
		h.Exclusive = true
	case "ROWLOCK":
		h.RowLock = true
	case "PAGLOCK":
		h.PageLock = true
	case "TABLOCK":
		h.TableLock = true
	case "TABLOCKX":
		h.TableExclusive = true
	case "INDEX":
		if strings.Contains(o.Value, ",") {
			return b.Unsupported(o.Span, "several indexes in a hint")
		}
		h.Index = unquoted(o.Value)
	case "FORCESEEK":
		h.ForceSeek = true
		if index, columns, ok := strings.Cut(o.Value, "("); ok {
			h.Index = unquoted(index)
			var names []string
			for c := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(columns), ")"), ",") {
				names = append(names, unquoted(c))
			}
			h.SeekColumns = strings.Join(names, ",")
		}
	case "FORCESCAN":
		h.ForceScan = true
	case "IGNORE_TRIGGERS", "IGNORE_CONSTRAINTS", "KEEPIDENTITY", "KEEPDEFAULTS":
		return b.Unsupported(o.Span, "%s", o.Name)
	case "NOEXPAND":
	default:
		return b.Unsupported(o.Span, "%s", o.Name)
	}
	return nil
}

// inherit adds the hints of the view or common table expression around a reference.
func (b *Binder) inherit(h execute.Hints) (execute.Hints, error) {
	in := b.inherited
	switch {
	case in.Level == execute.AsSession:
	case h.Level == execute.AsSession:
		h.Level = in.Level
	case h.Level != in.Level:
		return h, fault.New(1047)
	}
	h.ReadPast, h.NoWait = h.ReadPast || in.ReadPast, h.NoWait || in.NoWait
	h.Update, h.Exclusive = h.Update || in.Update, h.Exclusive || in.Exclusive
	h.RowLock, h.PageLock, h.TableLock = h.RowLock || in.RowLock, h.PageLock || in.PageLock, h.TableLock || in.TableLock
	h.TableExclusive = h.TableExclusive || in.TableExclusive
	return h, nil
}

// unquoted is a name as it stands in a hint, which keeps the text that was written.
func unquoted(name string) string {
	name = strings.TrimSpace(name)
	if n := len(name); n > 1 && (name[0] == '[' && name[n-1] == ']') {
		return strings.ReplaceAll(name[1:n-1], "]]", "]")
	} else if n > 1 && name[0] == '"' && name[n-1] == '"' {
		return strings.ReplaceAll(name[1:n-1], `""`, `"`)
	}
	return name
}

// queryOptions are those of OPTION (…) that a plan depends on.
type queryOptions struct {
	Force     bool            // FORCE ORDER
	Joins     map[string]bool // LOOP, HASH, MERGE JOIN; nil allows all
	Steady    bool            // of a dynamic cursor: rows come in the order of indexes, or not at all
	recursion int             // MAXRECURSION, 0 for no limit
	limited   bool            // recursion was given
}

// option reads OPTION (…).
func (b *Binder) option(list []syntax.Option) error {
	for _, o := range list {
		switch o.Name {
		case "FORCE ORDER":
			b.Options.Force = true
		case "LOOP JOIN", "HASH JOIN", "MERGE JOIN":
			if b.Options.Joins == nil {
				b.Options.Joins = map[string]bool{}
			}
			b.Options.Joins[strings.TrimSuffix(o.Name, " JOIN")] = true
		case "MAXRECURSION":
			n, err := strconv.Atoi(o.Value)
			if err != nil || n > 32767 {
				return fault.New(310, o.Value)
			}
			b.Options.recursion, b.Options.limited = n, true
		case "TABLE HINT", "USE PLAN":
			return b.Unsupported(o.Span, "OPTION (%s)", o.Name)
		default:
			// The others concern how a plan is found or executed, and none is bound by them here.
		}
	}
	return nil
}
