package zze2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/duroxide/duroxide-go/tsqltest/internal/fault"
	"github.com/duroxide/duroxide-go/tsqltest/internal/request"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schedule"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schema"
	"github.com/duroxide/duroxide-go/tsqltest/internal/session"
	"github.com/duroxide/duroxide-go/tsqltest/internal/store"
	"github.com/duroxide/duroxide-go/tsqltest/internal/value"
)

type sink struct {
	out  []string
	cols []request.Column
}

func (s *sink) Columns(c []request.Column) error { s.cols = c; return nil }
func (s *sink) Row(v []value.Value) error {
	var p []string
	for _, x := range v {
		p = append(p, x.String())
	}
	s.out = append(s.out, strings.Join(p, "|"))
	return nil
}
func (s *sink) Done(string, int64, bool, bool) error { return nil }
func (s *sink) Error(e *fault.Error) error {
	s.out = append(s.out, fmt.Sprintf("ERROR %d line %d: %s", e.Number, e.Line, e.Message))
	return nil
}

func (s *sink) Message(e *fault.Error) error {
	s.out = append(s.out, fmt.Sprintf("message %d: %s", e.Number, e.Message))
	return nil
}
func (s *sink) ReturnStatus(int32) error                          { return nil }
func (s *sink) Output(string, int, value.Type, value.Value) error { return nil }
func (s *sink) DatabaseChanged(string, string) error              { return nil }
func (s *sink) TransactionBegan(uint64) error                     { return nil }
func (s *sink) TransactionCommitted(uint64) error                 { return nil }
func (s *sink) TransactionRolledBack(uint64) error                { return nil }

func TestE2E(t *testing.T) {
	cat := schema.NewServer(value.DefaultCollation, "work", value.Value{})
	sch := schedule.NewReal()
	srv := session.NewServer(cat, store.NewEngine(sch, func() uint64 { return 4 }), session.Options{Scheduler: sch, Now: time.Now, Random: func() uint64 { return 4 }, Name: "x"})
	s, err := srv.Open(t.Context(), request.Login{User: "sa", Database: "work"})
	if err != nil {
		t.Fatal(err)
	}
	run := func(name, text string) {
		for i, batch := range strings.Split(text, "\nGO\n") {
			if strings.TrimSpace(batch) == "" || strings.TrimSpace(batch) == "GO" {
				continue
			}
			k := &sink{}
			batch = strings.TrimSuffix(strings.TrimSpace(batch), "\nGO")
			if err := s.Execute(t.Context(), request.Batch{Text: batch}, k); err != nil {
				t.Errorf("%s %d: %v", name, i, err)
			}
			for _, l := range k.out {
				t.Logf("%s %d: %s", name, i, l)
			}
		}
	}
	run("schema", "CREATE SCHEMA duroxide")
	root := "/work/main/sql"
	var files []string
	for _, g := range []string{"schema/*.sql", "schema/functions/*.sql", "schema/views/*.sql", "procedures/*.sql"} {
		m, _ := filepath.Glob(filepath.Join(root, g))
		sort.Strings(m)
		files = append(files, m...)
	}
	for _, f := range files {
		b, _ := os.ReadFile(f)
		run(filepath.Base(f), string(b))
	}
	if f := os.Getenv("E2E"); f != "" {
		b, _ := os.ReadFile(f)
		run("e2e", string(b))
	}
}
