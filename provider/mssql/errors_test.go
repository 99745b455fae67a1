package mssql

import (
	"context"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sqlserver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/gen/mssqldb"
	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
	scripts "github.com/duroxide/duroxide-go/sql"
)

// reported is an error of the server with the number.
func reported(number int32) sqlserver.Error {
	return sqlserver.Error{Number: number, Message: fmt.Sprint("text of ", number)}
}

// TestJudgeNumbers has every number that is known.
func TestJudgeNumbers(t *testing.T) {
	t.Parallel()
	type want struct {
		class    class
		sentinel error
	}
	cases := map[want][]int32{
		{undone, ErrBusy}: {
			601, 1205, 1222, 2601, 2627, 2801, 3960, 3966, 41301, 41302, 41305, 41325, 41839, 3958, 3959,
			701, 802, 845, 1204, 8645, 8651, 10928, 10929, 10936, 40501, 49918, 49919, 49920,
		},
		{undone, ErrUnreachable}:     {615, 921, 922, 926, 952, 976, 978, 983, 988, 4221, 17142, 17187, 17188, 18401, 18451, 40613},
		{undone, ErrMissingDatabase}: {4060},
		{undone, ErrFull}:            {1101, 1105, 9002, 40544},
		{unknown, ErrUnreachable}:    {596, 6005, 6006, 40020, 40143, 40166, 40197, 40540, 40549, 40550, 40551, 40552, 40553},
		{unknown, nil}:               {0},
		{undone, ErrReadOnly}:        {3906, 3908},
		{permanent, ErrLogin}:        {18452, 18456, 18470, 18486, 18487, 18488, 40532, 40615, 40914, 47073},
		{permanent, ErrPermission}:   {229, 230, 262, 297, 300, 916, 15247},
		{permanent, ErrMissingDatabase}: {
			911, 4064,
		},
		{permanent, ErrDamagedSchema}: {
			201, 207, 208, 307, 308, 315, 316, 362, 365, 1088, 1934, 2715, 2812, 8144, 8145, 8622, 8623, 8624, 8655,
		},
		{permanent, nil}: {
			220, 232, 241, 242, 244, 245, 248, 295, 511, 515, 547, 1946, 2628, 8029, 8114, 8115, 8152, 8169,
		},
	}
	tested := 0
	for w, numbers := range cases {
		for _, number := range numbers {
			tested++
			f := judge(reported(number))
			if f.class != w.class || !errors.Is(f.sentinel, w.sentinel) {
				t.Errorf("error %d is of class %d and %v; want %d and %v", number, f.class, f.sentinel, w.class, w.sentinel)
			}
			if !strings.Contains(f.advice, fmt.Sprint("SQL Server error ", number)) || len(f.advice) < 50 {
				t.Errorf("error %d has the advice %q; want what to do, and the number", number, f.advice)
			}
		}
	}
	if tested != len(faults) {
		t.Errorf("%d numbers are tested and %d are known", tested, len(faults))
	}
}

// The numbers that the .NET client makes up, and any other, have no meaning: a server
// that sends one has met something unexpected.
func TestJudgeUnknownNumbers(t *testing.T) {
	t.Parallel()
	for _, number := range []int32{-2, 20, 64, 121, 233, 10053, 10054, 10060, 8134, 50999} {
		f := judge(reported(number))
		if f.class != permanent || f.sentinel != nil || !strings.Contains(f.advice, fmt.Sprint(number)) {
			t.Errorf("error %d is judged %+v; want an unknown one", number, f)
		}
	}
}

// Of a number that is not known, the severity tells whether to try again: from 20 on the server has ended the session,
// so that the outcome of the call is unknown, and 17 and 19 are a lack of resources.
func TestJudgeSeverities(t *testing.T) {
	t.Parallel()
	for severity, want := range map[uint8]fault{13: {}, 16: {}, 17: exhausted, 18: {}, 19: exhausted, 20: cutOff, 21: cutOff, 24: cutOff} {
		unheard := sqlserver.Error{Number: 3999, Class: severity, Message: "something"}
		f := judge(unheard)
		if f.class != want.class || !errors.Is(f.sentinel, want.sentinel) || !strings.Contains(f.advice, "3999") {
			t.Errorf("severity %d is judged %+v; want the class and the sentinel of %+v", severity, f, want)
		}
	}
	first := sqlserver.Error{Number: 3998, Class: 20, Message: "why"}
	if f := judge(sqlserver.Error{Number: 3999, Class: 16, All: []sqlserver.Error{first, {Number: 3999, Class: 16}}}); f.class != unknown {
		t.Errorf("an error that ended the session, with another behind it, is judged %+v", f)
	}
}

