package syntax

import (
	"strings"
	"testing"
)

// TestExpr checks scalar expressions: precedence above all, and every kind of operand.
func TestExpr(t *testing.T) {
	t.Parallel()
	runCases(t, (*parser).expr, []parseCase{
		{`1 + 2 * 3`, `(Binary + 1 (Binary * 2 3))`},
		{`(1 + 2) * 3`, `(Binary * (Paren (Binary + 1 2)) 3)`},
		{`1 - 2 - 3`, `(Binary - (Binary - 1 2) 3)`},
		{`a & b | c ^ d`, `(Binary ^ (Binary | (Binary & a b) c) d)`},
		{`-a * b`, `(Unary - (Binary * a b))`},
		{`-100.0 / -100.0 * 10.0`, `(Unary - (Binary / dec:100.0 (Unary - (Binary * dec:100.0 dec:10.0))))`},
		{`-a + b`, `(Binary + (Unary - a) b)`},
		{`~a + ~b`, `(Binary + (Unary ~ a) (Unary ~ b))`},
		{`- -1`, `(Unary - (Unary - 1))`},
		{`+@x`, `(Unary + @x)`},
		{`a || b || 'c'`, `(Binary || (Binary || a b) 'c')`},
		{`a << 2 >> 1`, `(Binary >> (Binary << a 2) 1)`},
		{`1.5e-3 + .5 + 1. + 1e5`, `(Binary + (Binary + (Binary + float:1.5e-3 dec:.5) dec:1.) float:1e5)`},
		{`$1.50 + £2 + €.5`, `(Binary + (Binary + $1.50 £2) €.5)`},
		{`0x + 0xFF`, `(Binary + 0X 0XFF)`},
		{"N'it''s' + 'a\nb'", "(Binary + N'it's' 'a\nb')"},
		{`NULL`, `NULL`},
		{`@@rowcount + @a`, `(Binary + @@ROWCOUNT @a)`},
		{`t.[a b]."c""d"`, `t.[a b].[c"d]`},
		{`db..t.c`, `db..t.c`},
		{`$action`, `$action`},
		{`a COLLATE Latin1_General_BIN + b`, `(Binary + (Collate a Name=Latin1_General_BIN) b)`},
		{`d AT TIME ZONE 'UTC' AT TIME ZONE @z`, `(AtTimeZone (AtTimeZone d Zone='UTC') Zone=@z)`},
		{`CASE WHEN a = 1 AND b > 2 THEN 'x' WHEN c IS NULL THEN 'y' ELSE 'z' END`, `(Case Whens=[(CaseWhen When=(Logical AND (Compare = a 1) (Compare > b 2)) Then='x') (CaseWhen When=(IsNull c) Then='y')] Else='z')`},
		{`CASE a WHEN 1 THEN 2 END`, `(Case Input=a Whens=[(CaseWhen When=1 Then=2)])`},
		{`CAST(a AS decimal(10, 2))`, `(Cast Func=CAST a Type=type:decimal(10,2))`},
		{`try_cast('1' as int)`, `(Cast Func=TRY_CAST '1' Type=type:int)`},
		{`CONVERT(varchar(max), a, 126)`, `(Cast Func=CONVERT a Type=type:varchar(max) Style=126)`},
		{`TRY_CONVERT(int, a)`, `(Cast Func=TRY_CONVERT a Type=type:int)`},
		{`PARSE('1' AS money USING 'de-DE')`, `(Cast Func=PARSE '1' Type=type:money Style='de-DE')`},
		{`IIF(a = 1, 2, 3)`, `(Call Name=IIF Args=[(Compare = a 1) 2 3])`},
		{`COALESCE(a, b, 0) + NULLIF(a, 0) + ISNULL(a, 1)`, `(Binary + (Binary + (Call Name=COALESCE Args=[a b 0]) (Call Name=NULLIF Args=[a 0])) (Call Name=ISNULL Args=[a 1]))`},
		{`LEFT(a, 2) + RIGHT(b, 3)`, `(Binary + (Call Name=LEFT Args=[a 2]) (Call Name=RIGHT Args=[b 3]))`},
		{`COUNT(*)`, `(Call Name=COUNT Star)`},
		{`COUNT(DISTINCT a)`, `(Call Name=COUNT Distinct Args=[a])`},
		{`SUM(ALL a)`, `(Call Name=SUM Args=[a])`},
		{`ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY c DESC, d)`, `(Call Name=ROW_NUMBER Over=(Window PartitionBy=[a b] OrderBy=[(OrderItem c Desc) (OrderItem d)]))`},
		{`SUM(x) OVER (ORDER BY d ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`, `(Call Name=SUM Args=[x] Over=(Window OrderBy=[(OrderItem d)] Frame="ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"))`},
		{`SUM(x) OVER (ORDER BY d range 1 preceding)`, `(Call Name=SUM Args=[x] Over=(Window OrderBy=[(OrderItem d)] Frame="RANGE 1 PRECEDING"))`},
		{`SUM(x) OVER w`, `(Call Name=SUM Args=[x] Over=(Window Name=w))`},
		{`SUM(x) OVER (w ROWS UNBOUNDED PRECEDING)`, `(Call Name=SUM Args=[x] Over=(Window Name=w Frame="ROWS UNBOUNDED PRECEDING"))`},
		{`STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b)`, `(Call Name=STRING_AGG Args=[a ','] WithinGroup=[(OrderItem b)])`},
		{`PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY b)`, `(Call Name=PERCENTILE_CONT Args=[dec:0.5] WithinGroup=[(OrderItem a)] Over=(Window PartitionBy=[b]))`},
		{`FIRST_VALUE(a) IGNORE NULLS OVER (ORDER BY b)`, `(Call Name=FIRST_VALUE Args=[a] Nulls="IGNORE NULLS" Over=(Window OrderBy=[(OrderItem b)]))`},
		{`NEXT VALUE FOR dbo.seq`, `(NextValue Sequence=dbo.seq)`},
		{`NEXT VALUE FOR dbo.seq OVER (ORDER BY a)`, `(NextValue Sequence=dbo.seq Over=(Window OrderBy=[(OrderItem a)]))`},
		{`next + value`, `(Binary + next value)`},
		{`TRIM(a)`, `(Call Name=TRIM Args=[a])`},
		{`TRIM('x' FROM a)`, `(Call Name=TRIM Args=['x' a])`},
		{`TRIM(LEADING 'x' FROM a)`, `(Call Name=TRIM Args=['x' a])`},
		{`TRIM(BOTH FROM a)`, `(Call Name=TRIM Args=[a])`},
		{`JSON_OBJECT('a': 1, 'b': @x ABSENT ON NULL)`, `(Call Name=JSON_OBJECT Args=[1 @x] JSONNulls="ABSENT ON NULL" Keys=['a' 'b'])`},
		{`JSON_OBJECT()`, `(Call Name=JSON_OBJECT)`},
		{`JSON_ARRAY(1, 'a' NULL ON NULL)`, `(Call Name=JSON_ARRAY Args=[1 'a'] JSONNulls="NULL ON NULL")`},
		{`JSON_ARRAY()`, `(Call Name=JSON_ARRAY)`},
		{`CURRENT_TIMESTAMP`, `(Call Name=CURRENT_TIMESTAMP NoParens)`},
		{`user`, `(Call Name=user NoParens)`},
		{`dbo.f(1, DEFAULT)`, `(Call Name=dbo.f Args=[1 DEFAULT])`},
		{`@x.value('(/a)[1]', 'int')`, `(Method @x Name=value Args=['(/a)[1]' 'int'])`},
		{`hierarchyid::GetRoot().GetDescendant(NULL, @h)`, `(Method (Method Type=hierarchyid Name=GetRoot) Name=GetDescendant Args=[NULL @h])`},
		{`@p.STCentroid().STX + f(a).Lat`, `(Binary + (Method (Method @p Name=STCentroid) Name=STX Property) (Method (Call Name=f Args=[a]) Name=Lat Property))`},
		{`f(a).ToString()`, `(Method (Call Name=f Args=[a]) Name=ToString)`},
		{`t.c.query('/a').exist('/b')`, `(Method (Method t.c Name=query Args=['/a']) Name=exist Args=['/b'])`},
		{`dbo.[value](1)`, `(Call Name=dbo.[value] Args=[1])`},
		{`DATEADD(day, 1, SYSUTCDATETIME())`, `(Call Name=DATEADD Args=[day 1 (Call Name=SYSUTCDATETIME)])`},
		{`(SELECT 1)`, `(Subquery Query=(Query Body=(Select Items=[(SelectItem 1)])))`},
		{`((SELECT 1))`, `(Paren (Subquery Query=(Query Body=(Select Items=[(SelectItem 1)]))))`},
		{`((SELECT 1) + 1)`, `(Paren (Binary + (Subquery Query=(Query Body=(Select Items=[(SelectItem 1)]))) 1))`},
		{`((SELECT 1) UNION ALL (SELECT 2))`, `(Subquery Query=(Query Body=(SetOperation UNION All (ParenQuery Query=(Query Body=(Select Items=[(SelectItem 1)]))) (ParenQuery Query=(Query Body=(Select Items=[(SelectItem 2)]))))))`},
		{`(SELECT MAX(a) FROM t) * 2`, `(Binary * (Subquery Query=(Query Body=(Select Items=[(SelectItem (Call Name=MAX Args=[a]))] From=[(TableRef Name=t)]))) 2)`},
		{`IDENTITY(int, 1, 1)`, `(Call Name=IDENTITY Args=[int 1 1])`},
	})
}

