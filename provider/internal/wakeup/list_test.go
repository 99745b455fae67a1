package wakeup

import "testing"

func TestSignalWakesInOrderOfArrival(t *testing.T) {
	t.Parallel()
	l := NewList(nil)
	a, b, c := l.wait(l.ticket(), 0), l.wait(l.ticket(), 0), l.wait(l.ticket(), 0)
	l.Signal(2)
	if !a.isWoken() || !b.isWoken() || c.isWoken() {
		t.Errorf("woken: %v %v %v; want the first two", a.isWoken(), b.isWoken(), c.isWoken())
	}
	l.SignalAll()
	if !c.isWoken() {
		t.Error("SignalAll left somebody asleep")
	}
}

// A signal between looking and waiting is not lost.
func TestSignalBeforeWaiting(t *testing.T) {
	t.Parallel()
	l := NewList(nil)
	ticket := l.ticket()
	l.Signal(1)
	if !l.wait(ticket, 0).isWoken() {
		t.Error("the fetch sleeps although something came after it had looked")
	}
}

// Nor is a time that is noted then, or was kept for somebody who has left: the fetch
// would sleep until the end of its patience.
func TestTimeNotedBeforeWaiting(t *testing.T) {
	t.Parallel()
	l := NewList(nil)
	looked := l.ticket()
	l.Note(150)
	if !l.wait(looked, 0).isWoken() {
		t.Error("the fetch sleeps past a time noted after it had looked")
	}
	other := l.wait(l.ticket(), 0)
	looked = l.ticket()
	l.Note(150)
	l.leave(other)
	if !l.wait(looked, 0).isWoken() {
		t.Error("the fetch sleeps past a time that another fetch took with it")
	}
}

// Whoever cannot use a signal passes it on, to each waiter once.
func TestPassOn(t *testing.T) {
	t.Parallel()
	l := NewList(nil)
	a, b := l.wait(l.ticket(), 0), l.wait(l.ticket(), 0)
	l.Signal(1)
	l.passOn() // a, which waits again
	a2 := l.wait(l.ticket(), 0)
	if !a.isWoken() || !b.isWoken() {
		t.Fatal("the signal was not passed on")
	}
	l.passOn() // b
	if a2.isWoken() {
		t.Error("the signal came back to a fetch that had looked")
	}
}

// Whoever gives up with a signal in hand passes it on as well.
func TestLeavePassesOn(t *testing.T) {
	t.Parallel()
	l := NewList(nil)
	a, b, c := l.wait(l.ticket(), 0), l.wait(l.ticket(), 0), l.wait(l.ticket(), 0)
	l.leave(b)
	l.Signal(1)
	l.leave(a)
	if b.isWoken() || !c.isWoken() {
		t.Errorf("woken: b %v, c %v; want only c", b.isWoken(), c.isWoken())
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	l := NewList(nil)
	l.Note(50) // nobody is there to be woken
	if at, waiting := l.Due(100); at != 0 || waiting {
		t.Errorf("an empty list is due at %d, waiting %v", at, waiting)
	}
	a := l.wait(l.ticket(), 200)
	l.Note(300)
	l.Note(150)
	if at, waiting := l.Due(100); at != 150 || !waiting || a.isWoken() {
		t.Errorf("due at %d, waiting %v, woken %v; want 150, true, false", at, waiting, a.isWoken())
	}
	l.Due(150)
	if !a.isWoken() {
		t.Error("the time came and nobody was woken")
	}
}

// changed is called without the lock, so that it may ask the list.
func TestChangedTellsOfTheFirstWaiterAndOfEarlierTimes(t *testing.T) {
	t.Parallel()
	var l *List
	told := 0
	l = NewList(func() { told++; _ = l.Len() })
	for i, step := range []struct {
		do   func()
		want int
	}{
		{func() { l.wait(l.ticket(), 0) }, 1},
		{func() { l.wait(l.ticket(), 0) }, 1},
		{func() { l.Note(200) }, 2},
		{func() { l.Note(300) }, 2},
		{func() { l.wait(l.ticket(), 100) }, 3},
	} {
		step.do()
		if told != step.want {
			t.Errorf("after step %d changed was called %d times; want %d", i, told, step.want)
		}
	}
}

func (w *waiter) isWoken() bool { return len(w.woken) == 1 }

// A subscriber is told of what wakes fetches, whether any wait or not, and of times as
// well, until it stops.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	told := 0
	l := NewList(func() { told++ })
	notices, stop := l.Subscribe()
	if told != 1 || len(notices) != 1 {
		t.Fatalf("changed was called %d times, and there are %d notices; want 1 and 1", told, len(notices))
	}
	<-notices
	w := l.wait(l.ticket(), 0)
	for name, announce := range map[string]func(){
		"a signal":      func() { l.Signal(1) },
		"several":       func() { l.Signal(1); l.SignalAll() },
		"a time's come": func() { l.Note(100); l.Due(100) },
	} {
		announce()
		if len(notices) != 1 {
			t.Errorf("%d notices after %s; want 1", len(notices), name)
			continue
		}
		<-notices
	}
	if !w.isWoken() {
		t.Error("the fetch sleeps beside a subscriber")
	}
	if at, watched := l.Due(50); at != 0 || !watched {
		t.Errorf("due at %d, watched %v; want 0, true", at, watched)
	}
	l.Note(100)
	stop()
	stop()
	l.Signal(1)
	if at, watched := l.Due(50); at != 0 || watched || len(notices) != 0 {
		t.Errorf("after stop: due at %d, watched %v, %d notices; want nothing", at, watched, len(notices))
	}
}
