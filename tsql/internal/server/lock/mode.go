package lock

import "strings"

// Mode is a mode of locking.
type Mode uint8

// The modes. RangeSU is RangeS-U: the first part is for the gap before a key, the second for the key itself.
const (
	NL Mode = iota
	SchS
	SchM
	S
	U
	X
	IS
	IU
	IX
	SIU
	SIX
	UIX
	BU
	RangeSS
	RangeSU
	RangeIN
	RangeIS
	RangeIU
	RangeIX
	RangeXS
	RangeXU
	RangeXX
	modes // how many there are
)

var names = [modes]string{
	"NL", "Sch-S", "Sch-M", "S", "U", "X", "IS", "IU", "IX", "SIU", "SIX", "UIX", "BU",
	"RangeS-S", "RangeS-U", "RangeI-N", "RangeI-S", "RangeI-U", "RangeI-X", "RangeX-S", "RangeX-U", "RangeX-X",
}

// String is the mode's name, as sys.dm_tran_locks has it.
func (m Mode) String() string { return names[m] }

// ParseMode returns the mode of a name, such as "IX" or "RangeS-U".
func ParseMode(name string) (Mode, bool) {
	for m, n := range names {
		if strings.EqualFold(n, name) {
			return Mode(m), true
		}
	}
	return NL, false
}

// IsRange reports whether the mode protects the gap before a key too.
func (m Mode) IsRange() bool { return m >= RangeSS }

// matrix is Microsoft's table of compatibility, a row for each mode: N no conflict, C conflict, I cannot meet (one is
// a mode of keys, the other one of objects). Rows and columns are in the order of the constants.
var matrix = [modes]string{
	NL:      "NNNNNNNNNNNNN NNNNNNNNN",
	SchS:    "NNCNNNNNNNNNN IIIIIIIII",
	SchM:    "NCCCCCCCCCCCC IIIIIIIII",
	S:       "NNCNNCNNCNCCC NNNNNCNNC",
	U:       "NNCNCCNCCCCCC NCNNCCNCC",
	X:       "NNCCCCCCCCCCC CCNCCCCCC",
	IS:      "NNCNNCNNNNNNC IIIIIIIII",
	IU:      "NNCNCCNNNNNCC IIIIIIIII",
	IX:      "NNCCCCNNNCCCC IIIIIIIII",
	SIU:     "NNCNCCNNCNCCC IIIIIIIII",
	SIX:     "NNCCCCNNCCCCC IIIIIIIII",
	UIX:     "NNCCCCNCCCCCC IIIIIIIII",
	BU:      "NNCCCCCCCCCCN IIIIIIIII",
	RangeSS: "NIINNCIIIIIII NNCCCCCCC",
	RangeSU: "NIINCCIIIIIII NCCCCCCCC",
	RangeIN: "NIINNNIIIIIII CCNNNNCCC",
	RangeIS: "NIINNCIIIIIII CCNNNCCCC",
	RangeIU: "NIINCCIIIIIII CCNNCCCCC",
	RangeIX: "NIICCCIIIIIII CCNCCCCCC",
	RangeXS: "NIINNCIIIIIII CCCCCCCCC",
	RangeXU: "NIINCCIIIIIII CCCCCCCCC",
	RangeXX: "NIICCCIIIIIII CCCCCCCCC",
}

// set is a set of modes.
type set uint32

func (m Mode) set() set { return 1 << m }

// conflicts has for each mode those that it conflicts with.
var conflicts = func() (table [modes]set) {
	for m, row := range matrix {
		for other, c := range strings.ReplaceAll(row, " ", "") {
			if c == 'C' {
				table[m] |= Mode(other).set()
			}
		}
	}
	return table
}()

// Compatible reports whether two sessions can hold a resource in these modes at once.
func Compatible(a, b Mode) bool { return conflicts[a]&b.set() == 0 }

// parts are what a mode is made of: the strength of the lock itself, of what it announces for the level below, and of
// its hold on the gap before a key.
type parts struct{ own, intent, gap uint8 }

// The strengths of the lock itself, and of what it announces.
const (
	none uint8 = iota
	shared
	update
	exclusive
)

// The strengths of the hold on a gap. Read and insert make exclusive: there is no mode for both.
const (
	gapShared uint8 = 1
	gapInsert uint8 = 2
	gapAll    uint8 = 3
)

var made = [modes]parts{
	S:       {own: shared},
	U:       {own: update},
	X:       {own: exclusive},
	IS:      {intent: shared},
	IU:      {intent: update},
	IX:      {intent: exclusive},
	SIU:     {own: shared, intent: update},
	SIX:     {own: shared, intent: exclusive},
	UIX:     {own: update, intent: exclusive},
	RangeSS: {own: shared, gap: gapShared},
	RangeSU: {own: update, gap: gapShared},
	RangeIN: {gap: gapInsert},
	RangeIS: {own: shared, gap: gapInsert},
	RangeIU: {own: update, gap: gapInsert},
	RangeIX: {own: exclusive, gap: gapInsert},
	RangeXS: {own: shared, gap: gapAll},
	RangeXU: {own: update, gap: gapAll},
	RangeXX: {own: exclusive, gap: gapAll},
}

// suprema has the weakest mode that is as strong as both.
var suprema = func() (table [modes][modes]Mode) {
	for a := range modes {
		for b := range modes {
			table[a][b] = supremum(a, b)
		}
	}
	return table
}()

// Supremum is the mode that a lock held in one mode is converted to when another is asked for.
func Supremum(a, b Mode) Mode { return suprema[a][b] }

func supremum(a, b Mode) Mode {
	switch {
	case a == b || b == NL:
		return a
	case a == NL:
		return b
	case a == SchM || b == SchM:
		return SchM
	case a == SchS:
		return b
	case b == SchS:
		return a
	case a == BU || b == BU:
		return X // nothing between bulk update and exclusive has a name
	}
	pa, pb := made[a], made[b]
	p := parts{own: max(pa.own, pb.own), intent: max(pa.intent, pb.intent), gap: pa.gap | pb.gap}
	if p.intent <= p.own {
		p.intent = none // a lock on the whole says more than one announced for its parts
	}
	if p.own == exclusive {
		p.intent = none
		if p.gap == gapShared {
			p.gap = gapAll // there is no RangeS-X
		}
	}
	for m, q := range made {
		if p == q && Mode(m) > SchM {
			return Mode(m)
		}
	}
	return X
}
