package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/render/rendertest"
)

// mutationsVariable is how many mutated projects TestCorpusMutated reads; 3,000 if it is not set.
const mutationsVariable = "SQLC_GEN_TSQL_MUTATIONS"

// TestCorpusMutated breaks one script of a whole project in one place, again and again, and generates from the project.
// Nothing panics, every finding has a place, and what is generated compiles. What a number does is the same each time.
func TestCorpusMutated(t *testing.T) { //nolint:tparallel // one project at a time: each takes much memory
	t.Parallel()
	total := 3000
	if text := os.Getenv(mutationsVariable); text != "" {
		var err error
		if total, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	shares := sharesOf(t)
	var generated, refused int
	eachProject(t, func(t *testing.T, p project) {
		p, _ = p.settle(t)
		for i := range int(math.Round(float64(total) * shares[p.name])) {
			if mutate(t, p, uint64(i)) {
				generated++
			} else {
				refused++
			}
		}
	})
	t.Logf("%d mutated projects: from %d code came, %d had findings", generated+refused, generated, refused)
}

// sharesOf returns how large a part of the mutations each project gets: small ones more, as they take less time.
func sharesOf(t *testing.T) map[string]float64 {
	t.Helper()
	shares, sum := map[string]float64{}, 0.0
	for _, folder := range projectFolders(t) {
		size := 10_000
		for _, s := range readProject(t, folder).sources {
			size += len(s.Text)
		}
		name := filepath.Base(folder)
		shares[name] = 1 / math.Sqrt(float64(size))
		sum += shares[name]
	}
	for name := range shares {
		shares[name] /= sum
	}
	return shares
}

// mutate changes a project and generates from it. It reports whether code came.
func mutate(t *testing.T, p project, seed uint64) (generated bool) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 35))
	p.sources = slices.Clone(p.sources)
	at := random.IntN(len(p.sources))
	kind := random.IntN(len(mutations))
	what := fmt.Sprintf("mutation %d, %s in %s", seed, mutations[kind].name, p.sources[at].Name)
	defer func() {
		if broken := recover(); broken != nil {
			t.Errorf("%s: %v\n%s", what, broken, debug.Stack())
		}
	}()
	text := mutations[kind].change(p.sources[at].Text, random)
	p.sources[at].Text = text
	if text == "" {
		p.sources = slices.Delete(p.sources, at, at+1)
	}
	result, findings := Run(p.sources, p.options)
	for _, d := range findings {
		if !placed(d) {
			t.Errorf("%s: a finding without a place: %s", what, d.Error())
		}
	}
	if len(findings) > 0 {
		return false
	}
	if err := rendertest.Check(result.Files); err != nil {
		t.Errorf("%s: the generated code doesn't compile: %v", what, err)
	}
	return true
}

// placed reports whether a finding says where something is wrong. One about the options has no place in the scripts.
func placed(d diag.Diagnostic) bool {
	if d.File == nil {
		return d.Rule == "option" && d.Message != ""
	}
	return d.Message != "" && d.Span.From >= 0 && d.Span.To >= d.Span.From && int(d.Span.To) <= len(d.File.Text)
}

// mutations are the ways to change a text. Without a text its file is dropped.
var mutations = []struct {
	name   string
	change func(text string, random *rand.Rand) string
}{
	{"a token deleted", func(text string, random *rand.Rand) string {
		return edit(text, random, func(tokens []string, i, _ int) { tokens[i] = "" })
	}},
	{"a token doubled", func(text string, random *rand.Rand) string {
		return edit(text, random, func(tokens []string, i, _ int) { tokens[i] += " " + tokens[i] })
	}},
	{"two tokens swapped", func(text string, random *rand.Rand) string {
		return edit(text, random, func(tokens []string, i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
	}},
	{"neighbours swapped", func(text string, random *rand.Rand) string {
		return edit(text, random, func(tokens []string, i, _ int) {
			j := min(i+2, len(tokens)-1)
			tokens[i], tokens[j] = tokens[j], tokens[i]
		})
	}},
	{"one token put in the place of another", func(text string, random *rand.Rand) string {
		return edit(text, random, func(tokens []string, i, j int) { tokens[i] = tokens[j] })
	}},
	{"two names swapped everywhere", func(text string, random *rand.Rand) string {
		return edit(text, random, func(tokens []string, i, j int) {
			a, b := tokens[i], tokens[j]
			for k, token := range tokens {
				switch token {
				case a:
					tokens[k] = b
				case b:
					tokens[k] = a
				}
			}
		})
	}},
	{"types changed", func(text string, random *rand.Rand) string {
		return typeWord.ReplaceAllStringFunc(text, func(word string) string {
			if random.IntN(4) > 0 {
				return word
			}
			return typeWords[random.IntN(len(typeWords))]
		})
	}},
	{"the end cut off", func(text string, random *rand.Rand) string { return text[:random.IntN(len(text)+1)] }},
	{"a part cut out", func(text string, random *rand.Rand) string {
		from := random.IntN(len(text) + 1)
		return text[:from] + text[from+random.IntN(len(text)-from+1):]
	}},
	{"the file dropped", func(string, *rand.Rand) string { return "" }},
}

var (
	tokenText = regexp.MustCompile(`[\w@#$]+|\s+|.`)
	typeWords = []string{
		"int", "bigint", "nvarchar(max)", "varchar(20)", "datetime2(3)", "decimal(9, 2)", "bit", "xml", "uniqueidentifier", "float",
		"sql_variant", "rowversion", "varbinary(8)", "money", "sysname", "geography",
	}
	typeWord = regexp.MustCompile(`(?i)\b(?:int|bigint|bit|datetime|n?varchar *\( *\w+ *\)|uniqueidentifier|money)\b`)
)

// edit changes the tokens of a text, two of which are drawn.
func edit(text string, random *rand.Rand, change func(tokens []string, i, j int)) string {
	tokens := tokenText.FindAllString(text, -1)
	if len(tokens) > 0 {
		change(tokens, random.IntN(len(tokens)), random.IntN(len(tokens)))
	}
	return strings.Join(tokens, "")
}
