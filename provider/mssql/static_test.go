package mssql_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// repository is the root of the repository.
const repository = "../.."

// A procedureFile is a script of sql/procedures.
type procedureFile struct {
	// name is the procedure's, which is the file's.
	name string
	// header is the comment above the procedure, code the rest without comments.
	header, code string
}

var lineComment = regexp.MustCompile(`(?m)--.*$`)

// procedureFiles reads sql/procedures.
func procedureFiles(t *testing.T) []procedureFile {
	t.Helper()
	names, err := filepath.Glob(repository + "/sql/procedures/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("no procedures: %v", err)
	}
	files := make([]procedureFile, len(names))
	for i, name := range names {
		text := readText(t, name)
		header, _, found := strings.Cut(text, "\nCREATE OR ALTER PROCEDURE ")
		if !found {
			t.Fatalf("%s creates no procedure", name)
		}
		files[i] = procedureFile{
			name:   strings.TrimSuffix(filepath.Base(name), ".sql"),
			header: header,
			code:   lineComment.ReplaceAllString(text[len(header):], ""),
		}
	}
	return files
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// A procedure that nobody calls is deployed, granted and reviewed for nothing, and one day is wrong.
func TestEveryProcedureIsCalled(t *testing.T) {
	t.Parallel()
	files := procedureFiles(t)
	executed := map[string]bool{}
	executes := regexp.MustCompile(`\bEXEC(?:UTE)?\s+(?:@\w+\s*=\s*)?duroxide\.(\w+)`)
	for _, file := range files {
		for _, match := range executes.FindAllStringSubmatch(file.code, -1) {
			// One that calls itself is not thereby called.
			executed[match[1]] = executed[match[1]] || match[1] != file.name
		}
	}
	called := queriesCalls(t)
	for _, file := range files {
		method := generatedMethod(t, file.name)
		switch {
		case executed[file.name]:
		case method == "":
			t.Errorf("%s says gen:internal, and no procedure executes it", file.name)
		case !called[method]:
			t.Errorf("nothing in provider/mssql calls %s, and no procedure executes it", file.name)
		}
	}
}

// generatedMethod returns the Go method that calls a procedure, "" if none was generated.
func generatedMethod(t *testing.T, procedure string) string {
	t.Helper()
	text, err := os.ReadFile(repository + "/gen/mssqldb/" + procedure + ".sql.go")
	if err != nil {
		return ""
	}
	method := regexp.MustCompile(`(?m)^func \(q \*Queries\) ([A-Z]\w*)\(ctx`).FindSubmatch(text)
	if method == nil {
		t.Fatalf("the code that was generated for %s has no method", procedure)
	}
	return string(method[1])
}

// queriesCalls returns the names of the generated methods that the store calls: on q, as call hands it out, or on the
// store's queries.
func queriesCalls(t *testing.T) map[string]bool {
	t.Helper()
	called := map[string]bool{}
	for _, file := range parsePackage(t, ".", false) {
		ast.Inspect(file, func(n ast.Node) bool {
			method, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			ast.Inspect(method.X, func(inner ast.Node) bool {
				if id, ok := inner.(*ast.Ident); ok && (id.Name == "q" || id.Name == "queries") {
					called[method.Sel.Name] = true
				}
				return true
			})
			return true
		})
	}
	return called
}

// parsePackage parses the Go files of a folder: its tests, or everything else.
func parsePackage(t *testing.T, folder string, tests bool) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// thrown finds the numbers that a text raises, listed those of a header's section Errors.
var (
	thrown = regexp.MustCompile(`\bTHROW\s+(\d+)`)
	listed = regexp.MustCompile(`(?m)^-- {3}(\d{5}) (\w+): `)
)

// errorNames returns the numbers of the procedures' headers with their names. Rule P5: one number has one name and one
// name has one number, in all files.
func errorNames(t *testing.T) map[string]string {
	t.Helper()
	names, numbers := map[string]string{}, map[string]string{}
	for _, file := range procedureFiles(t) {
		for _, match := range listed.FindAllStringSubmatch(file.header, -1) {
			number, name := match[1], match[2]
			if other, known := names[number]; known && other != name {
				t.Errorf("%s: error %s is %s, and elsewhere %s", file.name, number, name, other)
			}
			if other, known := numbers[name]; known && other != number {
				t.Errorf("%s: error %s has the number %s, and elsewhere %s", file.name, name, number, other)
			}
			names[number], numbers[name] = name, number
		}
	}
	return names
}

// Rule P5: what is thrown stands in the procedure's header.
func TestThrownErrorsAreInTheHeader(t *testing.T) {
	t.Parallel()
	for _, file := range procedureFiles(t) {
		for _, match := range thrown.FindAllStringSubmatch(file.code, -1) {
			if !strings.Contains(file.header, "\n--   "+match[1]+" ") {
				t.Errorf("%s throws %s, and its header does not list it", file.name, match[1])
			}
		}
	}
}

// Rule P5: the one table of all error numbers is in docs/sqlserver.md. It has every number, no other, and the names of
// the headers. That the store knows what each means is TestEveryThrownNumberHasAMeaning.
func TestErrorNumbersAreInOneTable(t *testing.T) {
	t.Parallel()
	documented := map[string]string{}
	manual := readText(t, repository+"/docs/sqlserver.md")
	for _, match := range regexp.MustCompile("(?m)^\\| (5\\d{4}) \\| `(\\w+)` \\|").FindAllStringSubmatch(manual, -1) {
		if _, twice := documented[match[1]]; twice {
			t.Errorf("docs/sqlserver.md has error %s twice", match[1])
		}
		documented[match[1]] = match[2]
	}
	names := errorNames(t)
	for _, number := range slices.Sorted(maps.Keys(names)) {
		if documented[number] != names[number] {
			t.Errorf("the procedures call error %s %q, and the table of docs/sqlserver.md %q", number, names[number], documented[number])
		}
	}
	for _, number := range slices.Sorted(maps.Keys(documented)) {
		if names[number] == "" {
			t.Errorf("docs/sqlserver.md has error %s, and no procedure lists it", number)
		}
	}
}

// A coverage says what would notice that a T-SQL rule is broken.
type coverage struct {
	// vet are rules of sqlc-gen-tsql, which CI applies to all scripts.
	vet []string
	// tests are functions in provider/mssql and provider/mssql/migrate.
	tests []string
}

// covered lists the rules by which the T-SQL is written, which docs/architecture.md states one by one. One of them
// without a check is a good intention.
var covered = map[string]coverage{
	"P1": {
		vet:   []string{"P1-atomic", "P1-catch", "P1-nested", "P1-open", "P1-settings", "P1-try"},
		tests: []string{"TestNoTransactionIsLeftOpen"},
	},
	"P2": {vet: []string{"P2"}, tests: []string{"TestOneRoundTripPerOperation"}},
	"P3": {vet: []string{"P3-dynamic", "P3-named", "P3-qualify", "P3-schema", "P3-star", "P3-text"}},
	"P4": {vet: []string{"P4-cursor", "P4-goto", "P4-merge", "P4-nolock", "P4-prefix", "P4-waitfor"}},
	"P5": {
		vet:   []string{"P5-documented", "P5-meaning", "P5-number", "P5-raiserror", "P5-rethrow", "P5-swallow"},
		tests: []string{"TestThrownErrorsAreInTheHeader", "TestErrorNumbersAreInOneTable", "TestEveryThrownNumberHasAMeaning"},
	},
	"P6":  {vet: []string{"P6-errors", "P6-header", "P6-hints", "P6-locks", "P6-results"}},
	"P7":  {vet: []string{"P7"}, tests: []string{"TestModulesAreCreatedWithTheRightOptions"}},
	"P8":  {vet: []string{"P8"}, tests: []string{"TestPresentScripts"}},
	"P9":  {vet: []string{"P9-grant"}, tests: []string{"TestRoles"}},
	"Q1":  {vet: []string{"Q1"}},
	"Q2":  {vet: []string{"Q2", "Q2-exists"}, tests: []string{"TestOneHolderPerInstance"}},
	"Q3":  {vet: []string{"Q3", "Q3-rowcount", "Q3-wait"}, tests: []string{"TestNoDoubleClaims"}},
	"Q4":  {tests: []string{"TestNothingMeansNothing"}},
	"Q5":  {vet: []string{"Q5"}, tests: []string{"TestQueueIndexes"}},
	"Q6":  {vet: []string{"Q6-foreign-key", "Q6-order"}, tests: []string{"TestWideFanOutWithoutDeadlocks"}},
	"Q7":  {vet: []string{"Q7-priority", "Q7-top"}, tests: []string{"TestPurgeUnderLoad"}},
	"Q8":  {tests: []string{"TestClaimsDoNotWalkTheFuture", "TestTurnsTouchFewKeys", "TestActivitiesTouchFewKeys"}},
	"Q9":  {vet: []string{"Q9", "Q9-filter", "Q9-index", "Q9-key", "Q9-loop", "Q9-pinned", "Q9-same", "Q9-write"}, tests: []string{"TestPlansOfAnEmptyDatabaseLast"}},
	"Q10": {vet: []string{"Q10"}, tests: []string{"TestConcurrentFirstMessages"}},
	"Q11": {tests: []string{"TestCutAnywhere", "TestCutFetchesGiveBack"}},
	"Q12": {vet: []string{"Q12-level", "Q12-set"}, tests: []string{"TestIsolationLevels"}},
	"T1":  {vet: []string{"T1-length", "T1-param", "T1-unicode"}},
	"T2":  {vet: []string{"T2-column", "T2-once", "T2-overflow", "T2-utc"}},
	"T3":  {vet: []string{"T3"}, tests: []string{"TestIDsAreComparedByteForByte", "TestStoredKeysNeverMeet"}},
	"T4":  {vet: []string{"T4-json", "T4-member"}, tests: []string{"TestPayloadsOfAllSizes"}},
	"T5":  {vet: []string{"T5"}, tests: []string{"TestLongestIDs", "TestKeysThatAreTooLong"}},
	"T6":  {vet: []string{"T6-drop", "T6-name"}},
}

// Every rule has a check, and the checks exist and are run.
func TestEveryRuleIsChecked(t *testing.T) {
	t.Parallel()
	vet, tests := vetRules(t), testFunctions(t)
	for family, last := range map[string]int{"P": 9, "Q": 12, "T": 6} {
		for n := 1; n <= last; n++ {
			rule := family + strconv.Itoa(n)
			checks, ok := covered[rule]
			if !ok || len(checks.vet)+len(checks.tests) == 0 {
				t.Errorf("nothing checks rule %s", rule)
			}
			for _, id := range checks.vet {
				if !vet[id] {
					t.Errorf("rule %s: CI applies no rule %s: sqlc-gen-tsql has none, or sqlc.yaml disables it", rule, id)
				}
			}
			for _, name := range checks.tests {
				if !tests[name] {
					t.Errorf("rule %s: there is no test %s", rule, name)
				}
			}
		}
	}
	if len(covered) != 9+12+6 {
		t.Errorf("the table has %d rules", len(covered))
	}
}

// vetRules returns the rules of sqlc-gen-tsql that CI applies to our scripts. Its documentation is read rather than its
// code, which is private to the generator; a test there keeps the two alike.
func vetRules(t *testing.T) map[string]bool {
	t.Helper()
	if !strings.Contains(readText(t, repository+"/.ci/run"), "sqlc-gen-tsql vet -config sqlc.yaml") {
		t.Error(".ci/run does not lint the T-SQL")
	}
	config := readText(t, repository+"/sqlc.yaml")
	if !strings.Contains(config, "enable: [all]") {
		t.Error("sqlc.yaml does not enable all rules")
	}
	var disabled string
	if match := regexp.MustCompile(`(?m)^ +disable: \[(.*)\]$`).FindStringSubmatch(config); match != nil {
		disabled = match[1]
	}
	rules := map[string]bool{}
	_, table, _ := strings.Cut(readText(t, repository+"/tsql/sqlc-gen-tsql/README.md"), "<!-- begin rules -->")
	table, _, _ = strings.Cut(table, "<!-- end rules -->")
	for _, match := range regexp.MustCompile("(?:\\| |<br>)`([A-Z]\\d+[\\w-]*)` ").FindAllStringSubmatch(table, -1) {
		rules[match[1]] = true
	}
	for id := range strings.SplitSeq(disabled, ",") {
		id = strings.TrimSpace(id)
		// P3 stands for P3-star and its like, too.
		maps.DeleteFunc(rules, func(rule string, _ bool) bool { return rule == id || strings.HasPrefix(rule, id+"-") })
	}
	return rules
}

// testFunctions returns the tests of the store and of the migrator.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, folder := range []string{".", "migrate"} {
		for _, file := range parsePackage(t, folder, true) {
			for _, declaration := range file.Decls {
				if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
					names[f.Name.Name] = true
				}
			}
		}
	}
	return names
}

