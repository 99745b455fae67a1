package mssql

import (
	"flag"
	"testing"

	"github.com/duroxide/duroxide-go/provider/mssql/mssqltest"
)

func TestMain(m *testing.M) {
	setDefaults()
	mssqltest.Run(m)
}

// setDefaults chooses another default for a flag that the command line leaves out:
// more tests at once than there are processors, because most of them wait for a lease
// to end or for the server.
func setDefaults() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
}
