package syntax

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
)

// TestQuery checks queries clause by clause.
func TestQuery(t *testing.T) {
	t.Parallel()
	runCases(t, (*parser).query, []parseCase{
		{`SELECT *`, `(Query Body=(Select Items=[(SelectItem *)]))`},
		{`SELECT DISTINCT t.*, s.t.* FROM s.t`, `(Query Body=(Select Distinct Items=[(SelectItem t.*) (SelectItem s.t.*)] From=[(TableRef Name=s.t)]))`},
		{`SELECT ALL a`, `(Query Body=(Select Items=[(SelectItem a)]))`},
		{`SELECT TOP (10) PERCENT WITH TIES a FROM t ORDER BY a`, `(Query Body=(Select Top=(Top N=10 Percent WithTies) Items=[(SelectItem a)] From=[(TableRef Name=t)]) OrderBy=[(OrderItem a)])`},
		{`SELECT TOP 5 a FROM t`, `(Query Body=(Select Top=(Top N=5) Items=[(SelectItem a)] From=[(TableRef Name=t)]))`},
		{`SELECT TOP (@n + 1) * FROM t`, `(Query Body=(Select Top=(Top N=(Binary + @n 1)) Items=[(SelectItem *)] From=[(TableRef Name=t)]))`},
		{`SELECT a AS b, c d, e = f, 'g' = h, i 'j', k AS 'l', m [n o], [p] = q FROM t`, `(Query Body=(Select Items=[(SelectItem a Alias=b) (SelectItem c Alias=d) (SelectItem f Alias=e) (SelectItem h Alias=[g]) (SelectItem i Alias=[j]) (SelectItem k Alias=[l]) (SelectItem m Alias=[n o]) (SelectItem q Alias=[p])] From=[(TableRef Name=t)]))`},
		{`SELECT @a = 1, @b += x, @c ||= 'y' FROM t`, `(Query Body=(Select Items=[(SelectItem Variable=@a AssignOp== 1) (SelectItem Variable=@b AssignOp=+= x) (SelectItem Variable=@c AssignOp=||= 'y')] From=[(TableRef Name=t)]))`},
		{`SELECT @a`, `(Query Body=(Select Items=[(SelectItem @a)]))`},
		{`SELECT a INTO #t FROM u`, `(Query Body=(Select Items=[(SelectItem a)] Into=#t From=[(TableRef Name=u)]))`},
		{`SELECT 1 FROM a, b AS c, dbo.d e`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=a) (TableRef Name=b Alias=c) (TableRef Name=dbo.d Alias=e)]))`},
		{`SELECT 1 FROM a JOIN b ON a.x = b.x LEFT OUTER JOIN c ON 1 = 1 RIGHT JOIN d ON 1 = 1 FULL JOIN e ON 1 = 1`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(Join Kind=FULL (Join Kind=RIGHT (Join Kind=LEFT Outer (Join Kind=INNER (TableRef Name=a) (TableRef Name=b) On=(Compare = a.x b.x)) (TableRef Name=c) On=(Compare = 1 1)) (TableRef Name=d) On=(Compare = 1 1)) (TableRef Name=e) On=(Compare = 1 1))]))`},
		{`SELECT 1 FROM a INNER LOOP JOIN b ON a.x = b.x LEFT HASH JOIN c ON 1 = 1 CROSS JOIN d`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(Join Kind=CROSS (Join Kind=LEFT Hint=HASH (Join Kind=INNER Hint=LOOP (TableRef Name=a) (TableRef Name=b) On=(Compare = a.x b.x)) (TableRef Name=c) On=(Compare = 1 1)) (TableRef Name=d))]))`},
		{`SELECT 1 FROM a JOIN b JOIN c ON b.x = c.x ON a.x = b.x`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(Join Kind=INNER (TableRef Name=a) (Join Kind=INNER (TableRef Name=b) (TableRef Name=c) On=(Compare = b.x c.x)) On=(Compare = a.x b.x))]))`},
		{`SELECT 1 FROM a LEFT JOIN (b INNER JOIN c ON b.x = c.x) ON a.x = b.x`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(Join Kind=LEFT (TableRef Name=a) (ParenSource (Join Kind=INNER (TableRef Name=b) (TableRef Name=c) On=(Compare = b.x c.x))) On=(Compare = a.x b.x))]))`},
		{`SELECT 1 FROM (a CROSS JOIN b)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(ParenSource (Join Kind=CROSS (TableRef Name=a) (TableRef Name=b)))]))`},
		{`SELECT 1 FROM ((a CROSS JOIN b) CROSS JOIN c)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(ParenSource (Join Kind=CROSS (ParenSource (Join Kind=CROSS (TableRef Name=a) (TableRef Name=b))) (TableRef Name=c)))]))`},
		{`SELECT 1 FROM a CROSS APPLY dbo.f(a.x) AS g OUTER APPLY (SELECT 1 AS n) AS h (m)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(Join Kind="OUTER APPLY" (Join Kind="CROSS APPLY" (TableRef Name=a) (FunctionTable Call=(Call Name=dbo.f Args=[a.x]) Alias=g)) (DerivedTable Query=(Query Body=(Select Items=[(SelectItem 1 Alias=n)])) Alias=h Columns=[m]))]))`},
		{`SELECT 1 FROM (SELECT 1) AS t (a)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(DerivedTable Query=(Query Body=(Select Items=[(SelectItem 1)])) Alias=t Columns=[a])]))`},
		{`SELECT 1 FROM ((SELECT 1) UNION (SELECT 2)) AS t (a)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(DerivedTable Query=(Query Body=(SetOperation UNION (ParenQuery Query=(Query Body=(Select Items=[(SelectItem 1)]))) (ParenQuery Query=(Query Body=(Select Items=[(SelectItem 2)]))))) Alias=t Columns=[a])]))`},
		{`SELECT 1 FROM ((SELECT 1 AS a)) t`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(DerivedTable Query=(Query Body=(ParenQuery Query=(Query Body=(Select Items=[(SelectItem 1 Alias=a)])))) Alias=t)]))`},
		{`SELECT 1 FROM ((SELECT 1 AS a) AS t CROSS JOIN u)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(ParenSource (Join Kind=CROSS (DerivedTable Query=(Query Body=(Select Items=[(SelectItem 1 Alias=a)])) Alias=t) (TableRef Name=u)))]))`},
		{`SELECT 1 FROM (VALUES (1, 'a'), (2, NULL)) AS v (x, y)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(ValuesTable Rows=[[1 'a'] [2 NULL]] Alias=v Columns=[x y])]))`},
		{`SELECT 1 FROM OPENJSON(@j, '$.x') WITH (a int, b nvarchar(max) '$.b' AS JSON, [c] char(1) N'strict $.c') AS j`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(FunctionTable Call=(Call Name=OPENJSON Args=[@j '$.x']) With=[(JSONColumn Name=a Type=type:int) (JSONColumn Name=b Type=type:nvarchar(max) Path='$.b' AsJSON) (JSONColumn Name=[c] Type=type:char(1) Path=N'strict $.c')] Alias=j)]))`},
		{`SELECT value FROM STRING_SPLIT(@s, ',') s`, `(Query Body=(Select Items=[(SelectItem value)] From=[(FunctionTable Call=(Call Name=STRING_SPLIT Args=[@s ',']) Alias=s)]))`},
		{`SELECT 1 FROM #t, ##u AS u, @v v`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=#t) (TableRef Name=##u Alias=u) (VariableTable Name=@v Alias=v)]))`},
		{`SELECT 1 FROM @v WITH (NOLOCK)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(VariableTable Name=@v Hints=[(Option Name=NOLOCK)])]))`},
		{`SELECT 1 FROM t WITH (UPDLOCK, ROWLOCK READPAST, INDEX (ix, 2), INDEX = iy, FORCESEEK (ix (a, b)))`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t Hints=[(Option Name=UPDLOCK) (Option Name=ROWLOCK) (Option Name=READPAST) (Option Name=INDEX Value="ix, 2") (Option Name=INDEX Value=iy) (Option Name=FORCESEEK Value="ix (a, b)")])]))`},
		{`SELECT 1 FROM t (NOLOCK)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t Hints=[(Option Name=NOLOCK)])]))`},
		{`SELECT 1 FROM t (NOLOCK) AS u`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t Alias=u Hints=[(Option Name=NOLOCK)])]))`},
		{`SELECT 1 FROM t u (NOLOCK) JOIN v (nolock) ON 1 = 1`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(Join Kind=INNER (TableRef Name=t Alias=u Hints=[(Option Name=NOLOCK)]) (TableRef Name=v Hints=[(Option Name=NOLOCK)]) On=(Compare = 1 1))]))`},
		{`SELECT 1 FROM t AS u WITH (HOLDLOCK) WHERE 1 = 1`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t Alias=u Hints=[(Option Name=HOLDLOCK)])] Where=(Compare = 1 1)))`},
		{`SELECT 1 FROM @x.nodes('/a') AS t (c) CROSS APPLY t.c.nodes('b') u(d)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(Join Kind="CROSS APPLY" (NodesTable Call=(Method @x Name=nodes Args=['/a']) Alias=t Columns=[c]) (NodesTable Call=(Method t.c Name=nodes Args=['b']) Alias=u Columns=[d]))]))`},
		{`SELECT 1 FROM f (1, a)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(FunctionTable Call=(Call Name=f Args=[1 a]))]))`},
		{`SELECT 1 FROM t PIVOT (SUM(v) FOR k IN ([1], b)) AS p`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(Pivot (TableRef Name=t) Aggregate=(Call Name=SUM Args=[v]) For=k In=[[1] b] Alias=p)]))`},
		{`SELECT 1 FROM t AS u UNPIVOT (v FOR k IN (a, b)) p JOIN w ON 1 = 1`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(Join Kind=INNER (Pivot (TableRef Name=t Alias=u) Unpivot Value=v For=k In=[a b] Alias=p) (TableRef Name=w) On=(Compare = 1 1))]))`},
		{`SELECT 1 FROM t TABLESAMPLE SYSTEM (10 PERCENT) REPEATABLE (5)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t Hints=[(Option Name=TABLESAMPLE Value="10 PERCENT REPEATABLE (5)")])]))`},
		{`SELECT 1 FROM t FOR SYSTEM_TIME AS OF @d AS h`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t Temporal="FOR SYSTEM_TIME AS OF @d" Form="AS OF" Bounds=[@d] Alias=h)]))`},
		{`SELECT 1 FROM t FOR SYSTEM_TIME BETWEEN '2020' AND @b h`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t Temporal="FOR SYSTEM_TIME BETWEEN '2020' AND @b" Versions Form=BETWEEN Bounds=['2020' @b] Alias=h)]))`},
		{`SELECT 1 FROM t FOR SYSTEM_TIME ALL`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t Temporal="FOR SYSTEM_TIME ALL" Versions Form=ALL)]))`},
		{`SELECT 1 FROM CONTAINSTABLE(dbo.t, (a, b), 'x') AS k`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(FunctionTable Call=(Call Name=CONTAINSTABLE Args=[dbo.t a b 'x']) Alias=k)]))`},
		{`SELECT 1 FROM OPENQUERY(srv, 'SELECT 1') AS q`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(FunctionTable Call=(Call Name=OPENQUERY Args=[srv 'SELECT 1']) Alias=q)]))`},
		{`SELECT a, COUNT(*) FROM t WHERE a > 1 GROUP BY a, (b) HAVING COUNT(*) > 1 ORDER BY a DESC, b ASC`, `(Query Body=(Select Items=[(SelectItem a) (SelectItem (Call Name=COUNT Star))] From=[(TableRef Name=t)] Where=(Compare > a 1) GroupBy=(GroupBy Items=[a (Paren b)]) Having=(Compare > (Call Name=COUNT Star) 1)) OrderBy=[(OrderItem a Desc) (OrderItem b)])`},
		{`SELECT 1 FROM t GROUP BY ROLLUP (a, (b, c)), CUBE (d)`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t)] GroupBy=(GroupBy Items=[a b c d] Extended)))`},
		{`SELECT 1 FROM t GROUP BY GROUPING SETS ((a, b), a, (), ROLLUP (c))`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t)] GroupBy=(GroupBy Items=[a b a c] Extended)))`},
		{`SELECT 1 FROM t GROUP BY a WITH ROLLUP`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t)] GroupBy=(GroupBy Items=[a] Extended)))`},
		{`SELECT SUM(a) OVER w FROM t WINDOW w AS (PARTITION BY b), v AS (w ORDER BY c)`, `(Query Body=(Select Items=[(SelectItem (Call Name=SUM Args=[a] Over=(Window Name=w)))] From=[(TableRef Name=t)] Windows=[(NamedWindow Name=w Window=(Window PartitionBy=[b])) (NamedWindow Name=v Window=(Window Name=w OrderBy=[(OrderItem c)]))]))`},
		{`SELECT 1 UNION SELECT 2 UNION ALL SELECT 3`, `(Query Body=(SetOperation UNION All (SetOperation UNION (Select Items=[(SelectItem 1)]) (Select Items=[(SelectItem 2)])) (Select Items=[(SelectItem 3)])))`},
		{`SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT SELECT 4`, `(Query Body=(SetOperation EXCEPT (SetOperation UNION (Select Items=[(SelectItem 1)]) (SetOperation INTERSECT (Select Items=[(SelectItem 2)]) (Select Items=[(SelectItem 3)]))) (Select Items=[(SelectItem 4)])))`},
		{`(SELECT 1 UNION SELECT 2) INTERSECT SELECT 3 ORDER BY 1`, `(Query Body=(SetOperation INTERSECT (ParenQuery Query=(Query Body=(SetOperation UNION (Select Items=[(SelectItem 1)]) (Select Items=[(SelectItem 2)])))) (Select Items=[(SelectItem 3)])) OrderBy=[(OrderItem 1)])`},
		{`SELECT a FROM t ORDER BY a OFFSET 5 ROWS`, `(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=t)]) OrderBy=[(OrderItem a)] Offset=5)`},
		{`SELECT a FROM t ORDER BY a OFFSET @o ROW FETCH FIRST (@n) ROW ONLY`, `(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=t)]) OrderBy=[(OrderItem a)] Offset=@o Fetch=(Paren @n))`},
		{`SELECT a FROM t FOR JSON PATH, ROOT('x'), INCLUDE_NULL_VALUES, WITHOUT_ARRAY_WRAPPER`, `(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=t)]) For=(ForClause Kind=JSON Options=[(Option Name=PATH) (Option Name=ROOT Value='x') (Option Name=INCLUDE_NULL_VALUES) (Option Name=WITHOUT_ARRAY_WRAPPER)]))`},
		{`SELECT a FROM t FOR XML PATH(''), TYPE, ELEMENTS XSINIL`, `(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=t)]) For=(ForClause Kind=XML Options=[(Option Name=PATH Value='') (Option Name=TYPE) (Option Name="ELEMENTS XSINIL")]))`},
		{`SELECT a FROM t FOR BROWSE`, `(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=t)]) For=(ForClause Kind=BROWSE))`},
		{`SELECT a FROM t OPTION (RECOMPILE, MAXDOP 1, MAXRECURSION 0, OPTIMIZE FOR (@a UNKNOWN), HASH JOIN, USE HINT ('X'), MAX_GRANT_PERCENT = 5)`, `(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=t)]) Options=[(Option Name=RECOMPILE) (Option Name=MAXDOP Value=1) (Option Name=MAXRECURSION Value=0) (Option Name="OPTIMIZE FOR" Value="@a UNKNOWN") (Option Name="HASH JOIN") (Option Name="USE HINT" Value='X') (Option Name=MAX_GRANT_PERCENT Value=5)])`},
		{`WITH a AS (SELECT 1 AS n), b (x, y) AS (SELECT 1, 2 UNION ALL SELECT x, y FROM b) SELECT * FROM a, b OPTION (MAXRECURSION 10)`, `(Query With=[(CTE Name=a Query=(Query Body=(Select Items=[(SelectItem 1 Alias=n)]))) (CTE Name=b Columns=[x y] Query=(Query Body=(SetOperation UNION All (Select Items=[(SelectItem 1) (SelectItem 2)]) (Select Items=[(SelectItem x) (SelectItem y)] From=[(TableRef Name=b)]))))] Body=(Select Items=[(SelectItem *)] From=[(TableRef Name=a) (TableRef Name=b)]) Options=[(Option Name=MAXRECURSION Value=10)])`},
		{`SELECT (SELECT TOP (1) a FROM t ORDER BY a) AS x, EXISTS_ FROM u`, `(Query Body=(Select Items=[(SelectItem (Subquery Query=(Query Body=(Select Top=(Top N=1) Items=[(SelectItem a)] From=[(TableRef Name=t)]) OrderBy=[(OrderItem a)])) Alias=x) (SelectItem EXISTS_)] From=[(TableRef Name=u)]))`},
		{`SELECT a FROM t WHERE a IN (SELECT b FROM u WHERE u.x = t.x AND NOT EXISTS (SELECT * FROM v))`, `(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=t)] Where=(In a Query=(Query Body=(Select Items=[(SelectItem b)] From=[(TableRef Name=u)] Where=(Logical AND (Compare = u.x t.x) (Not (Exists Query=(Query Body=(Select Items=[(SelectItem *)] From=[(TableRef Name=v)]))))))))))`},
		{`SELECT t.[order], "from" FROM [select] AS t`, `(Query Body=(Select Items=[(SelectItem t.[order]) (SelectItem [from])] From=[(TableRef Name=[select] Alias=t)]))`},
		{`SELECT $action, inserted.a, a.b.c.d FROM a.b.c`, `(Query Body=(Select Items=[(SelectItem $action) (SelectItem inserted.a) (SelectItem a.b.c.d)] From=[(TableRef Name=a.b.c)]))`},
		{`SELECT name, value, type, status, date, time, first, offset FROM t AS output_`, `(Query Body=(Select Items=[(SelectItem name) (SelectItem value) (SelectItem type) (SelectItem status) (SelectItem date) (SelectItem time) (SelectItem first) (SelectItem offset)] From=[(TableRef Name=t Alias=output_)]))`},
		{`SELECT 1 FROM t AS offset ORDER BY 1`, `(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t Alias=offset)]) OrderBy=[(OrderItem 1)])`},
		{`SELECT COUNT(*)a,b`, `(Query Body=(Select Items=[(SelectItem (Call Name=COUNT Star) Alias=a) (SelectItem b)]))`},
		{`SELECT IDENTITY(int, 1, 1) AS id INTO #x FROM t`, `(Query Body=(Select Items=[(SelectItem (Call Name=IDENTITY Args=[int 1 1]) Alias=id)] Into=#x From=[(TableRef Name=t)]))`},
		{`SELECT a FROM t ORDER BY (SELECT NULL) OFFSET 0 ROWS`, `(Query Body=(Select Items=[(SelectItem a)] From=[(TableRef Name=t)]) OrderBy=[(OrderItem (Subquery Query=(Query Body=(Select Items=[(SelectItem NULL)]))))] Offset=0)`},
	})
}

