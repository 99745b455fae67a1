package providertest

import (
	"errors"
	"strings"
	"time"

	"github.com/duroxide/duroxide-go/provider"
)

// deadLetters checks what a store promises that gives access to what it has set aside (§6.23). Another store skips the
// scenarios.
func deadLetters() category {
	check := func(e *env) {
		e.full()
		e.needs(e.store.CorruptOrchestratorItem != nil, "CorruptOrchestratorItem")
		e.needs(e.store.CorruptWorkItem != nil, "CorruptWorkItem")
	}
	return category{"dead letters", skipped(check, []scenario{
		{"letter_is_told_to_the_fetch_that_sets_it_aside", tellsLetters},
		{"letters_are_listed_counted_and_shown", listsLetters},
		{"letters_are_listed_in_pages", pagesLetters},
		{"message_is_sent_again_once", resendsMessages},
		{"queue_message_is_sent_again_to_the_end_of_its_queue", resendsToQueues},
		{"activity_is_sent_again_with_tag_and_session", resendsActivities},
		{"letter_that_is_still_undecodable_stays", keepsUndecodable},
		{"letter_is_deleted_once", deletesLetters},
		{"letters_of_a_deleted_instance_are_deleted", deletesLettersOfInstances},
	})}
}

const (
	ruleLetterTold   = "§6.23 SetAside: called once for each letter, with its instance, kind and reason"
	ruleLetterList   = "§6.23 ListDeadLetters: the letters of the query, the oldest at the beginning"
	ruleLetterCount  = "§6.23 CountDeadLetters: all letters"
	ruleLetterShown  = "§6.23 GetDeadLetter: the letter with its text as it was stored; nil for an unknown id"
	ruleLetterSecret = "§6.23: neither kind nor reason quotes a payload"
	ruleLetterSent   = "§6.23 RequeueDeadLetter: in the queue as if it were sent now, and the letter is gone; false for an unknown id"
	ruleLetterStays  = "§6.23 RequeueDeadLetter: ErrCorrupt for a letter that cannot be decoded; it stays as it is"
	ruleLetterGone   = "§6.23 DeleteDeadLetter: the letter is gone; false for an unknown id"
	ruleLetterOfDead = "§6.15: the dead letters of a deleted instance are deleted"
)

// secretLetter is a text that cannot be decoded and holds a payload.
const secretLetter = `{"NoSuchVariant":{"instance":"A","input":"top secret"}}`

// setMessageAside has a message of an instance set aside, beside nothing else.
func (e *env) setMessageAside(instance, text string) {
	e.Helper()
	e.enqueue(raised(instance, "bad"))
	e.corruptMessage(instance, text)
	e.fetchNone(ruleDeadAlone)
}

// letters lists all letters.
func (e *env) letters() []provider.DeadLetter {
	e.Helper()
	list, err := e.full().ListDeadLetters(e.ctx, provider.DeadLetterQuery{})
	e.ok(err, ruleLetterList)
	return list
}

// lettersAre wants that all letters are of these instances, in this order.
func (e *env) lettersAre(rule string, instances ...string) {
	e.Helper()
	got := []string{}
	for _, letter := range e.letters() {
		got = append(got, letter.InstanceID)
	}
	e.sameValue(got, append([]string{}, instances...), rule, "the instances of the letters")
	count, err := e.full().CountDeadLetters(e.ctx)
	e.ok(err, ruleLetterCount)
	e.sameValue(count, uint64(len(instances)), ruleLetterCount, "count")
}

