package function_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/tsql/internal/server/function"
	"github.com/duroxide/duroxide-go/tsql/internal/server/value"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// FuzzJSON compares the scanner with that of the standard library, and opens what is JSON in each way there is.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[1,2.5e-3,-0,"a\u00e9\n",true,false,null]`, `{"a":{"b":[{"c":1}]}}`, `[`, `{"a"`, `"\ud83d"`, `[01]`, ` [ ] `, `{"a":1,}`,
		`[[[[]]]]`, `{"a":"\ud83d\ude00"}`, `tru`, `-`, `1.`, `1e`, "[\"\x01\"]", `{"a b":1}{}`,
	} {
		f.Add(seed)
	}
	call := &syntax.Call{Name: &syntax.ObjectName{Parts: []syntax.Ident{{Value: "ISJSON"}}}}
	word := &syntax.ColumnRef{Parts: []syntax.Ident{{Value: "VALUE"}}}
	call.Args = []syntax.Expr{word, word}
	bound, err := function.Bind(call, []function.Argument{
		{Type: value.NVarChar(sqltype.Max)}, {Type: value.OfKind(sqltype.Null), Expr: word},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if !utf8.ValidString(doc) || strings.Count(doc, "[")+strings.Count(doc, "{") > 128 {
			return
		}
		v, err := bound.Eval(&session{}, []value.Value{value.OfString(doc), {}})
		if err != nil || v.Bool() != json.Valid([]byte(doc)) {
			t.Fatalf("%q: %v, %v", doc, v, err)
		}
		open(doc, "")
		open(doc, "lax $.a[0]")
		withClause(t, doc, "", []string{"a nvarchar(max) AS JSON", "b nvarchar(max) '$.b.c'", "c nvarchar(max) '$'"})
	})
}
