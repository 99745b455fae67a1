package value

import (
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/tsql/internal/server/fault"
	"github.com/duroxide/duroxide-go/tsql/internal/server/xmltext"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
)

// The styles of CONVERT with xml: whether blank texts stay, and whether a document type may come before the document.
const (
	keepBlanks  = 1
	allowDTD    = 2
	maxXMLStyle = 3
)

// toXML makes an xml value, which is held as the text that the server would write for it.
func toXML(v Value, from, to Type, style int) (Value, error) {
	if style < 0 || style > maxXMLStyle {
		return Value{}, fault.New(6358, style)
	}
	if from.Kind == sqltype.XML {
		return v, nil
	}
	text, encoding := v.s, ""
	switch {
	case v.kind == Bytes:
		text, encoding = xmlOfBytes(v.s)
	case v.kind != String:
		return Value{}, never(from, to)
	case inUTF16(from):
		encoding = "utf-16"
	case from.Collation != nil && from.Collation.utf8:
		encoding = "utf-8"
	}
	text, err := xmltext.Normal(text, xmltext.Options{KeepSpace: style&keepBlanks != 0, Encoding: encoding})
	if e, ok := fault.As(err); ok && e.Number == 6359 && style&allowDTD != 0 {
		return Value{}, refused("a document type in XML")
	}
	return OfString(text), err
}

// xmlOfBytes reads the text of a binary: UTF-16 after its mark, else UTF-8.
func xmlOfBytes(s string) (text, encoding string) {
	if len(s)%2 == 0 && len(s) >= 2 && s[0] == 0xFF && s[1] == 0xFE {
		return DecodeUTF16([]byte(s[2:])), "utf-16"
	}
	return s, "utf-8"
}

// xmlToText makes a string of an xml value, which must fit.
func xmlToText(s string, to Type) (Value, error) {
	for _, r := range s {
		if r > 0xFFFF && r <= utf8.MaxRune {
			return Value{}, refused("XML with characters beyond U+FFFF that becomes text")
		}
	}
	if groupOf(to.Kind) == charGroup && toPage(s, to.Collation) != s {
		return Value{}, fault.New(6355)
	}
	if limit, ok := textLimit(to); ok && textLen(s, to) > limit {
		return Value{}, fault.New(6354)
	}
	return fitText(s, to), nil
}

// xmlToBytes makes a binary of an xml value: UTF-16 with a mark.
func xmlToBytes(s string, to Type) (Value, error) {
	b := string(EncodeUTF16([]byte{0xFF, 0xFE}, s))
	if limit, ok := byteLimit(to); ok && len(b) > limit {
		return Value{}, fault.New(6354)
	}
	return fitBytes(b, to), nil
}

// isCLR reports the types that are made in .NET. Columns may have them, but nothing makes a value of one: what its
// bytes would be is for .NET to say.
func isCLR(k sqltype.Kind) bool {
	return k == sqltype.HierarchyID || k == sqltype.Geometry || k == sqltype.Geography
}

// refused is the error for what SQL Server has and this server has not.
func refused(what string) error {
	return fault.New(fault.Unsupported, what+" is not supported by tsqltest")
}
