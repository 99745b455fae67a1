// Package payload converts between Go values and the opaque texts that histories
// hold, in the form that runtimes of other languages share (contract §3.6): a value is its
// JSON, except that a string is stored as its plain text.
package payload

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// EncodeAs returns the text of a value that is decoded as a T. Errors are those of encoding/json.
//
// A text that Decode would take for something else is kept in quotes: a string that is itself a JSON string, a *string
// that points to "null", and if T is an interface, every string that reads as JSON. So decoding into a T gives the
// value back.
func EncodeAs[T any](value T) (string, error) {
	if isPlainString(reflect.TypeFor[T]()) {
		text := reflect.ValueOf(value).String()
		if !utf8.ValidString(text) {
			text = string([]rune(text)) // as in JSON, each invalid byte becomes U+FFFD
		}
		return encodeString(text), nil
	}
	data, err := marshal(value)
	if err != nil {
		return "", err
	}
	var text string
	if len(data) == 0 || data[0] != '"' || json.Unmarshal(data, &text) != nil {
		return string(data), nil //nolint:nilerr // what is no JSON string is stored as it is
	}
	if json.Unmarshal([]byte(text), new(T)) == nil {
		return string(data), nil
	}
	return text, nil
}

// EncodeFitting is [EncodeAs] for a value that its receiver can read: one that cannot be decoded as a T again is
// an error.
func EncodeFitting[T any](value T) (string, error) {
	text, err := EncodeAs(value)
	if err == nil {
		_, err = Decode[T](text)
	}
	return text, err
}

// encodeString stores a string plainly, unless the plain text would be read back
// as something else: a text that is itself a JSON string keeps its quotes by
// being quoted once more.
func encodeString(text string) string {
	if !isJSONString(text) {
		return text
	}
	quoted, err := marshal(text)
	if err != nil {
		return text // a string always marshals
	}
	return string(quoted)
}

// Decode reads a text into a T: as JSON of that type or, failing that, as a plain
// string. The error tells the size and never quotes the text.
func Decode[T any](text string) (T, error) {
	var value T
	target := reflect.ValueOf(&value).Elem()
	if isPlainString(target.Type()) && !isJSONString(text) {
		target.SetString(text)
		return value, nil
	}
	err := json.Unmarshal([]byte(text), &value)
	if err == nil {
		return value, nil
	}
	quoted, quoteErr := marshal(text)
	if quoteErr == nil {
		var plain T
		if json.Unmarshal(quoted, &plain) == nil {
			return plain, nil
		}
	}
	var none T
	return none, fmt.Errorf("cannot decode %d bytes into %s: %s", len(text), target.Type(), reason(err))
}

// Types with a JSON form of their own.
var (
	marshaler       = reflect.TypeFor[json.Marshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// isPlainString reports whether every text is a value of the type, and no other value
// has that text.
func isPlainString(t reflect.Type) bool {
	if t.Kind() != reflect.String {
		return false
	}
	p := reflect.PointerTo(t)
	return !p.Implements(marshaler) && !p.Implements(textMarshaler) &&
		!p.Implements(unmarshaler) && !p.Implements(textUnmarshaler)
}

// EncodeJSON returns a value's plain JSON, strings quoted, as key-value maps hold
// it.
func EncodeJSON(value any) (string, error) {
	data, err := marshal(value)
	return string(data), err
}

// DecodeJSON reads plain JSON.
func DecodeJSON[T any](text string) (T, error) {
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		var none T
		return none, fmt.Errorf("cannot decode %d bytes into %s: %s", len(text), reflect.TypeFor[T](), reason(err))
	}
	return value, nil
}

// reason is encoding/json's error without the payload's own text.
func reason(err error) string {
	switch e := err.(type) { //nolint:errorlint // json.Unmarshal returns these unwrapped
	case *json.SyntaxError:
		return fmt.Sprintf("invalid JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		where := ""
		if e.Field != "" {
			where = fmt.Sprintf(" in field %q", e.Field)
		}
		return fmt.Sprintf("cannot read JSON %s%s at byte %d", kindOf(e.Value), where, e.Offset)
	}
	return fmt.Sprintf("cannot read JSON (%T)", err)
}

// kindOf keeps the kind of "number 1234".
func kindOf(value string) string {
	kind, _, _ := strings.Cut(value, " ")
	return kind
}

// isJSONString reports whether the text reads as a JSON string.
func isJSONString(text string) bool {
	return len(text) >= 2 && text[0] == '"' && json.Valid([]byte(text))
}

// marshal is json.Marshal without HTML escaping.
func marshal(value any) ([]byte, error) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
