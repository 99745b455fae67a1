package fault

// row is what the table knows of an error.
type row struct {
	class, state uint8
	scope        Scope
	dooms        bool
	text         string // of fmt.Sprintf
}

// find finds an error in the table. The table is in numbers_0.go and so on, each sorted: add rows there.
//
// Texts and severities are those of SQL Server's sys.messages; a state that SQL Server varies is the usual one. Errors
// of a conversion from text, of a deadlock and of an update conflict roll the transaction back, and a TRY that catches
// one of them finds the transaction uncommittable.
func find(number int32) (row, bool) {
	table := above10000
	switch {
	case number < 1000:
		table = below1000
	case number < 4000:
		table = below4000
	case number < 10000:
		table = below10000
	}
	r, ok := table[number]
	return r, ok
}
