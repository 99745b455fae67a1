package tsqltest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/tsqltest"
)

// answer is a batch with its last value, or the number and the text of its error.
type answer struct{ batch, want string }

// answers executes each batch on a server of its own.
func answers(t *testing.T, list []answer) {
	t.Helper()
	for _, a := range list {
		t.Run(a.batch, func(t *testing.T) {
			t.Parallel()
			if got := ask(t, session(t, tsqltest.New(t, tsqltest.Options{})), a.batch); got != a.want {
				t.Errorf("got  %s\nwant %s", got, a.want)
			}
		})
	}
}

// ask returns the first value of the last set of a batch, or its error.
func ask(t *testing.T, conn *tsqltest.Conn, batch string) string {
	t.Helper()
	result, err := conn.Exec(t.Context(), batch)
	if e, ok := errors.AsType[*tsqltest.Error](err); ok {
		return fmt.Sprintf("%d: %s", e.Number, e.Message)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Sets) == 0 {
		return "nothing"
	}
	set := result.Sets[len(result.Sets)-1]
	if len(set.Rows) == 0 {
		return "no rows"
	}
	return fmt.Sprint(set.Rows[0][0])
}

// TestXML: a value of xml is well-formed, and written as the server writes it.
func TestXML(t *testing.T) {
	t.Parallel()
	answers(t, []answer{
		{`SELECT CAST('<a></a>' AS XML)`, `<a/>`},
		{`SELECT CAST('<a b=''1'' c = "&quot;&#10;" />' AS XML)`, `<a b="1" c="&quot;&#x0A;"/>`},
		{`SELECT CAST('<?xml version="1.0" encoding="utf-8"?> <a> <b/>x > y</a>' AS XML)`, `<a><b/>x &gt; y</a>`},
		{`SELECT CONVERT(XML, '<a> <b/></a>', 1)`, `<a>&#x20;<b/></a>`},
		{`SELECT CAST('<a xml:space="preserve"> </a>' AS XML)`, `<a xml:space="preserve">&#x20;</a>`},
		{`SELECT CAST('<a><![CDATA[1 < 2]]></a><!-- c --><?do it?>text' AS XML)`, `<a>1 &lt; 2</a><!-- c --><?do it?>text`},
		{`SELECT CAST('' AS XML)`, ``},
		{`SELECT CAST(CAST(N'<Δ/>' AS XML) AS VARBINARY(MAX))`, `[255 254 60 0 148 3 47 0 62 0]`},
		{`SELECT CAST(0x3C612F3E AS XML)`, `<a/>`},
		{`DECLARE @x XML = N'<a xmlns:p="u"><p:b/></a>'; SELECT CAST(@x AS NVARCHAR(MAX))`, `<a xmlns:p="u"><p:b/></a>`},
		{`CREATE TABLE #t (x XML); INSERT #t VALUES ('<a/><b/>'); SELECT x FROM #t`, `<a/><b/>`},

		{`SELECT CAST('<a' AS XML)`, `9400: XML parsing: line 1, character 2, unexpected end of input`},
		{`SELECT CAST('<a>' AS XML)`, `9400: XML parsing: line 1, character 3, unexpected end of input`},
		{`SELECT CAST('<a></b>' AS XML)`, `9436: XML parsing: line 1, character 7, end tag does not match start tag`},
		{`SELECT CAST('<a b="1" b="2"/>' AS XML)`, `9437: XML parsing: line 1, character 14, duplicate attribute`},
		{`SELECT CAST('a & b' AS XML)`, `9421: XML parsing: line 1, character 4, illegal name character`},
		{`SELECT CAST('<a>&nbsp;</a>' AS XML)`, `9448: XML parsing: line 1, character 9, well formed check: undeclared entity`},
		{`SELECT CAST('<a>AT&T</a>' AS XML)`, `9411: XML parsing: line 1, character 8, semicolon expected`},
		{`SELECT CAST('a < b' AS XML)`, `9455: XML parsing: line 1, character 4, illegal qualified name character`},
		{`SELECT CAST('<a b=1/>' AS XML)`, `9413: XML parsing: line 1, character 6, A string literal was expected`},
		{`SELECT CAST('<a b/>' AS XML)`, `9414: XML parsing: line 1, character 5, equal expected`},
		{`SELECT CAST('<a b="<"/>' AS XML)`, `9415: XML parsing: line 1, character 7, well formed check: no '<' in attribute value`},
		{`SELECT CAST('<p:a/>' AS XML)`, `9459: XML parsing: line 1, character 6, undeclared prefix`},
		{`SELECT CAST(N'<?xml version="1.0" encoding="utf-8"?><a/>' AS XML)`, `9402: XML parsing: line 1, character 36, unable to switch the encoding`},
		{`SELECT CAST(' <?xml version="1.0"?><a/>' AS XML)`, `9438: XML parsing: line 1, character 7, text/xmldecl not at the beginning of input`},
		{"SELECT CAST('<a>\n<b>\n</a>' AS XML)", `9436: XML parsing: line 3, character 4, end tag does not match start tag`},
		{`SELECT CAST('</a>' AS XML)`, `9422: XML parsing: line 1, character 2, incorrect document syntax`},
		{`SELECT CAST('<!DOCTYPE a><a/>' AS XML)`, `6359: Parsing XML with internal subset DTDs not allowed. Use CONVERT with style option 2 to enable limited internal subset DTD support.`},
		{`SELECT CAST(REPLICATE('<a>', 129) AS XML)`, `6335: XML datatype instance has too many levels of nested nodes. Maximum allowed depth is 128 levels.`},
		{`SELECT TRY_CAST('<a' AS XML)`, `<nil>`},
		{`SELECT CAST(CAST(N'<Δ/>' AS XML) AS VARCHAR(50))`, `6355: Conversion of one or more characters from XML to target collation impossible`},
		{`SELECT CAST(CAST('<abc/>' AS XML) AS NVARCHAR(5))`, `6354: Target string size is too small to represent the XML instance`},
		{`SELECT CONVERT(XML, '<a/>', 9)`, `6358: 9 is not a valid style number when converting to XML.`},
	})
}

// TestNoServerElsewhere: what would go to another server says that there is none.
func TestNoServerElsewhere(t *testing.T) {
	t.Parallel()
	const missing = `7202: Could not find server 'far' in sys.servers. Verify that the correct server name was specified. If necessary, execute the stored procedure sp_addlinkedserver to add the server to sys.servers.`
	answers(t, []answer{
		{`EXEC ('SELECT 1') AT far`, missing},
		{`SELECT * FROM far.test.sys.objects`, missing},
		{`DELETE far.test.dbo.t`, missing},
		{`EXEC far.test.dbo.p`, missing},
		{`BEGIN DISTRIBUTED TRANSACTION`, `49900: a distributed transaction is not supported by tsqltest (batch:1:1)`},
		{`DECLARE @h HIERARCHYID; SELECT @h`, `<nil>`},
		{`DECLARE @h HIERARCHYID; SET @h = '/1/'`, `49900: a value of hierarchyid is not supported by tsqltest`},
		{`SELECT TRY_CAST('POINT (1 2)' AS GEOMETRY)`, `49900: a value of geometry is not supported by tsqltest`},
	})
}
