package model

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// initialisms are the words that Go writes in capitals: those of Go's own style guide, SQL's and a few of data formats.
var initialisms = wordSet(`ACL API ASCII CPU CSS DB DNS EOF FIFO GUID HTML HTTP HTTPS ID IP JSON JWT KV LIFO LSN OS PID
	QPS RAM RPC SLA SMTP SQL SSH SSL TCP TLS TTL UDP UI UID URI URL UTC UTF8 UUID VM XML XMPP XSRF XSS`)

// wordSet returns the words of a text as a set.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// GoName turns the name of something in T-SQL into an exported Go name: order_id, OrderID, orderId and ORDER_ID are all
// OrderID. It is empty when there is no letter or digit in the name.
func GoName(name string) string {
	var out strings.Builder
	for _, word := range words(name) {
		upper := strings.ToUpper(word)
		switch {
		case initialisms[upper], initialisms[strings.TrimRight(upper, "0123456789")]: // ID, UTF8 and ID2
			out.WriteString(upper)
		case strings.HasSuffix(upper, "S") && initialisms[upper[:len(upper)-1]]:
			out.WriteString(upper[:len(upper)-1] + "s")
		default:
			r, size := utf8.DecodeRuneInString(word)
			out.WriteRune(unicode.ToUpper(r))
			out.WriteString(strings.ToLower(word[size:]))
		}
	}
	goName := out.String()
	// A digit can't begin a name, and a letter without case isn't exported.
	if r, _ := utf8.DecodeRuneInString(goName); goName != "" && !unicode.IsUpper(r) {
		goName = "X" + goName
	}
	return goName
}

// words splits a name at whatever isn't a letter or a digit and where the case says that a word begins: before a
// capital behind a small letter, and before the last capital of several when a small letter follows.
func words(name string) []string {
	var list []string
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		runes := []rune(part)
		from := 0
		for i := 1; i < len(runes); i++ {
			behind := !unicode.IsUpper(runes[i-1])
			before := i+1 < len(runes) && unicode.IsLower(runes[i+1]) && !plural(runes[from:], i-from)
			if unicode.IsUpper(runes[i]) && (behind || before) {
				list = append(list, string(runes[from:i]))
				from = i
			}
		}
		list = append(list, string(runes[from:]))
	}
	return list
}

// plural says that the capital at i ends an initialism that stands in the plural, as in lockIDs.
func plural(word []rune, i int) bool {
	ends := i+2 == len(word) || i+2 < len(word) && unicode.IsUpper(word[i+2])
	return ends && word[i+1] == 's' && initialisms[string(word[:i+1])]
}
