package mssql

import (
	"testing"

	"github.com/duroxide/duroxide-go/internal/mssqltest"
)

func TestMain(m *testing.M) { mssqltest.Run(m) }
