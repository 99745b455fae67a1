package mssql

import (
	"strconv"

	mssqldriver "github.com/microsoft/go-mssqldb"
)

// A lock token of an activity names its row, beside a secret that is stored there. So the row is found by its key,
// without an index of tokens, which each claim and each end of one would have to change.

// secretLength is that of a secret as text.
const secretLength = 36

// workToken is the token of an activity's lease, as callers get it.
func workToken(secret mssqldriver.UniqueIdentifier, id int64) string {
	return tokenText(secret) + "-" + strconv.FormatInt(id, 10)
}

// cutWorkToken takes a token apart. ok is false for a text that workToken does not write: nobody holds such a token.
func cutWorkToken(token string) (secret mssqldriver.UniqueIdentifier, id int64, ok bool) {
	if len(token) <= secretLength || token[secretLength] != '-' {
		return secret, 0, false
	}
	text := token[secretLength+1:]
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != text {
		return secret, 0, false
	}
	secret, ok = parseToken(token[:secretLength])
	return secret, id, ok
}

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
