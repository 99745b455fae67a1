package execute

// Branch is an input of a set operation: its columns are computed into the slots of the operation's columns.
type Branch struct {
	Input  Operator
	Assign []Assign
}

// Concat is UNION ALL: one input after the other.
type Concat struct {
	Branches []Branch
	Text     string
}

// Explain implements Operator.
func (c *Concat) Explain() (string, []Operator) {
	var inputs []Operator
	for _, b := range c.Branches {
		inputs = append(inputs, b.Input)
	}
	return c.Text, inputs
}

// Start implements Operator.
func (c *Concat) Start(r *Run) Iterator {
	it := &concatenating{concat: c, run: r}
	for _, b := range c.Branches {
		it.inputs = append(it.inputs, b.Input.Start(r))
	}
	return it
}

type concatenating struct {
	concat *Concat
	run    *Run
	inputs []Iterator
	at     int
	opened bool
}

func (it *concatenating) Open() error { it.at, it.opened = 0, false; return nil }

func (it *concatenating) Next() (bool, error) {
	for it.at < len(it.inputs) {
		input := it.inputs[it.at]
		if !it.opened {
			if err := input.Open(); err != nil {
				return false, err
			}
			it.opened = true
		}
		ok, err := input.Next()
		if err != nil {
			return false, err
		}
		if ok {
			return row(assign(it.run, it.concat.Branches[it.at].Assign))
		}
		input.Close()
		it.at, it.opened = it.at+1, false
	}
	return false, nil
}

func (it *concatenating) Close() {
	for _, input := range it.inputs {
		input.Close()
	}
	it.at = len(it.inputs)
}

// Minus is EXCEPT, or INTERSECT if Both is set: the distinct rows of the left input that the right one does not have,
// or has too. Keys are the columns.
type Minus struct {
	Left, Right Branch
	Both        bool
	Keys        []KeyPart
	Text        string
}

// Explain implements Operator.
func (m *Minus) Explain() (string, []Operator) {
	return m.Text, []Operator{m.Left.Input, m.Right.Input}
}

// Start implements Operator.
func (m *Minus) Start(r *Run) Iterator {
	return &subtracting{minus: m, run: r, left: m.Left.Input.Start(r), right: m.Right.Input.Start(r)}
}

type subtracting struct {
	minus       *Minus
	run         *Run
	left, right Iterator
	other, seen map[string]struct{}
	key         []byte
}

func (it *subtracting) Open() error {
	it.other, it.seen = map[string]struct{}{}, map[string]struct{}{}
	if err := it.right.Open(); err != nil {
		return err
	}
	for {
		ok, err := it.right.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := it.makeKey(it.minus.Right.Assign); err != nil {
			return err
		}
		it.other[string(it.key)] = struct{}{}
	}
	it.right.Close()
	return it.left.Open()
}

func (it *subtracting) makeKey(list []Assign) (err error) {
	if err := assign(it.run, list); err != nil {
		return err
	}
	it.key, _, err = appendKey(it.run, it.key[:0], it.minus.Keys)
	return err
}

func (it *subtracting) Next() (bool, error) {
	for {
		if ok, err := it.left.Next(); !ok {
			return false, err
		}
		if err := it.makeKey(it.minus.Left.Assign); err != nil {
			return false, err
		}
		_, there := it.other[string(it.key)]
		_, before := it.seen[string(it.key)]
		if there == it.minus.Both && !before {
			it.seen[string(it.key)] = struct{}{}
			return true, nil
		}
	}
}

func (it *subtracting) Close() {
	it.left.Close()
	it.right.Close()
	it.other, it.seen = nil, nil
}
