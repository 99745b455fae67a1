package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sqlserver "github.com/microsoft/go-mssqldb"
)

// check is a promise and how to see whether it holds in a database.
type check struct {
	name string
	// promise is a sentence: what must hold.
	promise string
	// where says in which databases it is made; nil in all. See [site.where].
	where func(*site) string
	run   func(context.Context, *site) result
}

// leaveOut is what where says of a database that a check says nothing about.
const leaveOut = "left out"

// schemaCheck is the check without which none of the others can be made.
const schemaCheck = "schema"

// checks are all of them, in the order in which they are made: the last ones damage and kill.
var checks = []check{
	{schemaCheck, "`migrate up` makes the schema, `verify` finds it right, and a second `up` has nothing to do", nil, checkSchema},
	{"blocks of the README", "each block of `sql/README.md`, section *Try it*, runs", nil, checkBlocks},
	{"work", "an orchestration of every kind of work completes", nil, checkWork},
	{"methods of the store", "each method of the Go store is answered, or refused with an error of the store", nil, checkMethods},
	{"procedures", "each procedure compiles and runs: no error of the engine (8622, 308, 1047, 8180 …)", nil, checkProcedures},
	{"estimated plans", "the optimizer makes a plan for each statement of each procedure, and none of a pinned statement has a hash join, a merge join or a scan of a table of ours", withPlans, checkEstimates},
	{"plans at each size", "neither has one in the plan cache after real work, whatever the size of the tables when it was made", withPlans, checkPlans},
	{"reads at each size", "a plan that was made for empty tables reads about as much on large ones, and a turn that starts many children locks their inboxes and no others", nil, checkReads},
	{"inbox lock", "a second session waits for an instance that an open transaction has locked, also with optimized locking", nil, checkInboxLock},
	{"locks", "one orchestration of five activities locks rows only: no table, no page", lastLevel, checkLocks},
	{"log", fmt.Sprintf("one orchestration of five activities, with payloads of %d characters, writes at most %d KiB of log", payloadLength, mostLog/1024), lastLevel, checkLog},
	{"reads", fmt.Sprintf("one orchestration of five activities reads at most %d pages", mostReads), lastLevel, checkStepReads},
	{"costs of statements", "`sql/operations/slow_statements.sql` runs, by Query Store", lastLevel, checkCosts},
	{"recompiles", "under steady work no statement is compiled again and again", lastLevel, checkRecompiles},
	{"lock waits", "a transaction that holds one inbox for longer than a lease ends no lease of other instances", lastLevel, checkLockWaits},
	{"damaged indexes", "no orchestration fails while an index is dropped or disabled, `verify` names it, and `migrate up` makes it again", lastLevel, checkIndexes},
	{"killed sessions", "no orchestration fails, and none is stuck, when sessions are killed under load", lastLevel, checkKill},
	{"readable secondary", "fetches stay quick while a reader on a secondary keeps deleted rows", lastLevel, notHere("it needs an availability group with a readable secondary, and ten minutes; see docs/sqlserver.md for what to watch")},
	{"failover", "no instance is stuck for longer than a lease after a failover", lastLevel, notHere("it needs an availability group; `killed sessions` is the same for the store, whose connections end in both")},
}

// skip says why the check is not made there, leaveOut if there is nothing to say, and "" if it is made.
func (c check) skip(at *site) string {
	if c.where == nil {
		return ""
	}
	return c.where(at)
}

// lastLevel is for what does not depend on the compatibility level, and takes long.
func lastLevel(at *site) string {
	if !at.config.last {
		return leaveOut
	}
	return ""
}

// withPlans is for what needs an optimizer.
func withPlans(at *site) string {
	if at.inProcess {
		return "tsqltest has no optimizer, so there are no plans"
	}
	return ""
}

func notHere(why string) func(context.Context, *site) result {
	return func(context.Context, *site) result { return unasked("%s", why) }
}

// numbersOf are the numbers of the errors that the server reported.
func numbersOf(err error) (list []int32) {
	reported, ok := errors.AsType[sqlserver.Error](err)
	if !ok {
		return nil
	}
	for _, e := range reported.All {
		list = append(list, e.Number)
	}
	if len(list) == 0 {
		list = append(list, reported.Number)
	}
	return list
}

// cannot are the errors of a login that may not ask, and of a server that does not know what was asked.
var cannot = map[int32]bool{
	229: true, 230: true, 262: true, 297: true, 300: true, 371: true, 6102: true, 15151: true, 15247: true, // no right
	208: true, 195: true, 102: true, 207: true, 2812: true, 40517: true, 40510: true, 25716: true, 25623: true, // no such thing
	49900: true, // tsqltest's
}

// unavailable is the result of a question that the server or the login cannot answer, and failed for any other error.
// It is for questions about the server, not for calls of the store.
func unavailable(what string, err error) result {
	for _, number := range numbersOf(err) {
		if cannot[number] {
			return unasked("%s: %v", what, err)
		}
	}
	return fails("%s: %v", what, err)
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "x") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