// TestCondition checks conditions, and parentheses that hold either.
func TestCondition(t *testing.T) {
	t.Parallel()
	runCases(t, (*parser).condition, []parseCase{
		{`a = 1`, `(Compare = a 1)`},
		{`a != 1`, `(Compare <> a 1)`},
		{`a !< 1`, `(Compare !< a 1)`},
		{`a > = 1`, `(Compare >= a 1)`},
		{"a <\r\n\t= 1", `(Compare <= a 1)`},
		{`a < > 1`, `(Compare <> a 1)`},
		{`a ! = 1`, `(Compare <> a 1)`},
		{`a !  < 1`, `(Compare !< a 1)`},
		{`a ! > 1`, `(Compare !> a 1)`},
		{`a > -1`, `(Compare > a (Unary - 1))`},
		{`NOT a = 1 AND b = 2 OR c = 3`, `(Logical OR (Logical AND (Not (Compare = a 1)) (Compare = b 2)) (Compare = c 3))`},
		{`a = 1 OR b = 2 AND c = 3`, `(Logical OR (Compare = a 1) (Logical AND (Compare = b 2) (Compare = c 3)))`},
		{`NOT (NOT a = 1)`, `(Not (Paren (Not (Compare = a 1))))`},
		{`(a = 1 OR b = 2) AND (((c = 3)))`, `(Logical AND (Paren (Logical OR (Compare = a 1) (Compare = b 2))) (Paren (Paren (Paren (Compare = c 3)))))`},
		{`(a) = (1) AND (a + 1) * 2 > 3`, `(Logical AND (Compare = (Paren a) (Paren 1)) (Compare > (Binary * (Paren (Binary + a 1)) 2) 3))`},
		{`((((a)))) = 1`, `(Compare = (Paren (Paren (Paren (Paren a)))) 1)`},
		{`a + 1 BETWEEN b AND c + 1 AND d = 1`, `(Logical AND (Between (Binary + a 1) Low=b High=(Binary + c 1)) (Compare = d 1))`},
		{`a NOT BETWEEN 1 AND 2`, `(Between a Low=1 High=2 Not)`},
		{`a IN (1, 2, @c)`, `(In a List=[1 2 @c])`},
		{`a NOT IN (SELECT b FROM t)`, `(In a Query=(Query Body=(Select Items=[(SelectItem b)] From=[(TableRef Name=t)])) Not)`},
		{`a IN ((SELECT 1) UNION (SELECT 2))`, `(In a Query=(Query Body=(SetOperation UNION (ParenQuery Query=(Query Body=(Select Items=[(SelectItem 1)]))) (ParenQuery Query=(Query Body=(Select Items=[(SelectItem 2)]))))))`},
		{`a IN ((SELECT 1))`, `(In a Query=(Query Body=(Select Items=[(SelectItem 1)])))`},
		{`a IN ((SELECT 1) + 1, 2)`, `(In a List=[(Binary + (Subquery Query=(Query Body=(Select Items=[(SelectItem 1)]))) 1) 2])`},
		{`a LIKE 'x%' ESCAPE '\'`, `(Like a Pattern='x%' Escape='\')`},
		{`a NOT LIKE b + '%'`, `(Like a Pattern=(Binary + b '%') Not)`},
		{`a IS NULL`, `(IsNull a)`},
		{`a IS NOT NULL`, `(IsNull a Not)`},
		{`a IS DISTINCT FROM b`, `(Compare "IS DISTINCT FROM" a b)`},
		{`a IS NOT DISTINCT FROM NULL`, `(Compare "IS NOT DISTINCT FROM" a NULL)`},
		{`EXISTS (SELECT 1 FROM t)`, `(Exists Query=(Query Body=(Select Items=[(SelectItem 1)] From=[(TableRef Name=t)])))`},
		{`NOT EXISTS ((SELECT 1) UNION (SELECT 2))`, `(Not (Exists Query=(Query Body=(SetOperation UNION (ParenQuery Query=(Query Body=(Select Items=[(SelectItem 1)]))) (ParenQuery Query=(Query Body=(Select Items=[(SelectItem 2)])))))))`},
		{`a = ANY (SELECT 1)`, `(Quantified = Quantifier=ANY a Query=(Query Body=(Select Items=[(SelectItem 1)])))`},
		{`a <> ALL (SELECT 1)`, `(Quantified <> Quantifier=ALL a Query=(Query Body=(Select Items=[(SelectItem 1)])))`},
		{`a >= SOME (SELECT 1)`, `(Quantified >= Quantifier=SOME a Query=(Query Body=(Select Items=[(SelectItem 1)])))`},
		{`UPDATE(a) OR UPDATE([b])`, `(Logical OR (UpdateTest Column=a) (UpdateTest Column=[b]))`},
		{`CONTAINS(a, 'x') AND FREETEXT((a, b), 'y', LANGUAGE 1033)`, `(Logical AND (Call Name=CONTAINS Args=[a 'x']) (Call Name=FREETEXT Args=[a b 'y' 1033]))`},
		{`CONTAINS(*, N'x')`, `(Call Name=CONTAINS Star Args=[N'x'])`},
		{`IIF(a > 1, 1, 0) = 1`, `(Compare = (Call Name=IIF Args=[(Compare > a 1) 1 0]) 1)`},
		{`CASE WHEN a = 1 THEN 1 ELSE 0 END = 1`, `(Compare = (Case Whens=[(CaseWhen When=(Compare = a 1) Then=1)] Else=0) 1)`},
		{`(SELECT 1) = 1`, `(Compare = (Subquery Query=(Query Body=(Select Items=[(SelectItem 1)]))) 1)`},
		{`(SELECT COUNT(*) FROM t) > 0 AND (SELECT 1) IS NULL`, `(Logical AND (Compare > (Subquery Query=(Query Body=(Select Items=[(SelectItem (Call Name=COUNT Star))] From=[(TableRef Name=t)]))) 0) (IsNull (Subquery Query=(Query Body=(Select Items=[(SelectItem 1)])))))`},
	})
}

