package provider_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duroxide/duroxide-go/provider"
)

// Each reading rule of §3.1 as a table row: a text that differs in one place
// from a valid one, and what comes of it.

const (
	envelope = `{"event_id":2,"source_event_id":null,"instance_id":"i","execution_id":1,"timestamp_ms":5,` +
		`"duroxide_version":"0.1.26","type":`
	scheduled = envelope + `"ActivityScheduled","name":"n","input":"x"}`
	keySet    = envelope + `"KeyValueSet","key":"k","value":"v","last_updated_at_ms":7}`
	started   = envelope + `"OrchestrationStarted","name":"n","version":"1","input":"x","parent_instance":null,` +
		`"parent_id":null,"carry_forward_events":[["q","m"]]}`
	completed = envelope + `"ActivityCompleted","result":"x"}`
	failed    = envelope + `"ActivityFailed","details":{"Application":{"kind":"Panicked","message":"m","retryable":false}}}`
	cancelled = envelope + `"ActivityFailed","details":{"Application":{"kind":{"Cancelled":{"reason":"r"}},` +
		`"message":"m","retryable":false}}}`
	poisoned = envelope + `"ActivityFailed","details":{"Poison":{"attempt_count":2,"max_attempts":1,` +
		`"message_type":{"Orchestration":{"instance":"i","execution_id":1}},"message":"m"}}}`
	misfit = envelope + `"ActivityFailed","details":{"Configuration":{"kind":"Nondeterminism","resource":"r","message":"m"}}}`
)

func kindOf(kind provider.EventKind) provider.Event {
	return provider.Event{
		EventID: 2, InstanceID: "i", ExecutionID: 1, TimestampMs: 5, DuroxideVersion: "0.1.26", Kind: kind,
	}
}

// replaceOnce returns text with old replaced, and fails the test when old does
// not occur exactly once: the row would not test what it says.
func replaceOnce(t *testing.T, text, old, replacement string) string {
	t.Helper()
	if old == "" {
		return replacement
	}
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q occurs %d times in %s", old, strings.Count(text, old), text)
	}
	return strings.Replace(text, old, replacement, 1)
}

