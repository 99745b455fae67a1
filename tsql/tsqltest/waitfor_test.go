package tsqltest_test

import "testing"

// WAITFOR takes a time of the day, and none that a day does not have.
func TestWaitforTimes(t *testing.T) {
	t.Parallel()
	play(t, "", []step{
		{"WAITFOR TIME '25:00'", "!148"},
		{"WAITFOR TIME '12:60'", "!148"},
		{"WAITFOR DELAY '24:00:00'", "!148"},
		{"WAITFOR DELAY '5'", "!148"},
		{"WAITFOR DELAY ''", "!148"},
		{"WAITFOR TIME '2024-01-01 10:00'", "!148"},
		{"DECLARE @t TIME = '00:00'; WAITFOR DELAY @t", "!9815"},
		{"DECLARE @d DATETIME = '00:00:00.003', @s CHAR(8) = '00:00:00'; WAITFOR DELAY @d; WAITFOR DELAY @s; WAITFOR DELAY '0:0:0.001'", ""},
		{"CREATE PROCEDURE dbo.q;2 AS SELECT 1", "!49900"},
	})
}
