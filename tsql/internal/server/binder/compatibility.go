package binder

import (
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// level2022 is the compatibility level of SQL Server 2022, with which some of what it has begins to be there.
const level2022 = 160

// before2022 reports whether the database has an older compatibility level.
func (b *Binder) before2022() bool { return b.Env.Database.CompatibilityLevel < level2022 }

// checkLevel refuses a call that the compatibility level does not know: LTRIM and RTRIM of other characters than
// blanks.
func (b *Binder) checkLevel(name string, x *syntax.Call) error {
	if (name == "LTRIM" || name == "RTRIM") && len(x.Args) == 2 && b.before2022() {
		return fault.New(174, strings.ToLower(name), 1)
	}
	return nil
}
