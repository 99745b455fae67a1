package tsqltest_test

import "testing"

// TestForXML: FOR XML PATH and RAW make a document of the rows.
func TestForXML(t *testing.T) {
	t.Parallel()
	const rows = " FROM (VALUES (1, 'a & b', NULL), (2, '', 'z')) AS v (id, name, note) ORDER BY id "
	answers(t, []answer{
		{"SELECT STUFF((SELECT ', ' + name FROM (VALUES ('x'), ('y<z')) AS v (name) ORDER BY name FOR XML PATH('')), 1, 2, '')", "x, y&lt;z"},
		{"SELECT id, name, note" + rows + "FOR XML PATH", "<row><id>1</id><name>a &amp; b</name></row><row><id>2</id><name></name><note>z</note></row>"},
		{"SELECT id, name, note" + rows + "FOR XML PATH('r'), ROOT('all'), TYPE", "<all><r><id>1</id><name>a &amp; b</name></r><r><id>2</id><name/><note>z</note></r></all>"},
		{"SELECT id AS '@id', name AS 'a/@n', note AS 'a/b', id AS 'c'" + rows + "FOR XML PATH('r')", `<r id="1"><a n="a &amp; b"/><c>1</c></r><r id="2"><a n=""><b>z</b></a><c>2</c></r>`},
		{"SELECT id, name, note" + rows + "FOR XML RAW", `<row id="1" name="a &amp; b"/><row id="2" name="" note="z"/>`},
		{"SELECT id, note" + rows + "FOR XML RAW('r'), ELEMENTS, ROOT", "<root><r><id>1</id></r><r><id>2</id><note>z</note></r></root>"},
		{"SELECT 1 AS 'a', 2 AS 'a' FOR XML PATH('')", "<a>12</a>"},
		{"SELECT 'x' AS td, '', 'y' AS td, '' FOR XML PATH('tr')", "<tr><td>x</td><td>y</td></tr>"},
		{"SELECT 1 AS 'n/a', CAST(NULL AS INT) AS 'n/b', 2 AS 'n/c' FOR XML PATH('')", "<n><a>1</a><c>2</c></n>"},
		{"SELECT 1 AS a, NULL AS b, 2 AS a FOR XML PATH('')", "49900: FOR XML PATH that goes on with an element after NULL is not supported by tsqltest"},
		{"SELECT 1 AS a, 2 AS b FOR XML RAW('r'), ELEMENTS", "<r><a>1</a><b>2</b></r>"},
		{"SELECT 'x' AS 'a/text()', 'y' AS '*', 'z' AS 'a/b' FOR XML PATH('')", "<a>x</a>y<a><b>z</b></a>"},
		{"SELECT 1 AS 'data()', 2 AS 'data()' FOR XML PATH('')", "1 2"},
		{"SELECT (SELECT 1 AS b FOR XML PATH('c'), TYPE), 2 AS d FOR XML PATH('a')", "<a><c><b>1</b></c><d>2</d></a>"},
		{"SELECT ' ' FOR XML PATH('')", "&#x20;"},
		{"SELECT CHAR(13) + CHAR(10) + '>' FOR XML PATH('')", "&#x0D;\n&gt;"},
		{"SELECT CAST('20200305 14:07' AS DATETIME) AS a, CAST(1.5 AS MONEY) AS b, 0x0102 AS c, CAST(1 AS BIT) AS d FOR XML PATH('')", "<a>2020-03-05T14:07:00</a><b>1.5000</b><c>AQI=</c><d>1</d>"},
		{"SELECT (SELECT 1 AS a WHERE 1 = 0 FOR XML PATH)", "<nil>"},
		{"SELECT CHAR(1) AS a FOR XML PATH", "6841: FOR XML could not serialize the data for node 'a' because it contains a character (0x0001) which is not allowed in XML. To retrieve this data using FOR XML, convert it to binary, varbinary or image data type and use the BINARY BASE64 directive."},
		{"SELECT 1 AS a, 2 AS '@b' FOR XML PATH", "6852: Attribute-centric column '@b' must not come after a non-attribute-centric sibling in XML hierarchy in FOR XML PATH."},
		{"SELECT 1 AS '@b' FOR XML PATH('')", "6864: Row tag omission (empty row tag name) cannot be used with attribute-centric FOR XML serialization."},
		{"SELECT 1 AS 'a b' FOR XML PATH", "6850: Column name 'a b' contains an invalid XML identifier as required by FOR XML; ' '(0x0020) is the first character at fault."},
		{"SELECT 1 FOR XML RAW", "6809: Unnamed tables cannot be used as XML identifiers as well as unnamed columns cannot be used for attribute names. Name unnamed columns/tables using AS in the SELECT statement."},
		{"SELECT NEXT.a FROM (SELECT 1 AS a) AS NEXT FOR XML AUTO", "49900: FOR XML with AUTO is not supported by tsqltest (batch:1:52)"},
	})
}