func tellsLetters(e *env) {
	told := make(chan provider.DeadLetter, 10)
	wait := func(activity bool, instance string) {
		e.Helper()
		select {
		case letter := <-told:
			e.sameValue([]any{letter.Activity, letter.InstanceID, letter.Kind}, []any{activity, instance, "NoSuchVariant"}, ruleLetterTold, "letter")
			e.check(letter.Reason != "", ruleLetterTold, "there is no reason")
			e.check(!strings.Contains(letter.Reason, "secret"), ruleLetterSecret, "reason %q", letter.Reason)
		case <-time.After(60 * e.lease):
			e.violated(ruleLetterTold, "nobody was told")
		}
	}
	e.create("A")
	e.enqueue(raised("A", "bad"), raised("A", "good"))
	e.corruptMessage("A", secretLetter)
	turns := provider.FetchOrchestrationParams{LockTimeout: held, SetAside: func(letter provider.DeadLetter) { told <- letter }}
	turn, err := e.p.FetchOrchestrationItem(e.ctx, turns)
	e.ok(err, ruleUndecodable)
	e.batch(turn, ruleUndecodable, raised("A", "good"))
	wait(false, "A")
	e.enqueueWork(plain(1))
	e.ok(e.store.CorruptWorkItem(e.ctx, provider.ActivityRef{Instance: "order", ExecutionID: 1, ActivityID: 1}, secretLetter), "the CorruptWorkItem hook")
	e.enqueueWork(plain(2))
	work := noSession()
	work.SetAside = turns.SetAside
	e.check(e.fetchWorkWith(work) != nil, ruleDeadLetter, "the next activity was not fetched")
	wait(true, "order")
	e.check(len(told) == 0, ruleLetterTold, "it was told again")
}

func listsLetters(e *env) {
	e.lettersAre(ruleLetterList)
	e.create("A")
	e.create("B")
	e.setMessageAside("B", secretLetter)
	e.spoil(1, `{"ActivityExecute":{"input":"top secret`)
	e.fetchNoWork(noSession(), ruleDeadLetter)
	e.setMessageAside("A", "")
	e.lettersAre(ruleLetterList, "B", "order", "A")
	kinds := []string{}
	for _, letter := range e.letters() {
		kinds = append(kinds, letter.Kind)
		e.check(letter.WorkItem == "", ruleLetterList, "the list has the text of a letter")
		e.check(!letter.SetAsideAt.IsZero() && letter.Reason != "", ruleLetterList, "a letter has no time or no reason: %+v", letter)
		e.check(!strings.Contains(letter.Reason, "secret"), ruleLetterSecret, "reason %q", letter.Reason)
		e.sameValue(letter.Activity, letter.InstanceID == "order", ruleLetterList, "activity")
		shown, err := e.full().GetDeadLetter(e.ctx, letter.ID)
		e.ok(err, ruleLetterShown)
		e.check(shown != nil, ruleLetterShown, "letter %d is not there", letter.ID)
		want := map[string]string{"B": secretLetter, "order": `{"ActivityExecute":{"input":"top secret`, "A": ""}[letter.InstanceID]
		e.sameValue(shown.WorkItem, want, ruleLetterShown, "text")
		shown.WorkItem = ""
		e.sameValue(shown, &letter, ruleLetterShown, "the same letter by its id")
	}
	e.sameValue(kinds, []string{"NoSuchVariant", "ActivityExecute", ""}, ruleLetterList, "kinds")
	none, err := e.full().GetDeadLetter(e.ctx, 1<<62)
	e.ok(err, ruleLetterShown)
	e.check(none == nil, ruleLetterShown, "an unknown id has %+v", none)
}

func pagesLetters(e *env) {
	for _, instance := range []string{"A", "B"} {
		e.create(instance)
	}
	for _, instance := range []string{"A", "B", "A", "A"} {
		e.setMessageAside(instance, "")
	}
	all := e.letters()
	list := func(query provider.DeadLetterQuery, want ...provider.DeadLetter) {
		e.Helper()
		got, err := e.full().ListDeadLetters(e.ctx, query)
		e.ok(err, ruleLetterList)
		e.sameValue(append([]provider.DeadLetter{}, got...), append([]provider.DeadLetter{}, want...), ruleLetterList, "letters")
	}
	list(provider.DeadLetterQuery{Limit: 2}, all[:2]...)
	list(provider.DeadLetterQuery{Limit: 2, After: all[1].ID}, all[2:]...)
	list(provider.DeadLetterQuery{InstanceID: "A", Limit: 2}, all[0], all[2])
	list(provider.DeadLetterQuery{InstanceID: "A", After: all[0].ID}, all[2:]...)
	list(provider.DeadLetterQuery{InstanceID: "nobody"})
}

// mend makes the only letter decodable.
func (e *env) mend(item provider.WorkItem) uint64 {
	e.Helper()
	e.needs(e.store.MendDeadLetter != nil, "MendDeadLetter")
	text, err := provider.EncodeWorkItem(item)
	e.ok(err, "§3.5")
	list := e.letters()
	e.check(len(list) == 1, ruleLetterList, "there are %d letters, want 1", len(list))
	e.ok(e.store.MendDeadLetter(e.ctx, list[0].ID, string(text)), "the MendDeadLetter hook")
	return list[0].ID
}

