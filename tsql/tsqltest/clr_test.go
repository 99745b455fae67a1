package tsqltest_test

import "testing"

// Methods and properties of a column of a CLR type are not here, and that is said: they are no columns of an unknown
// table, and no functions.
func TestCLRColumns(t *testing.T) {
	t.Parallel()
	exchanges(t, []exchange{
		{"CREATE TABLE dbo.places (id int NOT NULL, place geography NULL, node hierarchyid NULL)", ""},
		{"SELECT p.place.Lat FROM dbo.places AS p", "49900 :1 the property Lat is not supported by tsqltest (batch:1:8)"},
		{"SELECT dbo.places.place.Lat FROM dbo.places", "49900 :1 the property Lat is not supported by tsqltest (batch:1:8)"},
		{"SELECT p.place.STAsText() FROM dbo.places AS p", "49900 :1 the method STAsText is not supported by tsqltest (batch:1:8)"},
		{"SELECT p.node.GetLevel() FROM dbo.places AS p", "49900 :1 the method GetLevel is not supported by tsqltest (batch:1:8)"},
		{"SELECT p.id.Lat FROM dbo.places AS p", "4104 :1 The multi-part identifier \"p.id.Lat\" could not be bound."},
		{"SELECT q.place.Lat FROM dbo.places AS p", "4104 :1 The multi-part identifier \"q.place.Lat\" could not be bound."},
	})
}
