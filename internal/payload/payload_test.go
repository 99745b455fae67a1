package payload_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/duroxide/duroxide-go/tsql/leaktest"

	"github.com/duroxide/duroxide-go/internal/payload"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type color string

// shade has a JSON form of its own, though it is a string.
type shade string

func (s shade) MarshalText() ([]byte, error) { return []byte("shade-" + string(s)), nil }

func (s *shade) UnmarshalText(text []byte) error {
	*s = shade(strings.TrimPrefix(string(text), "shade-"))
	return nil
}

type order struct {
	SKU  int       `json:"sku"`
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at,omitzero"`
	Tags []string  `json:"tags,omitempty"`
}

// roundTrip checks a value's text and that decoding gives the value back.
func roundTrip[T any](t *testing.T, name string, value T, text string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		got, err := payload.EncodeAs(value)
		if err != nil {
			t.Fatal(err)
		}
		if got != text {
			t.Errorf("text = %s, want %s", got, text)
		}
		back, err := payload.Decode[T](got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(value, back); diff != "" {
			t.Errorf("value (-want +got):\n%s", diff)
		}
	})
}

// The form is the contract's (§3.6), with quotes only where the reference's form would
// be read back as another value.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 12, 30, 0, 123456789, time.UTC)
	roundTrip(t, "string", "hello", `hello`)
	roundTrip(t, "empty string", "", ``)
	roundTrip(t, "string like a number", "42", `42`)
	roundTrip(t, "string like null", "null", `null`)
	roundTrip(t, "string like an object", `{"a":1}`, `{"a":1}`)
	roundTrip(t, "string like a JSON string", `"hi"`, `"\"hi\""`)
	roundTrip(t, "string like a JSON string with space behind", `"hi" `, `"\"hi\" "`)
	roundTrip(t, "string like a JSON string with space before", ` "hi"`, ` "hi"`)
	roundTrip(t, "string with an open quote", `"hi`, `"hi`)
	roundTrip(t, "a quote", `"`, `"`)
	roundTrip(t, "two quotes", `""`, `"\"\""`)
	roundTrip(t, "string with markup", "<a&b>\u2028\n\x01é", "<a&b>\u2028\n\x01é")
	roundTrip(t, "named string", color("red"), `red`)
	roundTrip(t, "named string like a JSON string", color(`"red"`), `"\"red\""`)
	roundTrip(t, "string with a text form", shade("red"), `shade-red`)
	roundTrip(t, "true", true, `true`)
	roundTrip(t, "int", -7, `-7`)
	roundTrip(t, "largest int64", int64(math.MaxInt64), `9223372036854775807`)
	roundTrip(t, "largest uint64", uint64(math.MaxUint64), `18446744073709551615`)
	roundTrip(t, "float", 0.1, `0.1`)
	roundTrip(t, "large float", 1e300, `1e+300`)
	roundTrip(t, "struct", order{SKU: 7, Note: "<b>", At: at, Tags: []string{"x"}}, `{"sku":7,"note":"<b>","at":"2026-07-01T12:30:00.123456789Z","tags":["x"]}`)
	roundTrip(t, "pointer to a struct", &order{SKU: 7}, `{"sku":7}`)
	roundTrip(t, "nil pointer", (*order)(nil), `null`)
	roundTrip(t, "empty struct", struct{}{}, `{}`)
	roundTrip(t, "slice", []int{1, 2}, `[1,2]`)
	roundTrip(t, "empty slice", []int{}, `[]`)
	roundTrip(t, "nil slice", []int(nil), `null`)
	roundTrip(t, "map", map[string]int{"a": 1}, `{"a":1}`)
	roundTrip(t, "empty map", map[string]int{}, `{}`)
	roundTrip(t, "nil map", map[string]int(nil), `null`)
	roundTrip(t, "bytes", []byte("hello"), `aGVsbG8=`)
	roundTrip(t, "no bytes", []byte{}, ``)
	roundTrip(t, "nil bytes", []byte(nil), `null`)
	roundTrip(t, "bytes whose base64 is null", []byte{0x9e, 0xe9, 0x65}, `"null"`)
	roundTrip(t, "bytes whose base64 is true", []byte{0xb6, 0xbb, 0x9e}, `true`)
	roundTrip(t, "bytes whose base64 is a number", []byte{0xd7, 0x6d, 0xf8}, `1234`)
	roundTrip(t, "time", at, `2026-07-01T12:30:00.123456789Z`)
	roundTrip(t, "duration", time.Minute, `60000000000`)
	roundTrip(t, "pointer to a string", new("hi"), `hi`)
	roundTrip(t, "pointer to null", new("null"), `"null"`)
	roundTrip(t, "pointer to a JSON string", new(`"hi"`), `"\"hi\""`)
	roundTrip(t, "pointer to a number", new("42"), `42`)
}