func TestJudgeTypes(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, c := range map[string]struct {
		err      error
		class    class
		sentinel error
	}{
		"broken stream":                  {sqlserver.StreamError{InnerError: io.ErrUnexpectedEOF}, unknown, ErrUnreachable},
		"server ended the session":       {sqlserver.ServerError{}, unknown, ErrUnreachable},
		"request cut short":              {sqlserver.RetryableError{}, unknown, ErrUnreachable},
		"network":                        {&net.OpError{Op: "read", Err: errors.New("reset")}, unknown, ErrUnreachable},
		"end of file":                    {fmt.Errorf("reading: %w", io.EOF), unknown, ErrUnreachable},
		"unexpected end of file":         {io.ErrUnexpectedEOF, unknown, ErrUnreachable},
		"bad connection":                 {driver.ErrBadConn, unknown, ErrUnreachable},
		"only a text, connection broken": {&broken{errors.New("failed to send RPC: …")}, unknown, ErrUnreachable},
		"only a text":                    {errors.New("no such column type"), permanent, nil},
		"a number, connection broken":    {&broken{reported(1205)}, undone, ErrBusy},
		"not connected":                  {&unconnected{dial}, undone, ErrUnreachable},
		"not connected, no such host":    {&unconnected{&net.DNSError{}}, undone, ErrUnreachable},
		"not connected, dial timeout":    {&unconnected{context.DeadlineExceeded}, undone, ErrUnreachable},
		"not connected, only a text":     {&unconnected{errors.New("login error: …")}, undone, ErrUnreachable},
		"not connected, certificate":     {&unconnected{x509.UnknownAuthorityError{}}, permanent, ErrUnreachable},
		"not connected, wrong password":  {&unconnected{reported(18456)}, permanent, ErrLogin},
		"context":                        {context.Canceled, unknown, nil},
		"time is up":                     {errors.Join(errTimeout, context.DeadlineExceeded), unknown, ErrUnreachable},
		"time is up, not connected":      {errors.Join(errTimeout, &unconnected{context.DeadlineExceeded}), undone, ErrUnreachable},
		"other result sets":              {fmt.Errorf("x: %w", mssqldb.ErrShape), permanent, ErrDamagedSchema},
		"argument out of range":          {fmt.Errorf("x: %w", mssqldb.ErrArgument), permanent, provider.ErrInvalidArgument},
		"schema":                         {fmt.Errorf("%w: run it", ErrOldSchema), permanent, nil},
		"not an owner":                   {fmt.Errorf("%w: ask one (%w)", ErrPermission, reported(2760)), permanent, nil},
	} {
		f := judge(c.err)
		if f.class != c.class || !errors.Is(f.sentinel, c.sentinel) {
			t.Errorf("%s: class %d and %v; want %d and %v", name, f.class, f.sentinel, c.class, c.sentinel)
		}
		if err := f.report("op", c.err); !errors.Is(err, c.err) && c.err != nil && !isIncomparable(c.err) {
			t.Errorf("%s: %v has lost its cause", name, err)
		}
		if f.advice == "" {
			t.Errorf("%s has no text", name)
		}
	}
}

// isIncomparable tells the errors that errors.Is cannot find by themselves.
func isIncomparable(err error) bool {
	_, ok := errors.AsType[sqlserver.Error](err)
	return ok
}

