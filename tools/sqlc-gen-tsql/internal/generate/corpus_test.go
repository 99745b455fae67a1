package generate

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/duroxide/duroxide-go/internal/tsql/diag"
	"github.com/duroxide/duroxide-go/internal/tsql/syntax"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/config"
)

// corpusVariable names a folder of T-SQL that we didn't write. None of it is kept here: point the variable at any
// collection of scripts. Each file is a project by itself.
const corpusVariable = "SQLC_GEN_TSQL_CORPUS"

// tally is what became of a corpus.
type tally struct {
	files, batches, bound, refused int
	procedures, typed              int
	reasons                        map[string]int
}

// TestCorpus reads scripts of strangers. Every batch is either understood or refused with a position inside it, and
// nothing panics. It prints how many of each, and the most frequent reasons.
func TestCorpus(t *testing.T) {
	t.Parallel()
	root := os.Getenv(corpusVariable)
	if root == "" {
		t.Skip("set " + corpusVariable + " to a folder of .sql files to run this test")
	}
	total := tally{reasons: map[string]int{}}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.EqualFold(filepath.Ext(path), ".sql") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		total.files++
		total.read(t, Source{Name: filepath.ToSlash(path), Text: decode(content), Role: Schema})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d batches: %d bound, %d refused; %d procedures, %d of them typed",
		total.files, total.batches, total.bound, total.refused, total.procedures, total.typed)
	for _, reason := range total.frequent(40) {
		t.Logf("%6d  %s", total.reasons[reason], reason)
	}
}

// read generates from one script and counts what became of its batches.
func (c *tally) read(t *testing.T, source Source) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", source.Name, r)
		}
	}()
	options := config.Default()
	options.Model.Package = "db"
	result, findings := Run([]Source{source}, options)
	file := diag.NewFile(source.Name, strings.ReplaceAll(source.Text, "\r\n", "\n"))
	places := make([]diag.Pos, 0, len(findings))
	for _, d := range findings {
		if d.File == nil || d.Span.From < 0 || int(d.Span.To) > len(file.Text) || d.Span.To < d.Span.From || d.Message == "" {
			t.Errorf("%s: a finding without a place: %s", source.Name, d.Error())
			continue
		}
		places = append(places, d.Span.From)
		c.reasons[d.Rule+": "+generic(d.Message)]++
	}
	slices.Sort(places)
	c.count(file, places)
	for _, p := range result.Catalog.Procedures {
		c.procedures++
		if !within(places, p.Batch.From, p.Batch.To) {
			c.typed++
		}
	}
}

// within reports whether one of the sorted places is in a range.
func within(places []diag.Pos, from, to diag.Pos) bool {
	at, _ := slices.BinarySearch(places, from)
	return at < len(places) && places[at] <= to
}

// count sorts the batches of a file into bound and refused.
func (c *tally) count(file *diag.File, places []diag.Pos) {
	script, _ := syntax.Parse(file)
	begin := diag.Pos(0)
	for i, batch := range script.Batches {
		end := batch.To
		if i == len(script.Batches)-1 {
			end = diag.Pos(len(file.Text))
		}
		c.batches++
		if within(places, begin, end) {
			c.refused++
		} else {
			c.bound++
		}
		begin = end
	}
}

// frequent lists the n most frequent reasons.
func (c *tally) frequent(n int) []string {
	var reasons []string
	for reason := range c.reasons {
		reasons = append(reasons, reason)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.reasons[b], c.reasons[a]), cmp.Compare(a, b))
	})
	return reasons[:min(n, len(reasons))]
}

// generic takes the names out of a message, so that messages of a kind count together.
func generic(message string) string {
	words := strings.Fields(message)
	for i, word := range words {
		if strings.ContainsAny(word, "\"'@#[].(=0123456789") {
			words[i] = "…"
		}
	}
	return strings.Join(words, " ")
}

// decode turns a file into text: some tools of SQL Server write UTF-16, and old files are in a code page.
func decode(content []byte) string {
	if len(content) >= 2 && content[0] == 0xff && content[1] == 0xfe {
		units := make([]uint16, 0, len(content)/2)
		for i := 2; i+1 < len(content); i += 2 {
			units = append(units, uint16(content[i])|uint16(content[i+1])<<8)
		}
		return string(utf16.Decode(units))
	}
	if utf8.Valid(content) {
		return string(content)
	}
	var text strings.Builder
	for _, b := range content {
		fmt.Fprintf(&text, "%c", rune(b))
	}
	return text.String()
}