// Where the receiver's type is an interface, only the encoder's side can tell that a
// string is one.
func TestRoundTripsOfAny(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value any
		text  string
	}{
		{nil, `null`},
		{"hello", `hello`},
		{"", ``},
		{"42", `"42"`},
		{"null", `"null"`},
		{`"hi"`, `"\"hi\""`},
		{`{"a":1}`, `"{\"a\":1}"`},
		{1.5, `1.5`},
		{true, `true`},
		{[]any{"42", nil}, `["42",null]`},
		{map[string]any{"a": "42"}, `{"a":"42"}`},
	} {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			text, err := payload.EncodeAs(test.value)
			if err != nil {
				t.Fatal(err)
			}
			if text != test.text {
				t.Errorf("text = %s, want %s", text, test.text)
			}
			back, err := payload.Decode[any](text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.value, back); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

// What runtimes of other languages store reads back as they mean it.
func TestForeignPayloads(t *testing.T) {
	t.Parallel()
	if got, err := payload.Decode[string](`"quoted"`); got != "quoted" || err != nil {
		t.Errorf("quoted string = %q, %v", got, err)
	}
	if got, err := payload.Decode[int](" 7\n"); got != 7 || err != nil {
		t.Errorf("number with space = %d, %v", got, err)
	}
	if got, err := payload.Decode[order](`{"sku":7,"unknown":true}`); got.SKU != 7 || err != nil {
		t.Errorf("object with more keys = %+v, %v", got, err)
	}
	if got, err := payload.Decode[time.Time](`"2026-07-01T00:00:00Z"`); got.Year() != 2026 || err != nil {
		t.Errorf("quoted time = %v, %v", got, err)
	}
}

// An error names the type, the place and the size, never what was sent.
func TestErrorsQuoteNothing(t *testing.T) {
	t.Parallel()
	decode := func(_ any, err error) error { return err }
	dec := func(text string) error { return decode(payload.Decode[order](text)) }
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"no JSON", dec("secret"), "cannot decode 6 bytes into payload_test.order: invalid JSON at byte 1"},
		{"empty", dec(""), "cannot decode 0 bytes into payload_test.order: invalid JSON at byte 0"},
		{"half", dec(`{"sku":7`), "cannot decode 8 bytes into payload_test.order: invalid JSON at byte 8"},
		{"two values", dec(`{"sku":7} secret`), "cannot decode 16 bytes into payload_test.order: invalid JSON at byte 11"},
		{"wrong kind", dec(`"secret"`), "cannot decode 8 bytes into payload_test.order: cannot read JSON string at byte 8"},
		{"wrong field", dec(`{"sku":"secret"}`), `cannot decode 16 bytes into payload_test.order: cannot read JSON string in field "sku" at byte 15`},
		{"wrong time", dec(`{"at":"secret"}`), "cannot decode 15 bytes into payload_test.order: cannot read JSON (*time.ParseError)"},
		{"number too large", decode(payload.Decode[int8]("3000")), "cannot decode 4 bytes into int8: cannot read JSON number at byte 4"},
		{"text for a number", decode(payload.Decode[int]("secret")), "cannot decode 6 bytes into int: invalid JSON at byte 1"},
		{"key-value, no JSON", decode(payload.DecodeJSON[string]("secret")), "cannot decode 6 bytes into string: invalid JSON at byte 1"},
		{"key-value, wrong kind", decode(payload.DecodeJSON[string]("12")), "cannot decode 2 bytes into string: cannot read JSON number at byte 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.err == nil || test.err.Error() != test.want {
				t.Errorf("error\n got %v\nwant %s", test.err, test.want)
			}
		})
	}
}

