package interleave

import (
	"testing"

	"github.com/duroxide/duroxide-go/internal/testsupport/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
