package tdsproxy

import "fmt"

// Request is a message of a client after its login.
type Request struct {
	// Number counts the requests of the proxy from 1, Conn its connections.
	Number, Conn int
	Type         Type
	// Name is the procedure that an RPC calls, or how the text of a batch begins; empty for the rest.
	Name string
	// Text is what the procedure sp_executesql is to run, if that is what an RPC calls.
	Text string
	// Size is the request's length in bytes, packet headers included.
	Size int
	// Resets says that the request asks the server to reset the session first, as a driver does with the first request
	// on a connection that it takes out of its pool. That costs no round trip.
	Resets bool
}

// String describes the request in a word or two.
func (r Request) String() string {
	if r.Name == "" {
		return r.Type.String()
	}
	return fmt.Sprintf("%s %q", r.Type, r.Name)
}

// Action says what is to become of a request and of its answer. The zero value lets both through.
type Action struct {
	// HoldRequest, unless nil, holds the request back until it is closed; HoldAnswer does so with the answer. Whatever
	// follows in the same direction waits behind it. Closing the connection ends the wait.
	HoldRequest, HoldAnswer <-chan struct{}
	Fault                   Fault
	// After is how many bytes, packet headers included, are let through before CutRequest or CutAnswer strikes.
	After int
}

// Fault is what goes wrong.
type Fault int

const (
	// None lets the request and its answer through.
	None Fault = iota
	// CutRequest lets the first Action.After bytes of the request through and then closes the connection on both
	// sides: with 0 the server never hears of the request, with Request.Size it hears all of it, and may or may not
	// have carried it out when it notices that nobody is there.
	CutRequest
	// CutAnswer waits for the answer, lets its first Action.After bytes through, and closes the connection on both
	// sides. A server that answers once it is done has then done it. An answer that is not longer arrives as a whole,
	// and the connection is closed after it.
	CutAnswer
	// SwallowAnswer keeps the whole answer from the client and leaves the connection open.
	SwallowAnswer
)

// Counts is how many requests of each type there were.
type Counts struct {
	Batches, RPCs, Attentions, BulkLoads, Transactions int
}

// Total is the number of requests of all types: round trips, if none was an attention.
func (c Counts) Total() int {
	return c.Batches + c.RPCs + c.Attentions + c.BulkLoads + c.Transactions
}

// Minus is what has come since the earlier counts.
func (c Counts) Minus(earlier Counts) Counts {
	return Counts{
		Batches:      c.Batches - earlier.Batches,
		RPCs:         c.RPCs - earlier.RPCs,
		Attentions:   c.Attentions - earlier.Attentions,
		BulkLoads:    c.BulkLoads - earlier.BulkLoads,
		Transactions: c.Transactions - earlier.Transactions,
	}
}

// Plus is the counts with one more of the type.
func (c Counts) Plus(t Type) Counts {
	switch t {
	case Batch:
		c.Batches++
	case RPC:
		c.RPCs++
	case Attention:
		c.Attentions++
	case BulkLoad:
		c.BulkLoads++
	case Transaction:
		c.Transactions++
	}
	return c
}
