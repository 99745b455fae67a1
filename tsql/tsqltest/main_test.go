package tsqltest_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
