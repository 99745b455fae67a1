package sqlite

import (
	"crypto/rand"
	"strconv"
	"strings"
)

// A lock token names what it locks, beside a secret that is stored there: so it is found
// without an index of tokens, which each lock and each end of one would have to change.

// secretLength is that of a secret, 128 random bits as text.
const secretLength = 26

func newSecret() string { return rand.Text() }

// turnToken is the token of an instance's lease.
func turnToken(secret, instance string) string { return secret + "-" + instance }

// cutTurnToken takes a token apart. A text that is no token fits no instance.
func cutTurnToken(token string) (secret, instance string) {
	if len(token) <= secretLength || token[secretLength] != '-' {
		return "", ""
	}
	return token[:secretLength], token[secretLength+1:]
}

// workToken is the token of an activity's lease.
func workToken(secret string, id int64) string { return secret + "-" + strconv.FormatInt(id, 10) }

// cutWorkToken takes a token apart. A text that is no token fits no activity.
func cutWorkToken(token string) (secret string, id int64) {
	secret, text, _ := strings.Cut(token, "-")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", 0
	}
	return secret, id
}
