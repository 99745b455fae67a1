package mssql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	sqlserver "github.com/microsoft/go-mssqldb"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/internal/columns"
)

// The errors that many numbers share.
var (
	lostRace  = fault{class: undone, sentinel: ErrBusy, advice: "another call got in the way and nothing was stored; try again"}
	exhausted = fault{class: undone, sentinel: ErrBusy, advice: "the server has no memory, workers or sessions left for this call, and nothing was stored; " +
		"try again, and give the database more resources or this program fewer connections (Options.MaxOpenConns) if this goes on"}
	failingOver = fault{class: undone, sentinel: ErrUnreachable, moved: true, advice: "the database is starting, moving or being failed over and takes no calls; try again"}
	// How Azure answers while a database moves, and while a serverless one that was paused resumes, which begins with
	// the first call and takes about a minute.
	resuming = fault{class: undone, sentinel: ErrUnreachable, moved: true, lasts: time.Minute, advice: "the database is paused, starting, moving or being failed over " +
		"and takes no calls; try again"}
	cutOff   = fault{class: unknown, sentinel: ErrUnreachable, advice: "the server ended the call or the session; try again"}
	noReason = fault{class: unknown, advice: "the server failed the call without a reason, or had rolled its transaction back before; try again"}
	full     = fault{class: undone, slow: true, sentinel: ErrFull, advice: "the database is full and nothing was stored: free or add space, then try again"}
	// A primary replica is read-only for a while when it fails over, which must fail nobody's orchestration.
	readOnly = fault{class: undone, slow: true, sentinel: ErrReadOnly, moved: true, advice: "the database is read-only and nothing was stored: " +
		"connect to the primary replica, or make the database writable; then try again"}
	noLogin = fault{sentinel: ErrLogin, advice: "login failed: check the user name and password of the connection string, " +
		"and that the login may use the database"}
	expiredLogin = fault{sentinel: ErrLogin, advice: "login failed: the login is disabled or locked, or its password has expired; have an administrator reset it"}
	// Of Azure's gateway, which has not looked at the password.
	noServer = fault{sentinel: ErrLogin, advice: "Azure knows no server of this name, or no virtual network rule lets this machine's subnet in: give the server's full name " +
		"in the connection string, not an address or an alias; what follows an @ in the user name is taken for the server's name; check the rules if both are right"}
	noAddress = fault{sentinel: ErrLogin, advice: "the firewall of the server in Azure does not let this machine in: have an administrator add a firewall rule for its address; " +
		"it may be five minutes before the rule works"}
	noSubnet = fault{sentinel: ErrLogin, advice: "this machine's subnet reaches the server in Azure by a service endpoint, and the server does not let the subnet in: " +
		"have an administrator add a virtual network rule for its subnet"}
	noPublic = fault{sentinel: ErrLogin, advice: "the server in Azure takes no connections from public networks: connect from its virtual network, where the server's name has to lead to its private endpoint, " +
		"or have an administrator allow public network access"}
	noRights = fault{sentinel: ErrPermission, advice: "permission denied: add the user to the store's role, which is the schema's name followed by _runtime, " +
		"or by _reader for a user who only reads; `duroxide migrate up` takes an owner's rights"}
	noAdmin = fault{sentinel: ErrPermission, advice: "permission denied: deleting and pruning takes the store's role for administration, " +
		"which is the schema's name followed by _admin: add the user to it"}
	noDatabase = fault{sentinel: ErrMissingDatabase, advice: "the database does not exist or is closed to this login: " +
		"check the database in the connection string, create it, or have an administrator add the user"}
	mismatch = fault{sentinel: ErrDamagedSchema, advice: "a table or procedure that this program calls is missing or different: " +
		"bring the schema up to date with `duroxide migrate up`"}
	noIndex = fault{sentinel: ErrDamagedSchema, advice: "an index that this program needs is missing, disabled or different: " +
		"an owner restores it with `duroxide migrate up`"}
	noPlan = fault{sentinel: ErrDamagedSchema, advice: "the server finds no plan for a statement of this program, as when an index was changed: " +
		"`duroxide migrate verify` names what differs and `duroxide migrate up` restores it; please report it if nothing differs"}
	refusedValue = fault{refused: true, advice: "the server does not take a value of this call, which this package should have prevented; please report it"}
)

