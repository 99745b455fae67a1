package wakeup

import "testing"

func happened(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestAnnounceTellsWhoWaitsForTheInstance(t *testing.T) {
	t.Parallel()
	var c Changes
	a1, stopA1 := c.Await("a")
	a2, stopA2 := c.Await("a")
	b, stopB := c.Await("b")
	defer stopA1()
	defer stopB()
	stopA2()
	stopA2() // once or more
	c.Announce()
	c.Announce("c")
	if happened(a1) || happened(b) {
		t.Fatal("told of what happened to another instance")
	}
	c.Announce("a", "c")
	if !happened(a1) || !happened(a2) || happened(b) {
		t.Errorf("told: %v, %v and %v of another; want true twice and false", happened(a1), happened(a2), happened(b))
	}
	if again, stop := c.Await("a"); happened(again) {
		t.Error("a change is told to those who come after it")
	} else {
		stop()
	}
}

func TestNothingIsKeptForNobody(t *testing.T) {
	t.Parallel()
	var c Changes
	_, stopped := c.Await("a")
	_, announced := c.Await("b")
	_, older := c.Await("c")
	stopped()
	c.Announce("b", "c")
	announced()
	_, newer := c.Await("c")
	older() // belongs to the change that has happened
	if c.Awaited() != 1 {
		t.Errorf("%d instances are awaited; want 1", c.Awaited())
	}
	newer()
	if c.Awaited() != 0 {
		t.Errorf("%d instances are awaited; want none", c.Awaited())
	}
}
