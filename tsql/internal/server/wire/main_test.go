package wire

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