// faults are the numbers of the server. One that is missing is permanent: a
// programming error, or something an operator must see. For whoever holds a lock it is not, see
// columns.HolderOperations. The negative and small numbers of the .NET client (-2, 20, 64, 121, 233, 10053, 10054,
// 10060) are not here: the server never sends them with that meaning.
var faults = map[int32]fault{
	// The driver's own: a statement was to run in a transaction that the server had
	// already rolled back, or the server failed a request, which it may have carried out,
	// without an error.
	0: noReason,

	601:  lostRace, // the scan met rows that moved
	1205: lostRace, // deadlock victim
	1222: {class: undone, sentinel: ErrBusy, advice: "another session holds a lock for long and nothing was stored; try again, and look for the session that blocks"},
	2601: lostRace, // Two calls inserted the same row at once. Duplicates with a
	2627: lostRace, // meaning have numbers of their own, see meanings.
	2801: lostRace, // a procedure was changed since the call was compiled
	3960: lostRace, // snapshot update conflict
	3958: lostRace, // a row version that was being read is not there,
	3959: lostRace, // the version store is full,
	3966: lostRace, // the row versions that were being read are gone

	41301: lostRace, // memory-optimised tables: dependency failure,
	41302: lostRace, // write conflict,
	41305: lostRace, // repeatable read validation,
	41325: lostRace, // serializable validation,
	41839: lostRace, // too many dependencies

	701:   exhausted, // memory
	802:   exhausted,
	845:   exhausted, // waited too long for a page
	1204:  exhausted, // lock memory
	8645:  exhausted,
	8651:  exhausted,
	10928: exhausted, // Azure: limit of the database,
	10929: exhausted, // of the server,
	10936: exhausted, // of the pool
	49918: exhausted, // Azure: too many operations for the subscription
	49919: exhausted,
	49920: exhausted,
	// Azure asks for ten seconds.
	40501: {class: undone, sentinel: ErrBusy, wait: 10 * time.Second, advice: "the server is too busy and nothing was stored; try again after 10 seconds"},

	615:   failingOver,
	921:   failingOver, // not yet recovered
	922:   failingOver, // being recovered
	926:   failingOver,
	952:   failingOver, // in transition
	976:   failingOver, // replica that takes no calls
	978:   failingOver, // replica that takes only calls that say they read
	983:   failingOver, // replica without role
	988:   failingOver, // without a quorum
	4221:  failingOver, // readable secondary that waits for row versions
	17142: failingOver, // server paused,
	17187: failingOver, // starting,
	17188: failingOver, // shutting down,
	18451: failingOver, // open to administrators only,
	18401: failingOver, // server in script upgrade mode
	40613: resuming,
	// It is also how a failover looks, so that a running store goes on trying. Open
	// reports it at once.
	4060: {class: undone, sentinel: ErrMissingDatabase, advice: noDatabase.advice},

	596:   cutOff, // session killed
	6005:  cutOff, // shutdown
	6006:  cutOff,
	40020: cutOff, // Azure: reconfigured in the middle of the call
	40143: cutOff,
	40166: cutOff,
	40197: cutOff,
	40540: cutOff,
	40549: cutOff, // Azure: the session took too long a transaction,
	40550: cutOff, // too many locks,
	40551: cutOff, // too much of tempdb,
	40552: cutOff, // of the transaction log,
	40553: cutOff, // or of memory

	1101:  full,
	1105:  full,
	9002:  full, // transaction log
	40544: full, // Azure: quota

	3906: readOnly,
	3908: readOnly,

	4064:  noDatabase, // the login's default database
	911:   noDatabase,
	18452: noLogin,
	18456: noLogin,
	18470: expiredLogin,
	18486: expiredLogin,
	18487: expiredLogin,
	18488: expiredLogin,
	40532: noServer,
	40615: noAddress,
	40914: noSubnet,
	47073: noPublic,
	916:   {sentinel: ErrPermission, advice: noDatabase.advice},

	229:   noRights,
	230:   noRights,
	262:   noRights,
	297:   noRights,
	300:   noRights,
	15247: noRights,

	201:  mismatch, // parameter missing
	207:  mismatch, // column
	208:  mismatch, // object
	2715: mismatch, // type
	2812: mismatch, // procedure
	8144: mismatch, // too many arguments
	8145: mismatch, // unknown parameter
	1934: {sentinel: ErrDamagedSchema, advice: "a procedure was deployed with other SET options than this package uses: deploy it again with `duroxide migrate up`"},

	1088: mismatch,

	307:  noIndex, // missing
	308:  noIndex,
	315:  noIndex, // disabled
	316:  noIndex,
	362:  noIndex, // other columns than a hint names
	365:  noIndex,
	8655: noIndex, // the clustered index is disabled
	8622: noPlan,  // under the hints
	8623: noPlan,
	8624: noPlan,

	220:  refusedValue, // overflow
	232:  refusedValue,
	241:  refusedValue, // conversion
	242:  refusedValue,
	244:  refusedValue, // overflow
	245:  refusedValue, // conversion
	248:  refusedValue, // overflow
	295:  refusedValue, // conversion
	511:  refusedValue, // row too long
	515:  refusedValue, // NULL
	547:  refusedValue, // constraint
	1946: refusedValue, // key too long
	2628: refusedValue, // text too long
	8029: refusedValue, // malformed parameter
	8114: refusedValue, // conversion
	8115: refusedValue, // overflow
	8152: refusedValue, // text too long
	8169: refusedValue, // conversion

}

// quoting are the numbers whose texts quote values, which may be somebody's data.
var quoting = []int32{220, 232, 241, 244, 245, 248, 295, 547, 2601, 2627, 2628, 8114, 8115, 8169, 9420}