// TestQueryErrors checks what is said, and where, about queries that are none.
func TestQueryErrors(t *testing.T) {
	t.Parallel()
	runErrors(t, (*parser).query, []parseCase{
		{`SELECT`, `1:7: expected an expression, found the end of the file`},
		{`SELECT FROM t`, `1:8: expected an expression, found FROM`},
		{`SELECT a, FROM t`, `1:11: expected an expression, found FROM`},
		{`SELECT a FROM`, `1:14: expected a table, found the end of the file`},
		{`SELECT a FROM t WHERE`, `1:22: expected an expression, found the end of the file`},
		{`SELECT a FROM t WHERE a`, `1:23: expected a condition, found a value`},
		{`SELECT order FROM t`, `1:8: expected an expression, found order`},
		{`SELECT a FROM t LEFT JOIN u`, `1:28: a LEFT JOIN needs an ON condition; found the end of the file`},
		{`SELECT a FROM t LEFT JOIN u ON`, `1:31: expected an expression, found the end of the file`},
		{`SELECT a FROM t LEFT JOIN u WHERE 1 = 1`, `1:29: a LEFT JOIN needs an ON condition; found WHERE`},
		{`SELECT a FROM t JOIN u ON a`, `1:27: expected a condition, found a value`},
		{`SELECT a FROM t INNER JOIN u USING (id)`, `1:30: T-SQL has no JOIN … USING`},
		{`SELECT a FROM t CROSS JOIN u ON 1 = 1`, `1:30: a CROSS JOIN has no ON condition`},
		{`SELECT a FROM t CROSS u`, `1:23: expected JOIN or APPLY, found u`},
		{`SELECT a FROM t LOOP JOIN u ON 1 = 1`, `1:17: a join hint needs INNER, LEFT, RIGHT or FULL before it`},
		{`SELECT a FROM t LIMIT 5`, `1:17: T-SQL has no LIMIT`},
		{`SELECT a FROM t NATURAL JOIN u`, `1:17: T-SQL has no NATURAL JOIN`},
		{`SELECT a FROM (SELECT 1)`, `1:25: a derived table needs an alias; found the end of the file`},
		{`SELECT a FROM (SELECT 1) WHERE 1 = 1`, `1:26: a derived table needs an alias; found WHERE`},
		{`SELECT a FROM SELECT 1`, `1:15: a query in FROM needs parentheses`},
		{`SELECT a FROM (INSERT INTO t OUTPUT inserted.a VALUES (1)) AS x`, `1:16: INSERT as a source of rows isn't supported`},
		{`SELECT a FROM (VALUES (1, 2), (3)) AS v (a, b)`, `1:31: the rows of VALUES differ in length: 2 in the first, 1 in row 2`},
		{`SELECT a FROM (VALUES (1, 2)) AS v`, `1:34: a VALUES table of 2 columns needs as many names, found 0`},
		{`SELECT a FROM t WITH (NOLOK)`, `1:23: NOLOK is not a table hint that is known`},
		{`SELECT a FROM t WITH (NOLOCK) AS u`, `1:31: the alias of a table comes before its hints`},
		{`SELECT a FROM t u (x)`, `1:19: a table's alias can't rename its columns`},
		{`SELECT a FROM f(1) WITH (a int)`, `1:20: only OPENJSON and OPENXML have WITH and columns; hints stand after tables`},
		{`SELECT a FROM x.nodes('/a')`, `1:15: nodes needs an alias and the name of its column`},
		{`SELECT a FROM OPENROWSET(BULK 'x', SINGLE_CLOB) AS t`, `1:26: OPENROWSET (BULK …) isn't supported`},
		{`SELECT a FROM t GROUP BY a WHERE a = 1`, `1:28: WHERE can't stand here`},
		{`SELECT a FROM t ORDER BY a WHERE a = 1`, `1:28: WHERE can't stand here`},
		{`SELECT a FROM t ORDER BY a UNION SELECT 1`, `1:28: UNION can't stand here`},
		{`SELECT a INTERSECT ALL SELECT b`, `1:20: T-SQL has no INTERSECT ALL`},
		{`SELECT a UNION`, `1:15: expected SELECT, found the end of the file`},
		{`SELECT a UNION VALUES (1)`, `1:16: expected SELECT, found VALUES`},
		{`SELECT TOP a FROM t`, `1:12: expected a number of rows in parentheses, found a`},
		{`SELECT TOP (5) DISTINCT a FROM t`, `1:16: DISTINCT comes before TOP`},
		{`SELECT a FROM t OFFSET 5 ROWS`, `1:17: OFFSET needs an ORDER BY`},
		{`SELECT a FROM t ORDER BY a FETCH NEXT 5 ROWS ONLY`, `1:28: FETCH needs an OFFSET`},
		{`SELECT a FROM t ORDER BY a OFFSET 5`, `1:36: expected ROWS, found the end of the file`},
		{`SELECT a FROM t ORDER BY a NULLS LAST`, `1:28: T-SQL has no NULLS FIRST or LAST`},
		{`SELECT a FROM t ORDER a`, `1:23: expected BY, found a`},
		{`SELECT a FROM t FOR JSON`, `1:25: expected an option of FOR JSON, found the end of the file`},
		{`SELECT a FROM t FOR JSON PATH, FOO`, `1:32: FOO is not an option of FOR JSON that is known`},
		{`SELECT a FROM t OPTION (FOO)`, `1:25: FOO is not a query hint that is known`},
		{`SELECT a FROM t OPTION (MAXDOP)`, `1:31: expected a constant, found )`},
		{`WITH SELECT 1`, `1:6: expected the name of a common table expression, found SELECT`},
		{`WITH a AS SELECT 1`, `1:11: expected (, found SELECT`},
		{`WITH a AS (SELECT 1 AS b), SELECT 1`, `1:28: expected the name of a common table expression, found SELECT`},
		{`WITH XMLNAMESPACES ('x' AS y) SELECT 1`, `1:6: XML isn't supported`},
		{`SELECT a FROM t PIVOT (SUM(v) FOR k IN ([1]))`, `1:46: PIVOT needs an alias; found the end of the file`},
		{`SELECT @a = 1 = 2`, `1:13: expected a value, found a condition`},
		{`SELECT a = b = c`, `1:12: expected a value, found a condition`},
		{`SELECT a AS`, `1:12: expected a name, found the end of the file`},
		{`SELECT a AS from`, `1:13: expected a name, found from`},
		{`SELECT a b c FROM t`, `1:12: expected the end, found c`},
		{`SELECT a FROM a.b.c.d.e`, `1:15: a name of 5 parts; at most 4 are possible here`},
		{`SELECT * AS x`, `1:10: expected the end, found AS`},
		{`SELECT a FROM t FOR SYSTEM_TIME @d`, `1:33: expected AS OF or FROM or BETWEEN or CONTAINED IN or ALL, found @d`},
		{`SELECT a FROM t SELECT b`, `1:17: expected the end, found SELECT`},
		{`SELECT a FROM t THROW`, `1:17: expected the end, found THROW`},
		{`SELECT a FROM t SET @x = 1`, `1:17: expected the end, found SET`},
		{`SELECT a FROM t l:`, `1:17: expected the end, found l`},
		{`SELECT a FROM t OUTPUT`, `1:17: expected the end, found OUTPUT`},
		{`SELECT a FROM LATERAL (SELECT 1) x`, `1:15: T-SQL has no LATERAL`},
	})
}