func TestValuesWithoutJSON(t *testing.T) {
	t.Parallel()
	for _, value := range []any{math.NaN(), make(chan int), func() {}, map[bool]int{true: 1}} {
		if text, err := payload.EncodeAs(value); err == nil {
			t.Errorf("%T became %s", value, text)
		}
		if text, err := payload.EncodeJSON(value); err == nil {
			t.Errorf("%T became %s", value, text)
		}
	}
}

// Key-value maps hold plain JSON.
func TestPlainJSON(t *testing.T) {
	t.Parallel()
	for text, value := range map[string]any{`"hi"`: "hi", `42`: 42.0, `"42"`: "42", `"<&>"`: "<&>", `null`: nil, `{"a":[1]}`: map[string]any{"a": []any{1.0}}} {
		got, err := payload.EncodeJSON(value)
		if err != nil || got != text {
			t.Errorf("%v became %s, %v", value, got, err)
		}
		back, err := payload.DecodeJSON[any](text)
		if diff := cmp.Diff(value, back); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s\n%v", text, diff, err)
		}
	}
}

func TestRandomRoundTrips(t *testing.T) {
	t.Parallel()
	t.Run("string", same(texts()))
	t.Run("named string", same(rapid.Map(texts(), func(s string) color { return color(s) })))
	t.Run("pointer to string", same(rapid.Ptr(texts(), true)))
	t.Run("any string", same(rapid.Map(texts(), func(s string) any { return s })))
	t.Run("bytes", same(rapid.SliceOf(rapid.Byte())))
	t.Run("four letters of base64", same(rapid.SliceOfN(rapid.Byte(), 3, 3)))
	t.Run("int64", same(rapid.Int64()))
	t.Run("uint64", same(rapid.Uint64()))
	t.Run("float64", same(rapid.Float64()))
	t.Run("map", same(rapid.MapOf(texts(), rapid.Int())))
	t.Run("slice", same(rapid.SliceOf(texts())))
	t.Run("time", same(rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMicro(rapid.Int64Range(0, 1<<52).Draw(t, "µs")).UTC()
	})))
	t.Run("struct", same(rapid.Custom(func(t *rapid.T) order {
		return order{SKU: rapid.Int().Draw(t, "sku"), Note: texts().Draw(t, "note")}
	})))
}

// texts are strings that are or resemble JSON, beside arbitrary ones. Generators are
// not safe for use by several tests.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"null", "true", "0", `""`, `"a"`, "{}", "[]", `"\u0041"`, ` "a" `, `"`, "1e3"}),
		rapid.StringMatching(`"[a-z\\"]{0,4}"?`),
		rapid.Custom(func(t *rapid.T) string {
			text, err := payload.EncodeJSON(rapid.String().Draw(t, "quoted"))
			if err != nil {
				t.Fatal(err)
			}
			return text
		}),
	)
}

// same checks that decoding what was encoded gives the value back.
func same[T any](values *rapid.Generator[T]) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			value := values.Draw(t, "value")
			text, err := payload.EncodeAs(value)
			if err != nil {
				t.Fatal(err)
			}
			back, err := payload.Decode[T](text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(value, back); diff != "" {
				t.Errorf("text %s gave (-want +got):\n%s", text, diff)
			}
		})
	}
}