// adminOperations are those whose procedures are granted to the role for administration.
var adminOperations = []string{
	"delete_instance", "delete_instances_atomic", "delete_instance_bulk", "delete_orphan_messages", "prune_executions", "prune_executions_bulk",
}

// judgeNumbers tells what an error of the server means. The server may report several
// at once: the one that says why comes first, and behind it stand consequences such as
// "the login failed" (18456) behind a missing database (4060).
func judgeNumbers(reported sqlserver.Error) fault {
	for _, e := range all(reported) {
		f, known := faults[e.Number]
		if !known {
			continue
		}
		f.advice += detail(e)
		return f
	}
	for _, e := range all(reported) {
		if f, known := judgeSeverity(e.Class); known {
			f.advice += detail(e)
			return f
		}
	}
	// The last one is what the driver takes for the whole.
	return fault{advice: "unexpected error of the server, please report it" + detail(reported)}
}

// judgeSeverity tells what the severity of an error means whose number is not known. The server ends the session with
// one from 20 on; 17 is a lack of resources or a limit that an administrator has set, and 19 a limit that nobody can
// set. A turn that such an error meets must not count as refused: its orchestration would fail.
func judgeSeverity(severity uint8) (f fault, known bool) {
	switch {
	case severity >= 20:
		return cutOff, true
	case severity == 17 || severity == 19:
		return exhausted, true
	}
	return fault{}, false
}

// detail identifies an error of the server, and quotes its text if that is safe.
func detail(e sqlserver.Error) string {
	where := ""
	if e.ProcName != "" {
		where = fmt.Sprintf(" in %s, line %d", e.ProcName, e.LineNo)
	}
	if slices.Contains(quoting, e.Number) || e.Message == "" {
		return fmt.Sprintf(" (SQL Server error %d%s)", e.Number, where)
	}
	return fmt.Sprintf(" (SQL Server error %d%s: %s)", e.Number, where, e.Message)
}

// all returns the errors in the order in which the server reported them.
func all(reported sqlserver.Error) []sqlserver.Error {
	if len(reported.All) == 0 {
		return []sqlserver.Error{reported}
	}
	return reported.All
}

// has reports whether the server reported the number.
func has(reported sqlserver.Error, number int32) bool {
	return slices.ContainsFunc(all(reported), func(e sqlserver.Error) bool { return e.Number == number })
}

// judgeUnconnected tells why there is no connection, where the server was not reached
// or did not get to say it by a number. Nothing was sent.
func judgeUnconnected(err error) fault {
	_, badTLS := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	_, untrusted := errors.AsType[x509.UnknownAuthorityError](err)
	_, misnamed := errors.AsType[x509.HostnameError](err)
	if badTLS || noTLS || untrusted || misnamed {
		return fault{sentinel: ErrUnreachable, advice: fmt.Sprintf("the server's certificate is not accepted: install the authority that signed it, "+
			"or name it in the connection string with certificate=FILE (%s)", oneLine(err))}
	}
	advice := "the server takes no connection: check the parameters of the connection string, above all encrypt and how it logs in"
	if _, ok := errors.AsType[net.Error](err); ok || errors.Is(err, context.DeadlineExceeded) {
		advice = "cannot connect to the server: check the host and port of the connection string, that the server runs, and that no firewall is between"
	}
	return fault{class: undone, sentinel: ErrUnreachable, advice: fmt.Sprintf("%s (%s)", advice, oneLine(err))}
}

// oneLine is the text of an error as one line: whoever gives out tokens reports several.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// errUnregistered is no caller's business: a fetch registers its set and is run again,
// see [codeSelection.fetch].
var errUnregistered = errors.New("the worker's list of known names was removed from the store right after it was registered")

// meanings are the numbers that the procedures throw. Each says what the call met, and
// no repetition changes it.
var meanings = map[int32]struct {
	sentinel error
	text     func(operation, message string) string
}{
	50001: {errors.ErrUnsupported, theMessage},
	50010: {provider.ErrInvalidLockToken, invalidToken},
	50011: {provider.ErrLockExpired, lockExpired},
	50012: {provider.ErrInvalidArgument, theMessage},
	50013: {provider.ErrDuplicateEvent, theMessage},
	50014: {errUnregistered, theMessage},
}

// meaning is the error of operation that a procedure threw on purpose, or nil.
func meaning(operation string, reported sqlserver.Error) error {
	for _, e := range all(reported) {
		if m, ok := meanings[e.Number]; ok {
			return provider.Permanent(operation, m.text(operation, e.Message), fmt.Errorf("%w: %w", m.sentinel, reported))
		}
	}
	return nil
}

// theMessage is the text of an error whose procedure has it as the contract wants it.
func theMessage(_, message string) string { return message }

// invalidToken and lockExpired are texts of errors whose procedures do not know what the
// token was for.
func invalidToken(operation, _ string) string { return columns.InvalidTokenText(operation) }
func lockExpired(operation, _ string) string  { return columns.LockExpiredText(operation) }

// unknownToken is the error of a token that this package has never made: nobody holds
// it, and no server has to be asked.
func unknownToken(operation string) error { return columns.InvalidToken(operation) }