// TestSpansNest checks that every node of a tree stands where its parent stands, and the root where the text does:
// later stages report errors at these places and cut source text by them.
func TestSpansNest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"SELECT DISTINCT TOP (5) a AS b, c = -d * 2, @v, t.* FROM t AS u WITH (NOLOCK) WHERE NOT a IN (1, 2) OR b LIKE 'x' ESCAPE 'y'",
		"WITH a (x) AS (SELECT 1), b AS (SELECT 2 AS y) SELECT * FROM a CROSS JOIN b ORDER BY x DESC OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY",
		"SELECT a FROM t JOIN (u LEFT JOIN v ON 1 = 1) ON a IS NULL CROSS APPLY OPENJSON(b) WITH (c int '$.c') AS j WHERE EXISTS (SELECT 1)",
		"SELECT SUM(a) OVER (PARTITION BY b ORDER BY c), CASE a WHEN 1 THEN 2 ELSE 3 END FROM (VALUES (1, 2)) AS v (a, b) GROUP BY ROLLUP (a)",
		"(SELECT CAST(a AS int) COLLATE x AT TIME ZONE 'y' UNION ALL SELECT 1) EXCEPT SELECT NEXT VALUE FOR s FOR JSON PATH, ROOT('x')",
		"SELECT a FROM t PIVOT (SUM(v) FOR k IN ([1], b)) AS p, @v AS w, (SELECT 1) AS q (z) WHERE a BETWEEN 1 AND 2 AND b = ALL (SELECT 1) OPTION (RECOMPILE)",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			q, found := parseWith(text, (*parser).query)
			if len(found) > 0 {
				t.Fatal(errorsOf(found))
			}
			if want := (diag.Span{To: diag.Pos(len(text))}); q.Span != want {
				t.Errorf("the query's span is %v, want %v", q.Span, want)
			}
			var around []diag.Span
			Inspect(q, func(n Node) bool {
				at := n.Range()
				if at.From >= at.To {
					t.Errorf("%T %s has the span %v", n, sexpr(n), at)
				}
				if len(around) > 0 {
					if out := around[len(around)-1]; at.From < out.From || at.To > out.To {
						t.Errorf("%T %s at %v lies outside of its parent at %v", n, sexpr(n), at, out)
					}
				}
				around = append(around, at)
				return true
			}, func(Node) { around = around[:len(around)-1] })
		})
	}
}
