package sysview

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// expression parses the condition of a check, or any other expression.
func expression(t *testing.T, text string) syntax.Expr {
	t.Helper()
	for _, form := range []string{
		"CREATE TABLE dbo.t (a int DEFAULT " + text + ")",
		"CREATE TABLE dbo.t (a int, CHECK (" + text + "))",
		"CREATE TABLE dbo.t (a int, b AS " + text + ")",
	} {
		script, found := syntax.Parse(diag.NewFile("t.sql", form))
		if len(found) > 0 {
			continue
		}
		def := script.Batches[0].Stmts[0].(*syntax.CreateTable).Def
		switch last := def.Columns[len(def.Columns)-1]; {
		case last.Default != nil:
			return last.Default
		case last.Computed != nil:
			return last.Computed
		default:
			return def.Constraints[0].Check
		}
	}
	t.Fatalf("%s is no expression", text)
	return nil
}

func TestDefinition(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0":                                    "((0))",
		"((0))":                                "((0))",
		"-1":                                   "((-1))",
		"1.50":                                 "((1.50))",
		"NULL":                                 "(NULL)",
		"'x'":                                  "('x')",
		"N'it''s'":                             "(N'it''s')",
		"0x01":                                 "(0x01)",
		"GETDATE()":                            "(getdate())",
		"CURRENT_TIMESTAMP":                    "(getdate())",
		"SYSTEM_USER":                          "(suser_sname())",
		"1 + 2":                                "((1)+(2))",
		"CAST(1 AS BigInt)":                    "(CONVERT([bigint],(1)))",
		"CONVERT(nvarchar(10), N'', 126)":      "(CONVERT([nvarchar](10),N'',(126)))",
		"TRY_CAST('1' AS int)":                 "(TRY_CAST('1' AS [int]))",
		"dbo.next_id(1)":                       "([dbo].[next_id]((1)))",
		"NEXT VALUE FOR dbo.numbers":           "(NEXT VALUE FOR [dbo].[numbers])",
		"DATEADD(year, -18, GETDATE())":        "(dateadd(year,(-18),getdate()))",
		"a > 0":                                "([a]>(0))",
		"a <> 0":                               "([a]<>(0))",
		"a BETWEEN 0 AND 8":                    "([a]>=(0) AND [a]<=(8))",
		"UPPER(a) IN ('M', 'S')":               "(upper([a])='S' OR upper([a])='M')",
		"a IN (1, 2) AND b = 3":                "(([a]=(2) OR [a]=(1)) AND [b]=(3))",
		"a = 1 AND b = 2 OR c IS NULL":         "([a]=(1) AND [b]=(2) OR [c] IS NULL)",
		"(a = 1 OR b = 2) AND c = 3":           "(([a]=(1) OR [b]=(2)) AND [c]=(3))",
		"NOT (a = 1 AND b = 2)":                "(NOT ([a]=(1) AND [b]=(2)))",
		"a IS NOT NULL":                        "([a] IS NOT NULL)",
		"a LIKE 'x%' ESCAPE '!'":               "([a] like 'x%' escape '!')",
		"LEN([my col]) > 0":                    "(len([my col])>(0))",
		"ISNULL((a * (1.0 - b)) * c, 0.0)":     "(isnull(([a]*((1.0)-[b]))*[c],(0.0)))",
		"ISNULL(a + b + c, 0)":                 "(isnull(([a]+[b])+[c],(0)))",
		"CASE WHEN a = 1 THEN 2 ELSE 3 END":    "(case when [a]=(1) then (2) else (3) end)",
		"CASE a WHEN 1 THEN 'x' END":           "(case [a] when (1) then 'x' end)",
		"IIF(a = 1, 2, 3)":                     "(case when [a]=(1) then (2) else (3) end)",
		"-(a)":                                 "(-[a])",
		"a COLLATE Latin1_General_BIN2 = N'a'": "([a] collate Latin1_General_BIN2=N'a')",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := Definition(expression(t, text)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	if got, want := FilterDefinition(expression(t, "a IN (1, 2)")), "([a] IN ((1), (2)))"; got != want {
		t.Errorf("a filter: got %s, want %s", got, want)
	}
}