func TestDecodeEventAccepts(t *testing.T) {
	t.Parallel()
	plain := kindOf(provider.ActivityScheduled{Name: "n", Input: "x"})
	result := func(text string) provider.Event { return kindOf(provider.ActivityCompleted{Result: text}) }
	pairs := provider.OrchestrationStarted{Name: "n", Version: "1", Input: "x"}
	for name, test := range map[string]struct {
		text, old, replacement string
		want                   provider.Event
	}{
		"white space around the document": {scheduled, "", " \t\r\n" + scheduled + " \t\r\n", plain},
		"white space inside": {
			scheduled, "",
			strings.NewReplacer(",", " ,\n\t", ":", "\r: ", "{", "{ ", "}", " }").Replace(scheduled), plain,
		},
		"type before the envelope": {
			scheduled, "",
			`{"type":"ActivityScheduled",` + strings.Replace(scheduled[1:], `"type":"ActivityScheduled",`, "", 1), plain,
		},
		"all keys in reverse": {
			scheduled, "", `{"input":"x","name":"n","type":"ActivityScheduled","duroxide_version":"0.1.26",` +
				`"timestamp_ms":5,"execution_id":1,"instance_id":"i","source_event_id":null,"event_id":2}`, plain,
		},
		"details before type": {
			failed, "", `{"details":{"Application":{"retryable":true,"message":"m","kind":{"Cancelled":{"reason":"r"}}}},` +
				`"type":"ActivityFailed","duroxide_version":"0.1.26","timestamp_ms":5,"execution_id":1,"instance_id":"i","event_id":2}`,
			kindOf(provider.ActivityFailed{Details: provider.ApplicationFailure{
				Kind: provider.AppCancelled, CancelReason: "r", Message: "m", Retryable: true,
			}}),
		},
		"unknown key first": {scheduled, `{"event_id"`, `{"new":1,"event_id"`, plain},
		"unknown key last":  {scheduled, `"x"}`, `"x","new":{"a":[1,{"b":null}]}}`, plain},
		"unknown key twice": {scheduled, `"x"}`, `"x","new":1,"new":2}`, plain},
		"unknown values of all kinds": {
			scheduled, `"name"`, `"a":true,"b":false,"c":null,"d":"\ud83d\ude00","e":-0.5e+10,"f":1E9,"g":0,` +
				`"h":[],"i":{},"j":[[],[1,2],{}],"k":99999999999999999999,"name"`, plain,
		},
		"key of another kind":   {scheduled, `"x"}`, `"x","fire_at_ms":"not a number"}`, plain},
		"key in another case":   {scheduled, `"x"}`, `"x","Input":"y"}`, plain},
		"key with escapes":      {scheduled, `"input"`, `"\u0069nput"`, plain},
		"type with escapes":     {scheduled, `"ActivityScheduled"`, `"\u0041ctivityScheduled"`, plain},
		"nullable missing":      {scheduled, `"source_event_id":null,`, ``, plain},
		"optional null":         {scheduled, `"x"}`, `"x","session_id":null,"tag":null}`, plain},
		"optional out of order": {scheduled, `"x"}`, `"x","tag":"","session_id":"s"}`, kindOf(provider.ActivityScheduled{Name: "n", Input: "x", SessionID: new("s"), Tag: new("")})},
		"nullable kind fields missing": {
			started, `"parent_instance":null,"parent_id":null,"carry_forward_events":[["q","m"]]`,
			`"initial_custom_status":null`, kindOf(pairs),
		},
		"optional list null":  {started, `[["q","m"]]`, `null`, kindOf(pairs)},
		"optional list empty": {started, `[["q","m"]]`, `[ ]`, kindOf(pairs)},
		"parent stamp null": {
			started, `"parent_id":null`, `"parent_id":null,"parent_execution_id":null`,
			kindOf(provider.OrchestrationStarted{
				Name: "n", Version: "1", Input: "x", CarryForwardEvents: []provider.CarriedMessage{{Name: "q", Data: "m"}},
			}),
		},
		"parent stamp out of order": {
			started, `"name"`, `"parent_execution_id":3,"name"`,
			kindOf(provider.OrchestrationStarted{
				Name: "n", Version: "1", Input: "x", ParentExecutionID: new(uint64(3)),
				CarryForwardEvents: []provider.CarriedMessage{{Name: "q", Data: "m"}},
			}),
		},
		"pairs with white space": {started, `[["q","m"]]`, "[ [ \"q\" ,\n\"m\" ] , [\"\",\"\"] ]", kindOf(provider.OrchestrationStarted{
			Name: "n", Version: "1", Input: "x", CarryForwardEvents: []provider.CarriedMessage{{Name: "q", Data: "m"}, {}},
		})},
		"default on read":       {keySet, `,"last_updated_at_ms":7`, ``, kindOf(provider.KeyValueSet{Key: "k", Value: "v"})},
		"custom status missing": {completed, `"ActivityCompleted","result":"x"`, `"CustomStatusUpdated"`, kindOf(provider.CustomStatusUpdated{})},
		"unknown key in details": {
			failed, `"retryable":false`, `"retryable":false,"new":[]`,
			kindOf(provider.ActivityFailed{Details: provider.ApplicationFailure{Kind: provider.AppPanicked, Message: "m"}}),
		},
		"nullable missing in details": {
			misfit, `,"message":"m"`, ``,
			kindOf(provider.ActivityFailed{Details: provider.ConfigurationFailure{Kind: provider.Nondeterminism, Resource: "r"}}),
		},
		"unknown key in an error kind": {
			cancelled, `"reason":"r"`, `"new":1,"reason":"r"`,
			kindOf(provider.ActivityFailed{Details: provider.ApplicationFailure{
				Kind: provider.AppCancelled, CancelReason: "r", Message: "m",
			}}),
		},
		"identity of a failed 0.1.26 orchestration": {
			completed, `"instance_id":"i","execution_id":1,"timestamp_ms":5`, `"instance_id":"","execution_id":0,"timestamp_ms":5`,
			provider.Event{EventID: 2, TimestampMs: 5, DuroxideVersion: "0.1.26", Kind: provider.ActivityCompleted{Result: "x"}},
		},
		"largest integer": {
			completed, `"timestamp_ms":5`, `"timestamp_ms":18446744073709551615`,
			provider.Event{
				EventID: 2, InstanceID: "i", ExecutionID: 1, TimestampMs: 1<<64 - 1, DuroxideVersion: "0.1.26",
				Kind: provider.ActivityCompleted{Result: "x"},
			},
		},
		"every escape":            {completed, `"x"`, `"\"\\\/\b\f\n\r\t\u00e9\u00E9\u0000"`, result("\"\\/\b\f\n\r\téé\x00")},
		"surrogate pair":          {completed, `"x"`, `"a\uD83D\uDE00b"`, result("a😀b")},
		"last surrogate pair":     {completed, `"x"`, `"\udbff\udfff"`, result("\U0010ffff")},
		"beside the surrogates":   {completed, `"x"`, `"\ud7ff\ue000\uffff\ufffd"`, result("\ud7ff\ue000\uffff\ufffd")},
		"raw text":                {completed, `"x"`, "\"/<>&\x7f\u2028é😀\"", result("/<>&\x7f\u2028é😀")},
		"escapes after long runs": {completed, `"x"`, `"` + strings.Repeat("01234567\\n", 99) + `"`, result(strings.Repeat("01234567\n", 99))},
		"large payload":           {completed, `"x"`, `"` + strings.Repeat("payload ", 1<<20) + `"`, result(strings.Repeat("payload ", 1<<20))},
		"deepest unknown value":   {completed, `"x"`, `"x","new":` + nested(126), result("x")},
		"many values side by side": {
			completed, `"x"`, `"x","new":[` + strings.Repeat(`[{}],`, 200) + `0]`, result("x"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := replaceOnce(t, test.text, test.old, test.replacement)
			got, err := provider.DecodeEvent([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// nested is depth arrays inside one another.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestDecodeEventRejects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text, old, replacement string
		want                   string // the error without ": corrupt data"
	}{
		// The document.
		"empty":                {scheduled, "", "", "byte 0: expected '{'"},
		"null":                 {scheduled, "", "null", "byte 0: expected '{'"},
		"list":                 {scheduled, "", "[]", "byte 0: expected '{'"},
		"byte order mark":      {scheduled, "", "\ufeff" + scheduled, "byte 0: expected '{'"},
		"trailing data":        {completed, `"x"}`, `"x"}x`, "byte 157: text after the end of the document"},
		"second document":      {completed, `"x"}`, `"x"} {}`, "byte 158: text after the end of the document"},
		"no end":               {completed, `"x"}`, `"x"`, "byte 156: expected ','"},
		"trailing comma":       {completed, `"x"}`, `"x",}`, "byte 157: expected a string"},
		"leading comma":        {completed, `{"event_id"`, `{,"event_id"`, "byte 1: expected a string"},
		"missing comma":        {completed, `2,"source_event_id"`, `2"source_event_id"`, "byte 13: expected ','"},
		"missing colon":        {completed, `"event_id":`, `"event_id"`, "byte 11: expected ':'"},
		"key without quotes":   {completed, `"event_id"`, `event_id`, "byte 1: expected a string"},
		"single quotes":        {completed, `"x"`, `'x'`, `byte 153, key "result": expected a string`},
		"white space of JSON5": {completed, `"x"`, "\v\"x\"", `byte 153, key "result": expected a string`},

		// Strings.
		"invalid UTF-8 in a value":      {completed, `"x"`, "\"x\xff\"", "byte 155: text is not valid UTF-8"},
		"invalid UTF-8 in a key":        {completed, `"event_id"`, "\"event_id\xc3\"", "byte 10: text is not valid UTF-8"},
		"surrogate encoded as UTF-8":    {completed, `"x"`, "\"\xed\xa0\x80\"", "byte 154: text is not valid UTF-8"},
		"lone high surrogate":           {completed, `"x"`, `"ab\ud83d"`, `byte 156, key "result": lone surrogate in a string`},
		"lone low surrogate":            {completed, `"x"`, `"\ude00"`, `byte 154, key "result": lone surrogate in a string`},
		"high surrogate before a text":  {completed, `"x"`, `"\ud83dx"`, `byte 154, key "result": lone surrogate in a string`},
		"two high surrogates":           {completed, `"x"`, `"\ud83d\ud83d\ude00"`, `byte 154, key "result": lone surrogate in a string`},
		"surrogates in the wrong order": {completed, `"x"`, `"\ude00\ud83d"`, `byte 154, key "result": lone surrogate in a string`},
		"lone surrogate, unknown value": {completed, `"x"`, `"x","new":"\ud83d"`, `byte 164: lone surrogate in a string`},
		"lone surrogate, unknown key":   {completed, `"x"`, `"x","\ud83d":1`, `byte 158: lone surrogate in a string`},
		"raw newline":                   {completed, `"x"`, "\"\n\"", `byte 154, key "result": control character in a string`},
		"raw NUL":                       {completed, `"x"`, "\"01234567\x00\"", `byte 162, key "result": control character in a string`},
		"unknown escape":                {completed, `"x"`, `"\x"`, `byte 154, key "result": invalid escape in a string`},
		"upper-case escape":             {completed, `"x"`, `"\U0041"`, `byte 154, key "result": invalid escape in a string`},
		"short hex escape":              {completed, `"x"`, `"\u004"`, `byte 154, key "result": invalid escape in a string`},
		"bad hex escape":                {completed, `"x"`, `"\u00g0"`, `byte 154, key "result": invalid escape in a string`},
		"string for an integer":         {completed, `"event_id":2`, `"event_id":"2"`, `byte 12, key "event_id": expected an unsigned integer`},
		"string does not end":           {completed, `"x"}`, `"x`, `byte 155, key "result": string does not end`},
		"string ends in a backslash":    {completed, `"x"}`, `"x\`, `byte 155, key "result": invalid escape in a string`},

		// Integers.
		"fraction":           {completed, `"event_id":2`, `"event_id":1.0`, `byte 12, key "event_id": expected an unsigned integer`},
		"exponent":           {completed, `"event_id":2`, `"event_id":1e3`, `byte 12, key "event_id": expected an unsigned integer`},
		"upper-case exp":     {completed, `"event_id":2`, `"event_id":1E3`, `byte 12, key "event_id": expected an unsigned integer`},
		"negative":           {completed, `"event_id":2`, `"event_id":-1`, `byte 12, key "event_id": expected an unsigned integer`},
		"negative zero":      {completed, `"event_id":2`, `"event_id":-0`, `byte 12, key "event_id": expected an unsigned integer`},
		"plus sign":          {completed, `"event_id":2`, `"event_id":+1`, `byte 12, key "event_id": expected an unsigned integer`},
		"leading zero":       {completed, `"event_id":2`, `"event_id":01`, `byte 12, key "event_id": expected an unsigned integer`},
		"hexadecimal":        {completed, `"event_id":2`, `"event_id":0x1`, `byte 13: expected ','`},
		"boolean":            {completed, `"event_id":2`, `"event_id":true`, `byte 12, key "event_id": expected an unsigned integer`},
		"one above 64 bits":  {completed, `"event_id":2`, `"event_id":18446744073709551616`, `byte 12, key "event_id": integer is too large`},
		"far above 64 bits":  {completed, `"event_id":2`, `"event_id":99999999999999999999999`, `byte 12, key "event_id": integer is too large`},
		"optional, fraction": {completed, `"source_event_id":null`, `"source_event_id":1.0`, `byte 32, key "source_event_id": expected an unsigned integer`},
		"count over 32 bits": {poisoned, `"attempt_count":2`, `"attempt_count":4294967296`, `byte 178, key "attempt_count": integer is too large`},

		// Presence.
		"no event_id":            {completed, `"event_id":2,`, ``, `byte 143, key "event_id": key is missing`},
		"no instance_id":         {completed, `"instance_id":"i",`, ``, `byte 138, key "instance_id": key is missing`},
		"no execution_id":        {completed, `"execution_id":1,`, ``, `byte 139, key "execution_id": key is missing`},
		"no timestamp_ms":        {completed, `"timestamp_ms":5,`, ``, `byte 139, key "timestamp_ms": key is missing`},
		"no duroxide_version":    {completed, `"duroxide_version":"0.1.26",`, ``, `byte 128, key "duroxide_version": key is missing`},
		"no type":                {completed, `"type":"ActivityCompleted",`, ``, `byte 129, key "type": key is missing`},
		"no field of the kind":   {completed, `,"result":"x"`, ``, `byte 143, key "result": key is missing`},
		"empty object":           {completed, "", `{}`, `byte 1, key "event_id": key is missing`},
		"null for an integer":    {completed, `"event_id":2`, `"event_id":null`, `byte 12, key "event_id": expected an unsigned integer`},
		"null for a string":      {completed, `"x"`, `null`, `byte 153, key "result": expected a string`},
		"null for the default":   {keySet, `"last_updated_at_ms":7`, `"last_updated_at_ms":null`, `byte 181, key "last_updated_at_ms": expected an unsigned integer`},
		"null for details":       {completed, `"ActivityCompleted","result":"x"`, `"ActivityFailed","details":null`, `byte 151, key "details": expected '{'`},
		"null for the kind":      {failed, `"Panicked"`, `null`, `byte 174, key "kind": expected '{'`},
		"nullable, wrong type":   {completed, `"source_event_id":null`, `"source_event_id":{}`, `byte 32, key "source_event_id": expected an unsigned integer`},
		"nullable, misspelt":     {completed, `"source_event_id":null`, `"source_event_id":nul`, `byte 32, key "source_event_id": expected an unsigned integer`},
		"nullable, longer":       {completed, `"source_event_id":null`, `"source_event_id":nullx`, `byte 36: expected ','`},
		"boolean as a string":    {failed, `false`, `"false"`, `byte 211, key "retryable": expected true or false`},
		"boolean in capitals":    {failed, `false`, `False`, `byte 211, key "retryable": expected true or false`},
		"missing inside details": {failed, `"message":"m",`, ``, `byte 202, key "message": key is missing`},

		// Duplicates.
		"event_id twice":         {completed, `"x"}`, `"x","event_id":2}`, `byte 157, key "event_id": key occurs twice`},
		"event_id twice in turn": {completed, `"event_id":2`, `"event_id":2,"event_id":2`, `byte 14, key "event_id": key occurs twice`},
		"source_event_id twice":  {completed, `"x"}`, `"x","source_event_id":null}`, `byte 157, key "source_event_id": key occurs twice`},
		"instance_id twice":      {completed, `"x"}`, `"x","instance_id":"i"}`, `byte 157, key "instance_id": key occurs twice`},
		"type twice":             {completed, `"x"}`, `"x","type":"ActivityCompleted"}`, `byte 157, key "type": key occurs twice`},
		"escaped key twice":      {completed, `"x"}`, `"x","\u0074ype":"ActivityCompleted"}`, `byte 157, key "type": key occurs twice`},
		"kind's field twice":     {completed, `"x"}`, `"x","result":"y"}`, `byte 157, key "result": key occurs twice`},
		"optional field twice":   {scheduled, `"x"}`, `"x","tag":"a","tag":null}`, `byte 177, key "tag": key occurs twice`},
		"details' field twice":   {failed, `"retryable":false`, `"retryable":false,"message":"n"`, `byte 217, key "message": key occurs twice`},

		// Names.
		"unknown type":         {completed, `"ActivityCompleted"`, `"ActivityDone"`, `byte 124, key "type": unknown event type "ActivityDone"`},
		"type in another case": {completed, `"ActivityCompleted"`, `"activityCompleted"`, `byte 124, key "type": unknown event type "activityCompleted"`},
		"Go name of a kind":    {completed, `"ActivityCompleted"`, `"QueueSubscribed"`, `byte 124, key "type": unknown event type "QueueSubscribed"`},
		"empty type":           {completed, `"ActivityCompleted"`, `""`, `byte 124, key "type": unknown event type ""`},
		"type is no string":    {completed, `"ActivityCompleted"`, `7`, `byte 124, key "type": expected a string`},
		"unknown type, shortened": {
			completed, `"ActivityCompleted"`, `"` + strings.Repeat("x", 999) + `"`,
			`byte 124, key "type": unknown event type "` + strings.Repeat("x", 40) + `"…`,
		},
		"unknown error details":   {failed, `"Application"`, `"Network"`, `byte 152, key "details": unknown error details "Network"`},
		"second error details":    {failed, `false}}`, `false},"Poison":{}}`, `byte 217: a second key stands beside the variant's name`},
		"error details as a name": {failed, `{"Application":{"kind":"Panicked","message":"m","retryable":false}}`, `"Application"`, `byte 151, key "details": expected '{'`},
		"no error details":        {failed, `{"Application":{"kind":"Panicked","message":"m","retryable":false}}`, `{}`, `byte 152, key "details": expected a string`},
		"unknown error kind":      {failed, `"Panicked"`, `"Exploded"`, `byte 174, key "kind": unknown error kind "Exploded"`},
		"cancellation as a name":  {failed, `"Panicked"`, `"Cancelled"`, `byte 174, key "kind": unknown error kind "Cancelled"`},
		"panic as an object":      {failed, `"Panicked"`, `{"Panicked":null}`, `byte 175, key "kind": unknown error kind "Panicked"`},
		"no reason":               {cancelled, `"reason":"r"`, ``, `byte 188, key "reason": key is missing`},
		"second error kind":       {cancelled, `{"reason":"r"}`, `{"reason":"r"},"X":1`, `byte 201: a second key stands beside the variant's name`},
		"unknown config kind":     {misfit, `"Nondeterminism"`, `"Determinism"`, `byte 176, key "kind": unknown configuration kind "Determinism"`},
		"unknown message type":    {poisoned, `"Orchestration"`, `"Timer"`, `byte 213, key "message_type": unknown message type "Timer"`},

		// Pairs.
		"null list items":    {started, `[["q","m"]]`, `[null]`, `byte 248, key "carry_forward_events": expected '['`},
		"pair of one":        {started, `[["q","m"]]`, `[["q"]]`, `byte 252, key "carry_forward_events": expected ','`},
		"pair of three":      {started, `[["q","m"]]`, `[["q","m","x"]]`, `byte 256, key "carry_forward_events": expected ']'`},
		"empty pair":         {started, `[["q","m"]]`, `[[]]`, `byte 249, key "carry_forward_events": expected a string`},
		"pair with null":     {started, `[["q","m"]]`, `[["q",null]]`, `byte 253, key "carry_forward_events": expected a string`},
		"pair as an object":  {started, `[["q","m"]]`, `[{"q":"m"}]`, `byte 248, key "carry_forward_events": expected '['`},
		"list as an object":  {started, `[["q","m"]]`, `{}`, `byte 247, key "carry_forward_events": expected '['`},
		"list ends in comma": {started, `[["q","m"]]`, `[["q","m"],]`, `byte 258: expected a value`},
		"list does not end":  {started, `[["q","m"]]}`, `[["q","m"]`, `byte 257: expected ','`},

		// Unknown values must be JSON all the same.
		"unknown: nothing":          {completed, `"x"`, `"x","new":`, `byte 163: expected a value`},
		"unknown: word":             {completed, `"x"`, `"x","new":undefined`, `byte 163: expected a value`},
		"unknown: NaN":              {completed, `"x"`, `"x","new":NaN`, `byte 163: expected a value`},
		"unknown: leading zero":     {completed, `"x"`, `"x","new":00`, `byte 165: expected a value`},
		"unknown: sign alone":       {completed, `"x"`, `"x","new":-`, `byte 164: expected a value`},
		"unknown: point alone":      {completed, `"x"`, `"x","new":1.`, `byte 165: expected a digit`},
		"unknown: exponent alone":   {completed, `"x"`, `"x","new":1e+`, `byte 166: expected a digit`},
		"unknown: list not closed":  {completed, `"x"}`, `"x","new":[1`, `byte 165: expected ','`},
		"unknown: list with object": {completed, `"x"`, `"x","new":[1}`, `byte 165: expected ','`},
		"unknown: key not a string": {completed, `"x"`, `"x","new":{1:2}`, `byte 164: expected a string`},
		"unknown: list's comma":     {completed, `"x"`, `"x","new":[1,]`, `byte 166: expected a value`},
		"unknown: object's comma":   {completed, `"x"`, `"x","new":{"a":1,}`, `byte 170: expected a string`},
		"unknown: too deep":         {completed, `"x"`, `"x","new":` + nested(127), `byte 290: values are nested too deep`},
		"unknown: far too deep":     {completed, `"x"`, `"x","new":` + strings.Repeat(`[`, 1<<20), `byte 290: values are nested too deep`},
		"unknown: deep objects":     {completed, `"x"`, `"x","new":` + strings.Repeat(`{"":`, 1<<20), `byte 668: values are nested too deep`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := replaceOnce(t, test.text, test.old, test.replacement)
			got, err := provider.DecodeEvent([]byte(text))
			if !errors.Is(err, provider.ErrCorrupt) {
				t.Fatalf("error is %v, want ErrCorrupt", err)
			}
			if diff := cmp.Diff(test.want+": corrupt data", err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(provider.Event{}, got); diff != "" {
				t.Errorf("an event beside the error:\n%s", diff)
			}
		})
	}
}

