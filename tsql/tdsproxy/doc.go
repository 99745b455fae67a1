// Package tdsproxy is a proxy for tests that stands between a client and a T-SQL server, counts what the client asks
// for, and breaks the connection at a chosen byte.
//
// It understands the framing of TDS (Microsoft's MS-TDS, section 2.2.3.1: packets of eight bytes of header and up to
// 32 KB, of which the last of a message is marked) and the few packet types that are requests. It therefore knows
// where a request ends and its answer begins, without looking at either. A mock of the driver could not break a
// connection in the middle of an answer, and a plain TCP proxy would not know that it does.
//
// The connection must not be encrypted as a whole: the client has to ask for encrypt=disable, or for encrypt=false,
// with which only its login is.
package tdsproxy