// TestExprErrors checks what is said, and where, about expressions that are none.
func TestExprErrors(t *testing.T) {
	t.Parallel()
	runErrors(t, (*parser).expr, []parseCase{
		{`1 +`, `1:4: expected an expression, found the end of the file`},
		{`a = 1`, `1:1: expected a value, found a condition`},
		{`1 + (a = 2)`, `1:5: expected a value, found a condition`},
		{`(a, b)`, `1:3: T-SQL has no row values (a, b)`},
		{`(a`, `1:3: expected ) to close (, found the end of the file`},
		{`a b`, `1:3: expected the end, found b`},
		{`f(1`, `1:4: expected ) to close f (, found the end of the file`},
		{`f(1,)`, `1:5: expected an expression, found )`},
		{`f(a = 1)`, `1:3: expected a value, found a condition`},
		{`CASE END`, `1:6: expected an expression, found END`},
		{`CASE WHEN a THEN 1 END`, `1:11: expected a condition, found a value`},
		{`CASE WHEN a = 1 THEN 1`, `1:23: expected WHEN, ELSE or END, found the end of the file`},
		{`CAST(a int)`, `1:8: expected AS, found int`},
		{`CAST(a AS)`, `1:10: expected a data type, found )`},
		{`CONVERT(int)`, `1:12: expected ,, found )`},
		{`@x.nodes('/a')`, `1:4: nodes yields rows and stands only in FROM`},
		{`x.modify('/a')`, `1:3: modify changes a value and stands only in SET`},
		{`geography::[Null]`, `1:10: properties of CLR types aren't supported`},
		{`{fn NOW()}`, `1:1: ODBC escapes, {…}, aren't supported`},
		{`{d '2020-01-01'}`, `1:1: ODBC escapes, {…}, aren't supported`},
		{`t.*`, `1:3: t.* can stand only in a select list or an OUTPUT list`},
		{`*`, `1:1: a star can stand only in a select list, an OUTPUT list and COUNT(*)`},
		{`COUNT(t.*)`, `1:9: t.* can stand only in a select list or an OUTPUT list`},
		{`select`, `1:1: expected an expression, found select`},
		{`a.from`, `1:3: expected a name, found from`},
		{`DEFAULT`, `1:1: expected an expression, found DEFAULT`},
		{`1 = 2 = 3`, `1:7: a comparison can't be compared again with =`},
		{`JSON_OBJECT('a', 1)`, `1:16: expected : after a key of JSON_OBJECT, found ,`},
		{`SUM(a) OVER (ROWS UNBOUNDED PRECEDING)`, `1:14: ROWS in a window needs an ORDER BY`},
		{`SUM(a) OVER (ORDER BY b ROWS 1)`, `1:31: expected PRECEDING or FOLLOWING, found )`},
		{`STRING_AGG(a, ',') WITHIN GROUP (a)`, `1:34: expected ORDER, found a`},
		{`NEXT VALUE FOR`, `1:15: expected a name, found the end of the file`},
		{`TRIM(LEADING 'x')`, `1:17: expected FROM, found )`},
		{`(WITH c AS (SELECT 1 AS a) SELECT a FROM c)`, `1:2: common table expressions can't be defined within a subquery`},
		{`(SELECT a FROM t ORDER BY a)`, `1:27: ORDER BY in a subquery orders nothing`},
		{`(SELECT a FROM t OPTION (RECOMPILE))`, `1:26: OPTION can't stand in a subquery`},
		{`(SELECT 1`, `1:10: expected ) to close (, found the end of the file`},
		{`(UNION SELECT 2)`, `1:2: expected an expression, found UNION`},
		{`a.b.c.d.e.f`, `1:1: a name has more than five parts`},
		{`a COLLATE 'x'`, `1:11: expected a name, found a string`},
		{`SUM(a) OVER (ORDER BY b ROWS BETWEEN CURRENT ROW)`, `1:49: expected AND, found )`},
	})
}