// What the server says first is the cause; what follows are consequences.
func TestTheFirstKnownNumberCounts(t *testing.T) {
	t.Parallel()
	all := []sqlserver.Error{reported(5701), reported(4060), reported(18456)}
	whole := all[2]
	whole.All = all
	if f := judge(whole); !errors.Is(f.sentinel, ErrMissingDatabase) {
		t.Errorf("judged %+v; want %v", f, ErrMissingDatabase)
	}
	if !has(whole, 18456) || has(whole, 1222) || isLockTimeout(whole) || !isLockTimeout(fmt.Errorf("x: %w", reported(1222))) {
		t.Error("has and isLockTimeout look at the wrong numbers")
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	if err := classify("op", nil); err != nil {
		t.Errorf("nil became %v", err)
	}
	known := provider.Retryable("op", "text", nil)
	if err := classify("other", fmt.Errorf("wrapped: %w", known)); !errors.Is(err, known) {
		t.Errorf("a classified error became %v", err)
	}
	err := classify("read", fmt.Errorf("mssqldb: read: %w", reported(1205)))
	if got, ok := errors.AsType[*provider.Error](err); !ok || !got.Retryable || got.Operation != "read" || !errors.Is(err, ErrBusy) {
		t.Errorf("a deadlock became %#v", err)
	}
	if original, ok := errors.AsType[sqlserver.Error](err); !ok || original.Number != 1205 {
		t.Error("the driver's error was lost")
	}
}

// What Azure's gateway refuses an administrator can mend, which each text says how: nobody repeats it at once, and who
// holds a lock keeps it.
func TestRefusalsOfTheGateway(t *testing.T) {
	t.Parallel()
	for number, advice := range map[int32]string{
		40532: "full name", 40615: "firewall rule for its address", 40914: "virtual network rule for its subnet", 47073: "private endpoint",
	} {
		err := fmt.Errorf("login error: %w", &unconnected{reported(number)})
		if f := judge(err); f.worthRepeating(true) {
			t.Errorf("error %d is repeated", number)
		}
		for operation, retryable := range map[string]bool{openOperation: false, "fetch_work_item": false, opAckWork: true, opAckOrchestration: true} {
			got := classify(operation, err)
			if !errors.Is(got, ErrLogin) || provider.IsRetryable(got) != retryable || !strings.Contains(got.Error(), advice) {
				t.Errorf("error %d in %s became %v, want ErrLogin that says %q, retryable: %t", number, operation, got, advice, retryable)
			}
		}
	}
}

// What prevented a call from being sent is not the fault of what the caller holds, also if the server's number
// for it is not known.
func TestUnsentCallsOfHoldersAreRetryable(t *testing.T) {
	t.Parallel()
	err := &unconnected{sqlserver.Error{Number: 18999, Class: 14, Message: "not today"}}
	for _, operation := range columns.HolderOperations {
		if !provider.IsRetryable(classify(operation, err)) {
			t.Errorf("%s: a call that was not sent is refused for ever", operation)
		}
	}
	if provider.IsRetryable(classify("start_instance", err)) {
		t.Error("nobody's work waits for a start, which should fail at once")
	}
}

// To whoever holds a lock only a value that the server does not take is refused for good. Every other number is of
// unknown outcome, whoever knows it: a failed turn or a cancelled activity is the work of years, and an index is made
// again in minutes.
func TestOnlyListedNumbersArePermanentToHolders(t *testing.T) {
	t.Parallel()
	refused := []int32{220, 232, 241, 242, 244, 245, 248, 295, 511, 515, 547, 1946, 2628, 8029, 8114, 8115, 8152, 8169}
	for number := range int32(50000) {
		for _, operation := range []string{opAckOrchestration, "renew_work_item_lock"} {
			if retryable := provider.IsRetryable(classify(operation, reported(number))); retryable == slices.Contains(refused, number) {
				t.Errorf("%s: error %d is retryable: %t", operation, number, retryable)
			}
		}
	}
	if err := classify(opAckOrchestration, fmt.Errorf("x: %w", mssqldb.ErrArgument)); provider.IsRetryable(err) {
		t.Errorf("an argument that was not even sent is refused as %v", err)
	}
}

// What somebody has to mend says nothing about the work, so that a worker does not count it as an attempt.
func TestErrorsOfADatabaseToMend(t *testing.T) {
	t.Parallel()
	for number, want := range map[int32]bool{308: true, 315: true, 8622: true, 229: true, 9002: true, 3906: true, 208: true, 1205: false, 8115: false, 8134: false} {
		if err := classify(opAckOrchestration, reported(number)); errors.Is(err, provider.ErrOutOfOrder) != want {
			t.Errorf("error %d became %v, which says that somebody has to mend the store: %t", number, err, !want)
		}
	}
}

// No repeating for what takes longer than a call may.
func TestWorthRepeating(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err         error
		once, twice bool
	}{
		"deadlock":           {reported(1205), true, true},
		"throttled":          {reported(40501), true, true},
		"connection broke":   {io.EOF, false, true},
		"not connected":      {&unconnected{io.EOF}, true, true},
		"time is up":         {errTimeout, false, false},
		"disk full":          {reported(9002), false, false},
		"permission":         {reported(229), false, false},
		"invalid token":      {reported(50010), false, false},
		"programming error":  {errors.New("x"), false, false},
		"session was killed": {reported(596), false, true},
		"failover under way": {reported(40613), true, true},
		"Azure cut the call": {reported(40197), false, true},
	} {
		f := judge(c.err)
		if once, twice := f.worthRepeating(false), f.worthRepeating(true); once != c.once || twice != c.twice {
			t.Errorf("%s: repeated %t, and %t where that is safe; want %t and %t", name, once, twice, c.once, c.twice)
		}
	}
	if wait := judge(reported(40501)).wait; wait < 10*time.Second {
		t.Errorf("a throttled call is repeated after %v; Azure asks for ten seconds", wait)
	}
}

