package xmltext_test

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/xmltext"
)

// FuzzNormal: what the server has written it reads again, and writes the same.
func FuzzNormal(f *testing.F) {
	for _, seed := range []string{
		`<a b="1&#9;" c='"'>text <b/> &lt;&#x41;<![CDATA[ ]]></a><!-- c --><?do it?>`, ` `, `<a> </a>`, `<a`, `&#x110000;`, "\r\n<a>\r</a>",
		`<?xml version="1.0" encoding="utf-8" standalone="yes"?><a xmlns:p="u"><p:b/></a>`, "<a>\xed\xa0\x80</a>", `<!DOCTYPE a>`,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, keep bool) {
		first, err := xmltext.Normal(text, xmltext.Options{KeepSpace: keep})
		if err != nil {
			return
		}
		second, err := xmltext.Normal(first, xmltext.Options{KeepSpace: keep})
		if err != nil || second != first {
			t.Errorf("%q is written as %q, and that as %q (%v)", text, first, second, err)
		}
	})
}
