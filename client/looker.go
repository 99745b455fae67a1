package client

import (
	"context"
	"sync"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// looker asks the store for all who wait in one call: while
// a call is under way the next questions gather. It has a goroutine only while it asks.
type looker struct {
	store provider.Store

	mu sync.Mutex
	// waits are all who wait.
	waits map[*wait]struct{}
	// questions are those of the next call.
	questions map[*wait]struct{}
	// askedAll is when those who rest were last asked for.
	askedAll time.Time
	// asking means that the goroutine is there, and stop ends its call.
	asking bool
	stop   context.CancelFunc
}

// mostAsked is how many instances one call asks for.
const mostAsked = 1000

// wait is somebody who waits for an instance.
type wait struct {
	instance string
	// answers has room for the latest.
	answers chan answer
	// resting means that the wait has come to its longest interval and may be asked for on
	// the occasion of others. The looker's mutex guards it.
	resting bool
	// asked means that an answer is on the way. The looker's mutex guards it.
	asked bool
}

// answer is what a look has found.
type answer struct {
	progress provider.Progress
	err      error
}

// enter begins a wait, which leave ends.
func (l *looker) enter(instance string) *wait {
	w := &wait{instance: instance, answers: make(chan answer, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits[w] = struct{}{}
	return w
}

// leave ends a wait, and the call under way if that was the last.
func (l *looker) leave(w *wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waits, w)
	delete(l.questions, w)
	if len(l.waits) == 0 && l.stop != nil {
		l.stop()
	}
}

// ask asks for the wait's instance. The answer comes into its channel. The call is the occasion to
// ask for those who rest as well, when that will be due before long.
func (l *looker) ask(w *wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.question(w)
	if time.Since(l.askedAll) >= maxPoll/2 {
		l.questionAll()
	}
}

// askAll asks for the wait's instance and those of all who rest, unless somebody else's askAll
// has done so, and the answer is there or on the way.
func (l *looker) askAll(w *wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.asked || len(w.answers) > 0 {
		return
	}
	l.question(w)
	l.questionAll()
}

// questionAll adds those who rest to the next call. The caller holds the lock.
func (l *looker) questionAll() {
	l.askedAll = time.Now()
	for other := range l.waits {
		if other.resting {
			l.question(other)
		}
	}
}

// question adds one to the next call. The caller holds the lock.
func (l *looker) question(w *wait) {
	w.asked, w.resting = true, false
	l.questions[w] = struct{}{}
	if !l.asking {
		l.asking = true
		go l.run()
	}
}

// rest says that the wait is asked for when somebody asks for all.
func (l *looker) rest(w *wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.resting = true
}

// run asks until there are no questions.
func (l *looker) run() {
	for {
		ctx, asked := l.next()
		if len(asked) == 0 {
			return
		}
		ids := make([]string, len(asked))
		for i, w := range asked {
			ids[i] = w.instance
		}
		list, err := l.store.ReadProgress(ctx, ids)
		for i, w := range asked {
			a := answer{err: err}
			if err == nil {
				a.progress = list[i]
			}
			l.answer(w, a)
		}
	}
}

// answer gives the wait its answer, in place of one that it has not looked at.
func (l *looker) answer(w *wait, a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, again := l.questions[w]
	w.asked = again
	select {
	case <-w.answers:
	default:
	}
	w.answers <- a
}

// next returns the waits to ask for, none when the goroutine is to end.
func (l *looker) next() (ctx context.Context, asked []*wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
	for w := range l.questions {
		if len(asked) == mostAsked {
			break
		}
		delete(l.questions, w)
		asked = append(asked, w)
	}
	if len(asked) == 0 {
		l.asking = false
		return nil, nil
	}
	ctx, l.stop = context.WithCancel(context.Background())
	return ctx, asked
}

// look is the looks of one wait, by itself or with those of others.
type look struct {
	*wait

	client *Client
	ctx    context.Context //nolint:containedctx // the wait's
	// pending means that an answer is to come.
	pending bool
	timer   *time.Timer
}

// newLook begins the looks of a wait, which end ends.
func (c *Client) newLook(ctx context.Context, instance string) *look {
	l := &look{client: c, ctx: ctx, timer: time.NewTimer(time.Hour), wait: c.looker.enter(instance)}
	l.timer.Stop()
	return l
}

func (l *look) end() {
	l.timer.Stop()
	l.client.looker.leave(l.wait)
}

// ask makes a look. Its answer comes; then the timer is set by rest. With all set it is a look
// for all who rest.
func (l *look) ask(all bool) {
	l.timer.Stop()
	l.pending = true
	if all {
		l.client.looker.askAll(l.wait)
	} else {
		l.client.looker.ask(l.wait)
	}
}

// unless is the channel, or one that never receives while an answer is to come.
func (l *look) unless(c <-chan struct{}) <-chan struct{} {
	if l.pending {
		return nil
	}
	return c
}

// rest sets the timer to the next look, unless an answer is to come.
func (l *look) rest(interval time.Duration) {
	if l.pending {
		return
	}
	l.timer.Reset(interval)
	if interval == maxPoll {
		l.client.looker.rest(l.wait)
	}
}