// Texts of the server that quote values stay out of ours.
func TestValuesAreNotQuoted(t *testing.T) {
	t.Parallel()
	for _, number := range quoting {
		e := reported(number)
		e.Message = "the value is 'secret'"
		if f := judge(e); strings.Contains(f.advice, "secret") {
			t.Errorf("error %d is reported as %q", number, f.advice)
		}
	}
}

func TestMeanings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		number    int32
		operation string
		sentinel  error
		text      string
	}{
		{50010, "ack_orchestration_item", provider.ErrInvalidLockToken, "Invalid lock token: the turn"},
		{50010, "ack_work_item", provider.ErrInvalidLockToken, "Invalid lock token: the activity"},
		{50010, "renew_work_item_lock", provider.ErrInvalidLockToken, "Invalid lock token: the activity"},
		{50010, "abandon_work_item", provider.ErrInvalidLockToken, "Invalid lock token or already acked"},
		{50011, "renew_orchestration_item_lock", provider.ErrLockExpired, "Instance lock expired"},
		{50011, "ack_work_item", provider.ErrLockExpired, "Activity lock expired"},
		{50012, "ack_orchestration_item", provider.ErrInvalidArgument, "text of 50012"},
		{50013, "append_with_execution", provider.ErrDuplicateEvent, "text of 50013"},
		{50014, "fetch_work_item", errUnregistered, "text of 50014"},
		{50001, "read", errors.ErrUnsupported, "text of 50001"},
	} {
		// A consequence behind the error changes nothing.
		e := reported(266)
		e.All = []sqlserver.Error{reported(c.number), e}
		err := classify(c.operation, fmt.Errorf("mssqldb: %w", e))
		got, ok := errors.AsType[*provider.Error](err)
		if !ok || got.Retryable || !errors.Is(err, c.sentinel) || !strings.HasPrefix(got.Message, c.text) {
			t.Errorf("%d in %s became %v; want a permanent %v that begins with %q", c.number, c.operation, err, c.sentinel, c.text)
		}
	}
}

// TestEveryThrownNumberHasAMeaning reads the procedures.
func TestEveryThrownNumberHasAMeaning(t *testing.T) {
	t.Parallel()
	throw := regexp.MustCompile(`(?i)\bTHROW\s+(\d+)`)
	var thrown []int
	err := fs.WalkDir(scripts.MSSQLScripts(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(scripts.MSSQLScripts(), path)
		for _, match := range throw.FindAllStringSubmatch(string(text), -1) {
			number, _ := strconv.Atoi(match[1])
			thrown = append(thrown, number)
			if _, ok := meanings[int32(number)]; !ok {
				t.Errorf("%s throws %d, which means nothing here", path, number)
			}
		}
		return err
	})
	if err != nil || !slices.Contains(thrown, 50010) {
		t.Errorf("found %v, %v", thrown, err)
	}
}
