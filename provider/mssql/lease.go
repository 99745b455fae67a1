package mssql

import (
	mssqldriver "github.com/microsoft/go-mssqldb"
)

// A lock token names the row that it locks, beside a secret that is stored there. So the row is found by its key, without
// an index of tokens, which each claim and each end of one would have to change.

// secretLength is that of a secret as text.
const secretLength = 36

// A turnLease is what the lock token of a turn says.
type turnLease struct {
	secret   mssqldriver.UniqueIdentifier
	instance string // as its column has it
}

// text is the lock token.
func (l turnLease) text() string { return tokenText(l.secret) + "-" + restored(l.instance) }

// cutTurnToken takes a token apart. ok is false for a text that is no turn's token: nobody holds such a token.
func cutTurnToken(token string) (l turnLease, ok bool) {
	if len(token) <= secretLength || token[secretLength] != '-' {
		return l, false
	}
	if l.instance, ok = lookupID(token[secretLength+1:]); ok {
		l.secret, ok = parseToken(token[:secretLength])
	}
	return l, ok
}
