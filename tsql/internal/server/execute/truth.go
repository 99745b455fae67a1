package execute

// Truth is what a condition yields.
type Truth uint8

// The truth values. The zero one is what WHERE takes for false and CHECK for true.
const (
	Unknown Truth = iota
	False
	True
)

// Not is NOT of a truth value.
func (t Truth) Not() Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	default:
		return Unknown
	}
}

// TruthOf is True or False.
func TruthOf(b bool) Truth {
	if b {
		return True
	}
	return False
}

// And is the conjunction of conditions, which are computed in order until one is false.
func And(conditions []Cond) Cond {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return func(r *Run) (Truth, error) {
		all := True
		for _, c := range conditions {
			t, err := c(r)
			if err != nil || t == False {
				return False, err
			}
			if t == Unknown {
				all = Unknown
			}
		}
		return all, nil
	}
}

// Or is the disjunction of conditions, which are computed in order until one is true.
func Or(conditions []Cond) Cond {
	return func(r *Run) (Truth, error) {
		one := False
		for _, c := range conditions {
			t, err := c(r)
			if err != nil || t == True {
				return t, err
			}
			if t == Unknown {
				one = Unknown
			}
		}
		return one, nil
	}
}

// holds reports whether all conditions are true; none hold for every row.
func holds(r *Run, conditions []Cond) (bool, error) {
	for _, c := range conditions {
		t, err := c(r)
		if err != nil || t != True {
			return false, err
		}
	}
	return true, nil
}
