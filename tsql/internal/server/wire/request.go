package wire

import (
	"github.com/duroxide/duroxide-go/tsql/internal/server/request"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
)

// headerTransaction is the number of the header that names the transaction that a request belongs to.
const headerTransaction = 2

// headers reads ALL_HEADERS, with which all requests begin, and returns the transaction that they name.
func (c *cursor) headers() (transaction uint64) {
	size := int(int32(c.uint32()))
	all := newCursor(c.take(size - 4))
	for c.err == nil && !all.done() {
		n := int(int32(all.uint32()))
		h := newCursor(all.take(n - 4))
		if h.uint16() == headerTransaction {
			transaction = h.uint64()
		}
		if all.err != nil || h.err != nil {
			c.fail("the headers of a request are broken")
		}
	}
	return transaction
}

// parseBatch reads a batch: headers and a text.
func parseBatch(payload []byte) (request.Batch, error) {
	c := newCursor(payload)
	transaction := c.headers()
	if c.err == nil && len(c.rest)%2 != 0 {
		c.fail("the text of a batch has %d bytes", len(c.rest))
	}
	return request.Batch{Text: value.DecodeUTF16(c.rest), Transaction: transaction}, c.err
}

// The requests of the transaction manager that the server knows.
const (
	transactionBegin    = 5
	transactionCommit   = 7
	transactionRollback = 8
	transactionSave     = 9
)

// isolations are the levels by their numbers; 0 is the current one.
var isolations = []string{"", "READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "SNAPSHOT"}

// parseTransaction reads a request of the transaction manager. A *fault.Error is about one that is not supported.
func parseTransaction(payload []byte) (request.Transaction, error) {
	c := newCursor(payload)
	t := request.Transaction{Current: c.headers()}
	switch kind := c.uint16(); {
	case c.err != nil:
	case kind == transactionBegin:
		t.Verb, t.Isolation, t.Name = "BEGIN", c.isolation(), c.shortText()
	case kind == transactionCommit, kind == transactionRollback:
		const beginsAnother = 1
		t.Verb = choose(kind == transactionCommit, "COMMIT", "ROLLBACK")
		t.Name = c.shortText()
		if c.byte()&beginsAnother != 0 {
			t.Begin, t.Isolation = true, c.isolation()
			c.shortText() // the name of the new one, which has no use
		}
	case kind == transactionSave:
		t.Verb, t.Name = "SAVE", c.shortText()
	default:
		return t, unsupported("the request %d of the transaction manager (a distributed transaction)", kind)
	}
	return t, c.err
}

// isolation reads an isolation level.
func (c *cursor) isolation() string {
	level := int(c.byte())
	if level >= len(isolations) {
		c.fail("the isolation level %d", level)
		return ""
	}
	return isolations[level]
}