// TestConditionErrors checks what is said, and where, about conditions that are none.
func TestConditionErrors(t *testing.T) {
	t.Parallel()
	runErrors(t, (*parser).condition, []parseCase{
		{`a`, `1:1: expected a condition, found a value`},
		{`a + 1`, `1:1: expected a condition, found a value`},
		{`a AND b = 1`, `1:1: expected a condition, found a value`},
		{`a = 1 AND b`, `1:11: expected a condition, found a value`},
		{`NOT a`, `1:5: expected a condition, found a value`},
		{`(a) OR (b)`, `1:1: expected a condition, found a value`},
		{`a = 1 = 2`, `1:7: a comparison can't be compared again with =`},
		{`a IN ()`, `1:7: IN needs at least one value`},
		{`a IN @list`, `1:6: expected (, found @list`},
		{`a IN 1`, `1:6: expected (, found 1`},
		{`a BETWEEN 1`, `1:12: expected AND, found the end of the file`},
		{`a BETWEEN 1 OR 2`, `1:13: expected AND, found OR`},
		{`a IS 1`, `1:6: expected NULL or DISTINCT FROM, found 1`},
		{`a IS NOT`, `1:9: expected NULL or DISTINCT FROM, found the end of the file`},
		{`a LIKE`, `1:7: expected an expression, found the end of the file`},
		{`EXISTS (1)`, `1:9: expected a query, found 1`},
		{`EXISTS SELECT 1`, `1:8: expected (, found SELECT`},
		{`(a = 1) = 1`, `1:1: expected a value, found a condition`},
		{`(a = 1) + 1 = 2`, `1:1: expected a value, found a condition`},
		{`a = (b = 1)`, `1:5: expected a value, found a condition`},
		{`a = ANY (1, 2)`, `1:10: expected a query, found 1`},
		{`a = NOT b`, `1:5: expected an expression, found NOT`},
		{`EXISTS (SELECT 1) = 1`, `1:1: expected a value, found a condition`},
		{`a == 1`, `1:4: expected an expression, found =`},
	})
}

