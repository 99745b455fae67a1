package mssql

import (
	"strconv"

	mssqldriver "github.com/microsoft/go-mssqldb"
)

// A lock token names its row (an activity by its id, a turn by its instance), beside a secret that is stored there.
// So the row is found by its key, without an index of tokens, which each claim and each end of one would have to
// change.

// secretLength is that of a secret as text.
const secretLength = 36

// workToken is the token of an activity's lease, as callers get it.
func workToken(secret mssqldriver.UniqueIdentifier, id int64) string {
	return tokenText(secret) + "-" + strconv.FormatInt(id, 10)
}

// cutWorkToken takes a token apart. ok is false for a text that workToken does not write: nobody holds such a token.
func cutWorkToken(token string) (secret mssqldriver.UniqueIdentifier, id int64, ok bool) {
	secret, row, ok := cutToken(token)
	if !ok {
		return secret, 0, false
	}
	id, err := strconv.ParseInt(row, 10, 64)
	return secret, id, err == nil && strconv.FormatInt(id, 10) == row
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
	secret, row, ok := cutToken(token)
	if !ok {
		return l, false
	}
	l.secret = secret
	l.instance, ok = lookupID(row)
	return l, ok
}

// cutToken takes the secret off a token of either kind, and leaves what names the row.
func cutToken(token string) (secret mssqldriver.UniqueIdentifier, row string, ok bool) {
	if len(token) <= secretLength || token[secretLength] != '-' {
		return secret, "", false
	}
	secret, ok = parseToken(token[:secretLength])
	return secret, token[secretLength+1:], ok
}
