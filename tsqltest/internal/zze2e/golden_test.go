package zze2e_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsqltest/internal/request"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schedule"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schema"
	"github.com/duroxide/duroxide-go/tsqltest/internal/session"
	"github.com/duroxide/duroxide-go/tsqltest/internal/store"
	"github.com/duroxide/duroxide-go/tsqltest/internal/value"
)

var textRE = regexp.MustCompile(`text:\s+("(?:[^"\\]|\\.)*"),`)
var declsRE = regexp.MustCompile(`decls:\s+("(?:[^"\\]|\\.)*"),`)

func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("/work/main/tools/sqlc-gen-tsql/testdata/golden/*/*.txtar")
	for _, f := range files {
		if strings.Contains(f, "refused") || strings.Contains(f, "/errors/") {
			continue
		}
		b, _ := os.ReadFile(f)
		cat := schema.NewServer(value.DefaultCollation, "work", value.Value{})
		sch := schedule.NewReal()
		srv := session.NewServer(cat, store.NewEngine(sch, func() uint64 { return 4 }), session.Options{Scheduler: sch, Now: time.Now, Random: func() uint64 { return 4 }, Name: "x"})
		s, err := srv.Open(context.Background(), request.Login{User: "sa", Database: "work"})
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(f)) + "/" + filepath.Base(f)
		run := func(part, batch string) {
			k := &sink{}
			if err := s.Execute(context.Background(), request.Batch{Text: batch}, k); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, l := range k.out {
				if strings.HasPrefix(l, "ERROR") {
					if len(batch) > 300 { batch = batch[:300] }
					t.Logf("%s %s: %s\n      %s", name, part, l, strings.ReplaceAll(batch, "\n", " "))
				}
			}
		}
		sections := regexp.MustCompile(`(?m)^-- (\S+) --\n`).Split(string(b), -1)
		names := regexp.MustCompile(`(?m)^-- (\S+) --\n`).FindAllStringSubmatch(string(b), -1)
		for i, n := range names {
			text := sections[i+1]
			if !strings.HasSuffix(n[1], ".sql") || strings.HasPrefix(n[1], "want") || strings.Contains(text, "-- name:") {
				continue
			}
			for _, batch := range regexp.MustCompile(`(?mi)^GO\s*$`).Split(text, -1) {
				if strings.TrimSpace(batch) != "" {
					run(n[1], batch)
				}
			}
		}
		for _, block := range strings.Split(string(b), "= statement{")[1:] {
			m, d := textRE.FindStringSubmatch(block), declsRE.FindStringSubmatch(block)
			if m == nil || !strings.Contains(block, "batch:") { continue }
			text, _ := strconv.Unquote(m[1])
			if d != nil {
				decls, _ := strconv.Unquote(d[1])
				decls = strings.ReplaceAll(strings.ReplaceAll(decls, " READONLY", ""), " OUTPUT", "")
				text = "DECLARE " + decls + "; " + text
			}
			run("query", text)
		}
	}
}