// TestNestingIsBounded feeds texts that nest deeply or chain long: each must end in one error or in a tree that a
// recursive walker can take, without a stack overflow and in time proportional to the text.
func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	const many = 100_000
	nested, links := "nested more than 200 levels deep", "an expression has more than 10000 operators"
	cases := []struct {
		name, text, want string
	}{
		{"parentheses", strings.Repeat("(", many), nested},
		{"closed parentheses", strings.Repeat("(", many) + "1" + strings.Repeat(")", many), nested},
		{"signs", strings.Repeat("- ", many) + "1", nested},
		{"tildes", strings.Repeat("~", many) + "1", nested},
		{"negations", strings.Repeat("NOT ", many) + "a = 1", nested},
		{"cases", strings.Repeat("CASE ", many), nested},
		{"calls", strings.Repeat("f(", many), nested},
		{"subqueries", strings.Repeat("(SELECT ", many), nested},
		{"parenthesized queries", "EXISTS " + strings.Repeat("(", many), nested},
		{"chains in chains", strings.Repeat("(", 50) + "1" + strings.Repeat(strings.Repeat("+1", 500)+")", 50), links},
		{"tables", "EXISTS (SELECT 1 FROM " + strings.Repeat("(", many), nested},
		{"grouping sets", "EXISTS (SELECT 1 GROUP BY CUBE " + strings.Repeat("(", many), nested},
		{"joins within joins", "EXISTS (SELECT 1 FROM a " + strings.Repeat("JOIN a ", many), nested},
		{"sum", "1" + strings.Repeat("+1", many), links},
		{"product", "1" + strings.Repeat("*1", many), links},
		{"and", "a = 1" + strings.Repeat(" AND a = 1", many), links},
		{"or", "a = 1" + strings.Repeat(" OR a = 1", many), links},
		{"collate", "a" + strings.Repeat(" COLLATE b", many), links},
		{"time zones", "a" + strings.Repeat(" AT TIME ZONE b", many), links},
		{"unions", "EXISTS (SELECT 1" + strings.Repeat(" UNION SELECT 1", many), "a query has more than 2000 joins"},
		{"cross joins", "EXISTS (SELECT 1 FROM a" + strings.Repeat(" CROSS JOIN a", many), "a query has more than 2000 joins"},
		{"pivots", "EXISTS (SELECT 1 FROM a" + strings.Repeat(" PIVOT (f(x) FOR y IN (z)) AS p", many), "a query has more than 2000 joins"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, found := parseWith(c.text, (*parser).either)
			if len(found) != 1 || !strings.Contains(found[0].Message, c.want) {
				t.Errorf("got %s\nwant %s", errorsOf(found), c.want)
			}
		})
	}
}

// TestLongListsAreFine checks that the bounds are on nesting and chains only, not on the length of lists.
func TestLongListsAreFine(t *testing.T) {
	t.Parallel()
	const many = 50_000
	for name, text := range map[string]string{
		"in":       "a IN (1" + strings.Repeat(", 1+1", many) + ")",
		"values":   "EXISTS (SELECT 1 FROM (VALUES (1)" + strings.Repeat(", (1+1)", many) + ") AS v (a))",
		"when":     "CASE a " + strings.Repeat("WHEN 1 THEN 2 ", many) + "END",
		"sum":      "1" + strings.Repeat("+1", maxLinks),
		"balanced": strings.Repeat("(", maxDepth-1) + "1" + strings.Repeat(")", maxDepth-1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, found := parseWith(text, (*parser).either); len(found) > 0 {
				t.Error(errorsOf(found))
			}
		})
	}
}
