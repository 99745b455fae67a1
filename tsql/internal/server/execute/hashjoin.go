package execute

import "github.com/duroxide/duroxide-go/tsql/internal/server/value"

// KeyPart is an expression by which rows are told apart, with the type in which it is compared.
type KeyPart struct {
	Value Expr
	Type  value.Type
	Desc  bool // of sorting
}

// appendKey appends the key of the present row. False means that a part is NULL.
func appendKey(r *Run, dst []byte, parts []KeyPart) ([]byte, bool, error) {
	complete := true
	for i := range parts {
		v, err := parts[i].Value(r)
		if err != nil {
			return dst, false, err
		}
		complete = complete && !v.IsNull()
		dst = value.AppendKey(dst, v, parts[i].Type, parts[i].Desc)
	}
	return dst, complete, nil
}

// Hash is the hash join: the build input is read first and as a whole, then the probe input row by row. Without keys
// each row of the one is tried with each row of the other.
type Hash struct {
	Build, Probe         Operator
	BuildKeys, ProbeKeys []KeyPart
	On                   []Cond // what else must hold
	// KeepBuild and KeepProbe say whose rows stay without a match.
	KeepBuild, KeepProbe bool
	BuildSide, ProbeSide Tuple
	Text                 string
}

// Explain implements Operator.
func (j *Hash) Explain() (string, []Operator) { return j.Text, []Operator{j.Build, j.Probe} }

// Start implements Operator.
func (j *Hash) Start(r *Run) Iterator {
	return &hashing{join: j, run: r, build: j.Build.Start(r), probe: j.Probe.Start(r)}
}

type hashing struct {
	join         *Hash
	run          *Run
	build, probe Iterator
	rows         []saved
	met          []bool
	table        map[string][]int
	key          []byte
	found        []int // of the present probe row, those still to come
	inner        bool
	matched      bool
	last         bool
	at           int
}

func (it *hashing) Open() error {
	it.rows, it.inner, it.last, it.at = it.rows[:0], false, false, 0
	it.table = map[string][]int{}
	if err := it.build.Open(); err != nil {
		return err
	}
	for {
		ok, err := it.build.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		key, complete, err := appendKey(it.run, it.key[:0], it.join.BuildKeys)
		if err != nil {
			return err
		}
		it.key = key
		if complete {
			it.table[string(key)] = append(it.table[string(key)], len(it.rows))
		} else if !it.join.KeepBuild {
			continue
		}
		it.rows = append(it.rows, it.join.BuildSide.save(it.run))
	}
	it.build.Close()
	it.met = make([]bool, len(it.rows))
	return it.probe.Open()
}

func (it *hashing) Next() (bool, error) {
	for !it.last {
		if !it.inner {
			ok, err := it.nextProbe()
			if err != nil {
				return false, err
			}
			if !ok {
				it.last = true
				break
			}
		}
		for len(it.found) > 0 {
			i := it.found[0]
			it.found = it.found[1:]
			it.join.BuildSide.restore(it.run, it.rows[i])
			ok, err := holds(it.run, it.join.On)
			if err != nil {
				return false, err
			}
			if ok {
				it.matched, it.met[i] = true, true
				return true, nil
			}
		}
		it.inner = false
		if it.join.KeepProbe && !it.matched {
			it.join.BuildSide.clear(it.run)
			return true, nil
		}
	}
	return it.rest(), nil
}

func (it *hashing) nextProbe() (bool, error) {
	if ok, err := it.probe.Next(); !ok {
		return false, err
	}
	key, complete, err := appendKey(it.run, it.key[:0], it.join.ProbeKeys)
	if err != nil {
		return false, err
	}
	it.key, it.found = key, nil
	if complete {
		it.found = it.table[string(key)]
	}
	it.inner, it.matched = true, false
	return true, nil
}

// rest yields the rows of the build input without a match, if they are to stay.
func (it *hashing) rest() bool {
	for it.join.KeepBuild && it.at < len(it.rows) {
		i := it.at
		it.at++
		if !it.met[i] {
			it.join.ProbeSide.clear(it.run)
			it.join.BuildSide.restore(it.run, it.rows[i])
			return true
		}
	}
	return false
}

func (it *hashing) Close() {
	it.build.Close()
	it.probe.Close()
	it.rows, it.table = nil, nil
}

// Merge is the merge join of two inputs that are sorted by their keys. Of the right input, the rows of one key are kept
// while the left input's rows of that key pass by.
type Merge struct {
	Left, Right         Operator
	LeftKeys, RightKeys []KeyPart
	On                  []Cond
	Kind                JoinKind // InnerJoin or LeftJoin
	RightSide           Tuple
	Text                string
}

// Explain implements Operator.
func (j *Merge) Explain() (string, []Operator) { return j.Text, []Operator{j.Left, j.Right} }

// Start implements Operator.
func (j *Merge) Start(r *Run) Iterator {
	return &merging{join: j, run: r, left: j.Left.Start(r), right: j.Right.Start(r)}
}

type merging struct {
	join        *Merge
	run         *Run
	left, right Iterator
	group       []saved // the right rows of groupKey
	groupKey    string
	ahead       saved // the right row after the group
	aheadKey    string
	more        bool // there is one
	inner       bool
	matched     bool
	at          int
}

func (it *merging) Open() error {
	it.group, it.groupKey, it.inner, it.more = nil, "", false, false
	if err := it.left.Open(); err != nil {
		return err
	}
	if err := it.right.Open(); err != nil {
		return err
	}
	return it.advance()
}

// advance reads the next right row that has a key. The right side finds its registers as it has left them: what was
// restored since is another row's.
func (it *merging) advance() error {
	if it.more {
		it.join.RightSide.restore(it.run, it.ahead)
	}
	for {
		ok, err := it.right.Next()
		it.more = ok
		if err != nil || !ok {
			return err
		}
		key, complete, err := appendKey(it.run, nil, it.join.RightKeys)
		if err != nil {
			return err
		}
		if complete {
			it.ahead, it.aheadKey = it.join.RightSide.save(it.run), string(key)
			return nil
		}
	}
}

func (it *merging) Next() (bool, error) {
	for {
		if !it.inner {
			if ok, err := it.left.Next(); !ok {
				return false, err
			}
			if err := it.match(); err != nil {
				return false, err
			}
			it.inner, it.matched, it.at = true, false, 0
		}
		for it.at < len(it.group) {
			it.join.RightSide.restore(it.run, it.group[it.at])
			it.at++
			ok, err := holds(it.run, it.join.On)
			if err != nil {
				return false, err
			}
			if ok {
				it.matched = true
				return true, nil
			}
		}
		it.inner = false
		if it.join.Kind == LeftJoin && !it.matched {
			it.join.RightSide.clear(it.run)
			return true, nil
		}
	}
}

// match makes group the right rows with the key of the present left row.
func (it *merging) match() error {
	b, complete, err := appendKey(it.run, nil, it.join.LeftKeys)
	if err != nil {
		return err
	}
	key := string(b)
	if !complete {
		it.group, it.groupKey = nil, ""
		return nil
	}
	if it.group != nil && it.groupKey == key {
		return nil
	}
	it.group, it.groupKey = nil, key
	for it.more && it.aheadKey < key {
		if err := it.advance(); err != nil {
			return err
		}
	}
	for it.more && it.aheadKey == key {
		it.group = append(it.group, it.ahead)
		if err := it.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (it *merging) Close() {
	it.left.Close()
	it.right.Close()
	it.group = nil
}