// resend wants that the letter is, or is not, there.
func (e *env) resend(id uint64, want bool) {
	e.Helper()
	found, err := e.full().RequeueDeadLetter(e.ctx, id)
	e.ok(err, ruleLetterSent)
	e.sameValue(found, want, ruleLetterSent, "found")
}

func resendsMessages(e *env) {
	e.create("A")
	e.setMessageAside("A", secretLetter)
	e.enqueue(raised("A", "meanwhile"))
	id := e.mend(raised("A", "again"))
	e.resend(id, true)
	e.lettersAre(ruleLetterSent)
	e.resend(id, false)
	got := e.fetchInstance("A", held)
	e.batch(got, ruleLetterSent, raised("A", "meanwhile"), raised("A", "again"))
	same(e, got.AttemptCount, 1, ruleLetterSent)
	e.drop(got)
	// A start makes an instance.
	e.enqueue(startItem("B"))
	e.corruptMessage("B", secretLetter)
	e.fetchNone(ruleDeadAlone)
	e.resend(e.mend(startItem("B")), true)
	e.batch(e.fetchInstance("B", held), ruleLetterSent, startItem("B"))
}

// It was in no queue, and another message of the queue was deleted in its place.
func resendsToQueues(e *env) {
	e.create("A")
	e.setMessageAside("A", secretLetter)
	e.line("q", 0, 2)
	e.resend(e.mend(provider.QueueMessageItem{Instance: "A", Name: "q", Data: "2"}), true)
	for next := range 3 {
		got := e.peek(held)
		e.sameValue(shown(got, "q"), []string{"0", "1", "2"}[next:], ruleLetterSent, "the queue")
		e.leave(got, 1, "q")
	}
	e.peekNone()
}

func resendsActivities(e *env) {
	e.spoil(1, secretLetter)
	e.fetchNoWork(noSession(), ruleDeadLetter)
	item := tagged("gpu", 1)
	item.SessionID = new("s")
	id := e.mend(item)
	e.resend(id, true)
	e.lettersAre(ruleLetterSent)
	e.resend(id, false)
	e.fetchNoWork(noSession(), ruleLetterSent)
	params := owner("ann")
	var err error
	params.Tags, err = provider.Tags("gpu")
	e.ok(err, ruleLetterSent)
	got := e.tryFetchWorkWith(params)
	e.check(got != nil, ruleLetterSent, "the activity is not in its queue")
	e.sameValue(got.Item, provider.WorkItem(item), ruleLetterSent, "activity")
	same(e, got.AttemptCount, 1, ruleLetterSent)
	e.fetchNoWork(params, ruleLetterSent)
}

func keepsUndecodable(e *env) {
	e.create("A")
	e.setMessageAside("A", secretLetter)
	before := e.letters()
	found, err := e.full().RequeueDeadLetter(e.ctx, before[0].ID)
	e.check(!found && errors.Is(err, provider.ErrCorrupt), ruleLetterStays, "found %v, error %v", found, err)
	e.permanent(err, provider.ErrCorrupt, ruleLetterStays)
	e.check(!strings.Contains(err.Error(), "secret"), ruleLetterSecret, "error %q", err)
	e.sameValue(e.letters(), before, ruleLetterStays, "letters")
	e.fetchNone(ruleLetterStays)
}

func deletesLetters(e *env) {
	e.create("A")
	e.create("B")
	e.setMessageAside("A", "")
	e.setMessageAside("B", "")
	id := e.letters()[0].ID
	for _, want := range []bool{true, false} {
		found, err := e.full().DeleteDeadLetter(e.ctx, id)
		e.ok(err, ruleLetterGone)
		e.sameValue(found, want, ruleLetterGone, "found")
		e.lettersAre(ruleLetterGone, "B")
	}
	e.fetchNone(ruleLetterGone)
}

func deletesLettersOfInstances(e *env) {
	e.create("A")
	e.create("B")
	e.setMessageAside("A", "")
	e.setMessageAside("B", "")
	e.setMessageAside("A", "")
	_, err := e.admin().DeleteInstance(e.ctx, "A", true)
	e.ok(err, ruleLetterOfDead)
	e.lettersAre(ruleLetterOfDead, "B")
}