// Every script of the repository is one that the generator and the linter read: what is not listed in sqlc.yaml would
// be deployed without having been looked at, or does not belong here. The tools and tsqltest have T-SQL of their own,
// which is test data. Those in sql/operations deploy nothing: an administrator runs them by hand.
func TestEveryScriptIsLinted(t *testing.T) {
	t.Parallel()
	config := readText(t, repository+"/sqlc.yaml")
	for _, want := range []string{"schema: [sql/schema/**/*.sql]", "procedures: [sql/procedures]", "queries: [sql/queries]"} {
		if !strings.Contains(config, want) {
			t.Errorf("sqlc.yaml does not have %s", want)
		}
	}
	scripts := trackedScripts(t)
	if len(scripts) < 50 {
		t.Errorf("there are only %d scripts", len(scripts))
	}
	for _, name := range scripts {
		if !slices.ContainsFunc([]string{"sql/schema/", "sql/procedures/", "sql/queries/", "sql/operations/", "sql/sqlite/", "tsql/"}, func(folder string) bool {
			return strings.HasPrefix(name, folder)
		}) {
			t.Errorf("%s is in no folder that is generated from and linted", name)
		}
	}
}

// trackedScripts are the scripts that git knows. Where there is no git they are all that lie about.
func trackedScripts(t *testing.T) (names []string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--full-name", "*.sql")
	list.Dir = repository
	if output, err := list.Output(); err == nil && len(output) > 0 {
		return strings.Fields(string(output))
	}
	err := fs.WalkDir(os.DirFS(repository), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(name) == ".sql" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// In Azure SQL Database, DB_ID() need not be the database_id that sys.databases has for the same database. The name is
// the same.
func TestDatabaseIsFoundByItsName(t *testing.T) {
	t.Parallel()
	ok(t, filepath.WalkDir(repository+"/sql", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".sql") {
			if text := lineComment.ReplaceAllString(readText(t, name), ""); strings.Contains(text, "sys.databases") && strings.Contains(text, "DB_ID()") {
				t.Errorf("%s looks for a row of sys.databases by DB_ID()", name)
			}
		}
		return err
	}))
}