func TestDecodeWorkItemAccepts(t *testing.T) {
	t.Parallel()
	next := provider.ContinueAsNewItem{Instance: "i", Orchestration: "o", Input: "x"}
	for name, test := range map[string]struct {
		text string
		want provider.WorkItem
	}{
		"white space":      {" {\n\"CancelInstance\" : { \"instance\":\"i\" ,\t\"reason\":\"r\" } } ", provider.CancelInstanceItem{Instance: "i", Reason: "r"}},
		"any order":        {`{"CancelInstance":{"reason":"r","instance":"i"}}`, provider.CancelInstanceItem{Instance: "i", Reason: "r"}},
		"unknown key":      {`{"CancelInstance":{"new":[{}],"instance":"i","reason":"r","type":1}}`, provider.CancelInstanceItem{Instance: "i", Reason: "r"}},
		"escaped variant":  {`{"\u0043ancelInstance":{"instance":"i","reason":"r"}}`, provider.CancelInstanceItem{Instance: "i", Reason: "r"}},
		"nullable missing": {`{"StartOrchestration":{"instance":"i","orchestration":"o","input":"x","execution_id":1}}`, provider.StartOrchestrationItem{Instance: "i", Orchestration: "o", Input: "x", ExecutionID: 1}},
		"optional null":    {`{"ActivityExecute":{"instance":"i","execution_id":1,"id":2,"name":"n","input":"x","session_id":null,"tag":null}}`, provider.ActivityExecuteItem{Instance: "i", ExecutionID: 1, ID: 2, Name: "n", Input: "x"}},
		"default on read":  {`{"ContinueAsNew":{"instance":"i","orchestration":"o","input":"x","version":null}}`, next},
		"parent stamp null": {
			`{"StartOrchestration":{"instance":"i","orchestration":"o","input":"x","version":null,"parent_instance":"p","parent_id":2,"parent_execution_id":null,"execution_id":1}}`,
			provider.StartOrchestrationItem{
				Instance: "i", Orchestration: "o", Input: "x", ParentInstance: new("p"), ParentID: new(uint64(2)), ExecutionID: 1,
			},
		},
		"parent link null": {
			`{"ContinueAsNew":{"instance":"i","orchestration":"o","input":"x","version":null,"parent_instance":null,"parent_id":null,"parent_execution_id":null,"carry_forward_events":[]}}`,
			next,
		},
		"parent link last": {
			`{"ContinueAsNew":{"instance":"i","orchestration":"o","input":"x","carry_forward_events":[],"parent_execution_id":1,"parent_id":4,"parent_instance":"p"}}`,
			provider.ContinueAsNewItem{
				Instance: "i", Orchestration: "o", Input: "x",
				ParentInstance: new("p"), ParentID: new(uint64(4)), ParentExecutionID: new(uint64(1)),
			},
		},
		"empty list": {`{"ContinueAsNew":{"instance":"i","orchestration":"o","input":"x","carry_forward_events":[]}}`, next},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := provider.DecodeWorkItem([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeWorkItemRejects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"empty":              {``, `byte 0: expected '{'`},
		"null":               {`null`, `byte 0: expected '{'`},
		"no variant":         {`{}`, `byte 1: expected a string`},
		"variant as a name":  {`"CancelInstance"`, `byte 0: expected '{'`},
		"unknown variant":    {`{"ExternalRaised2":{}}`, `byte 1: unknown work item "ExternalRaised2"`},
		"second variant":     {`{"CancelInstance":{"instance":"i","reason":"r"},"QueueMessage":{}}`, `byte 47: a second key stands beside the variant's name`},
		"second unknown key": {`{"CancelInstance":{"instance":"i","reason":"r"},"new":1}`, `byte 47: a second key stands beside the variant's name`},
		"key before variant": {`{"new":1,"CancelInstance":{"instance":"i","reason":"r"}}`, `byte 1: unknown work item "new"`},
		"body is null":       {`{"CancelInstance":null}`, `byte 18: expected '{'`},
		"body is a list":     {`{"CancelInstance":["i","r"]}`, `byte 18: expected '{'`},
		"missing field":      {`{"CancelInstance":{"instance":"i"}}`, `byte 33, key "reason": key is missing`},
		"field twice":        {`{"CancelInstance":{"instance":"i","reason":"r","instance":"j"}}`, `byte 47, key "instance": key occurs twice`},
		"null for the list":  {`{"ContinueAsNew":{"instance":"i","orchestration":"o","input":"x","version":null,"carry_forward_events":null}}`, `byte 103, key "carry_forward_events": expected '['`},
		"trailing data":      {`{"CancelInstance":{"instance":"i","reason":"r"}}}`, `byte 48: text after the end of the document`},
		"no end":             {`{"CancelInstance":{"instance":"i","reason":"r"}`, `byte 47: expected '}'`},
		"an event":           {completed, `byte 1: unknown work item "event_id"`},
		"invalid UTF-8":      {"{\"CancelInstance\":{\"instance\":\"\x80\",\"reason\":\"r\"}}", `byte 31: text is not valid UTF-8`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := provider.DecodeWorkItem([]byte(test.text))
			if !errors.Is(err, provider.ErrCorrupt) {
				t.Fatalf("error is %v, want ErrCorrupt", err)
			}
			if diff := cmp.Diff(test.want+": corrupt data", err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if got != nil {
				t.Errorf("an item beside the error: %v", got)
			}
		})
	}
}

// TestErrorsHoldNoPayload damages texts in every place. Whatever breaks, the
// error must not repeat what users stored: errors go to logs.
func TestErrorsHoldNoPayload(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, text := range []string{
		strings.ReplaceAll(started, `"x"`, `"`+secret+`"`),
		strings.NewReplacer(`"m"`, `"`+secret+`"`, `"r"`, `"`+secret+`"`).Replace(cancelled),
		strings.ReplaceAll(completed, `"x"`, `"\n`+secret+`","`+secret+`":"`+secret+`"`),
	} {
		for i := range text {
			check := func(damaged string) {
				_, err := provider.DecodeEvent([]byte(damaged))
				if err != nil && (strings.Contains(err.Error(), secret) || !errors.Is(err, provider.ErrCorrupt)) {
					t.Errorf("%s\nbyte %d damaged: %v", damaged, i, err)
				}
			}
			if _, err := provider.DecodeEvent([]byte(text[:i])); err == nil {
				t.Errorf("the first %d bytes alone were accepted: %s", i, text)
			}
			check(text[:i])
			check(text[:i] + text[i+1:])
			for _, c := range "\"\\{}[],:0x\x00\xff" {
				check(text[:i] + string(c) + text[i+1:])
			}
		}
	}
}

func TestEventUnmarshalJSON(t *testing.T) {
	t.Parallel()
	var document struct {
		First  provider.Event  `json:"first"`
		Second provider.Event  `json:"second"`
		Third  *provider.Event `json:"third"`
	}
	document.Second.EventID = 7
	text := `{"first": ` + completed + `, "second": null, "third": null}`
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(kindOf(provider.ActivityCompleted{Result: "x"}), document.First); diff != "" {
		t.Errorf("First (-want +got):\n%s", diff)
	}
	if document.Second.EventID != 7 || document.Third != nil {
		t.Errorf("null changed Second or Third: %+v", document)
	}

	err := json.Unmarshal([]byte(`{"first":{"event_id":1}}`), &document)
	if !errors.Is(err, provider.ErrCorrupt) {
		t.Errorf("error is %v, want ErrCorrupt", err)
	}
	if document.First.EventID != 2 {
		t.Errorf("a failed decode changed the event: %+v", document.First)
	}
}

// Headers are ours, too: a reader that does not know them reads the rest, and none are read
// like empty ones.
func TestHeadersAreAnExtraKey(t *testing.T) {
	t.Parallel()
	const member = `,"headers":"trace=1"`
	read := func(text string) (any, error) {
		if strings.HasPrefix(text, `{"event_id"`) {
			return provider.DecodeEvent([]byte(text))
		}
		return provider.DecodeWorkItem([]byte(text))
	}
	events, items := readGolden(t, "events.golden"), readGolden(t, "workitems.golden")
	for _, text := range []string{
		events["OrchestrationStarted (headers)"], items["StartOrchestration (headers)"],
		items["ActivityExecute (headers)"], items["ContinueAsNew (headers)"],
	} {
		if !strings.Contains(text, member) {
			t.Fatalf("no headers in %s", text)
		}
		want, err := read(strings.Replace(text, member, "", 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{`,"a_later_key":1`, `,"headers":null`, `,"headers":""`} {
			got, err := read(strings.Replace(text, member, other, 1))
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", other, err, diff)
			}
		}
		if _, err := read(strings.Replace(text, member, `,"headers":1`, 1)); !errors.Is(err, provider.ErrCorrupt) {
			t.Errorf("error is %v, want ErrCorrupt", err)
		}
	}
}

// The count of dropped messages is ours. A reader that does not know it takes it for an
// unknown key and reads the rest, and none is read like 0.
func TestDroppedMessagesAreAnExtraKey(t *testing.T) {
	t.Parallel()
	read := map[string]func(string) (any, error){
		"event": func(text string) (any, error) { return provider.DecodeEvent([]byte(text)) },
		"item":  func(text string) (any, error) { return provider.DecodeWorkItem([]byte(text)) },
	}
	events, items := readGolden(t, "events.golden"), readGolden(t, "workitems.golden")
	for _, test := range []struct{ sort, text, member string }{
		{"event", events["OrchestrationStarted (messages dropped)"], `"dropped_messages":14`},
		{"event", events["OrchestrationContinuedAsNew (messages dropped)"], `"dropped_messages":11`},
		{"item", items["ContinueAsNew (messages dropped)"], `"dropped_messages":11`},
	} {
		want, err := read[test.sort](strings.Replace(test.text, ","+test.member, "", 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{`"a_later_key":14`, `"dropped_messages":null`, `"dropped_messages":0`} {
			got, err := read[test.sort](strings.Replace(test.text, test.member, member, 1))
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", member, err, diff)
			}
		}
		for _, member := range []string{`"dropped_messages":-1`, `"dropped_messages":"14"`} {
			if _, err := read[test.sort](strings.Replace(test.text, test.member, member, 1)); !errors.Is(err, provider.ErrCorrupt) {
				t.Errorf("%s: error is %v, want ErrCorrupt", member, err)
			}
		}
	}
}
