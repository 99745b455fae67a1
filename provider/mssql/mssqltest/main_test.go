package mssqltest

import "testing"

func TestMain(m *testing.M) { Run(m) }
