package migrate

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	scripts "github.com/duroxide/duroxide-go/sql"
)

// A release is everything that makes a schema, as one release of this module has it. It is
// not changed after loadRelease and may be shared.
type release struct {
	// numbered are the scripts 1, 2, 3, ….
	numbered []script
	// modules are in the order in which they are applied.
	modules []module
	// revision is the number of this set, and oldest the lowest revision of programs that
	// a schema of it serves.
	revision, oldest int
	// pageLocksOff names the indexes that the scripts create without page locks.
	pageLocksOff map[string]bool
}

// script is one numbered file.
type script struct {
	version  int
	name     string
	checksum []byte
	batches  []Batch
	// creates are the tables and types that the script creates, and changes all that it does to tables.
	creates []object
	changes []change
	// afterModules is what its first line says.
	afterModules bool
}

// object is a table or type of the schema.
type object struct {
	// kind is the keyword: TABLE, TYPE or SEQUENCE.
	kind string
	name string
}

// version is the number of the last numbered script, which is the version of the schema
// after all of them.
func (s *release) version() int { return len(s.numbered) }

// present is this module's own release, loaded once.
var present = sync.OnceValues(func() (*release, error) {
	loaded, err := loadRelease(scripts.MSSQLScripts())
	if err != nil {
		return nil, fmt.Errorf("reading the scripts of this release: %w", err)
	}
	return loaded, nil
})

const (
	schemaFolder = "schema"
	revisionFile = schemaFolder + "/revision.txt"
)

// loadRelease reads all scripts and checks what can be checked without a server: that numbers
// have no gaps, that a module is what its file's name says, that literals and comments
// end, and that every mention of the schema will be rewritten. Errors begin with
// file:line.
func loadRelease(files fs.FS) (*release, error) {
	s := &release{pageLocksOff: map[string]bool{}}
	if err := s.loadRevision(files); err != nil {
		return nil, err
	}
	if err := s.loadNumbered(files); err != nil {
		return nil, err
	}
	if err := s.loadModules(files); err != nil {
		return nil, err
	}
	if len(s.numbered) == 0 {
		return nil, fmt.Errorf("there is no numbered script in %s", schemaFolder)
	}
	return s, nil
}

// loadRevision reads the two numbers of the revision file, "revision: 7" and
// "oldest: 5". Lines that begin with # are comments.
func (s *release) loadRevision(files fs.FS) error {
	text, err := fs.ReadFile(files, revisionFile)
	if err != nil {
		return err
	}
	fields := map[string]*int{"revision": &s.revision, "oldest": &s.oldest}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if field := fields[name]; field == nil || *field != 0 || err != nil || n < 1 {
			return fmt.Errorf("%s:%d: should be \"revision: N\" or \"oldest: N\", each once and N from 1", revisionFile, number)
		}
		*fields[name] = n
	}
	if s.oldest < 1 || s.oldest > s.revision {
		return fmt.Errorf("%s:%d: needs both a revision and the oldest one served, which is not above it", revisionFile, number)
	}
	return nil
}

func (s *release) loadNumbered(files fs.FS) error {
	names, err := fs.Glob(files, schemaFolder+"/*.sql")
	if err != nil {
		return err
	}
	for i, name := range names {
		prefix, _, _ := strings.Cut(path.Base(name), "_")
		if version, err := strconv.Atoi(prefix); err != nil || version != i+1 {
			return fmt.Errorf("%s:1: should be number %d", name, i+1)
		}
		source, err := readSource(files, name)
		if err != nil {
			return err
		}
		creates, err := created(name, source.tokens)
		if err != nil {
			return err
		}
		altered, err := changes(name, source.tokens)
		if err != nil {
			return err
		}
		one := script{
			version: i + 1, name: name, checksum: source.checksum, batches: source.batches, creates: creates, changes: altered,
		}
		if err := one.readMark(source.text); err != nil {
			return err
		}
		s.numbered = append(s.numbered, one)
		s.notePageLocks(source.tokens)
	}
	return nil
}

// readMark reads the first line, which may say when the script is applied.
func (s *script) readMark(text string) error {
	line, _, _ := strings.Cut(text, "\n")
	mark := strings.TrimPrefix(strings.TrimSpace(line), "-- ")
	s.afterModules = mark == "after: modules"
	if !s.afterModules && strings.HasPrefix(mark, "after:") {
		return fmt.Errorf("%s:1: unknown mark %q; there is only \"after: modules\"", s.name, mark)
	}
	return nil
}

// source is a file that has been read and cut up.
type source struct {
	text     string
	checksum []byte
	tokens   []token
	batches  []Batch
}

// readSource reads a file. Line ends are made the same everywhere, so that the checksum
// does not depend on the settings of a checkout.
func readSource(files fs.FS, name string) (*source, error) {
	raw, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(raw), "\ufeff"), "\r\n", "\n")
	sum := sha256.Sum256([]byte(text))
	s := &source{text: text, checksum: sum[:], tokens: tokens(text), batches: split(text)}
	if len(s.batches) == 0 {
		return nil, fmt.Errorf("%s:1: there is no statement", name)
	}
	for _, t := range s.tokens {
		if err := checkToken(t); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, t.line, err)
		}
	}
	for i := range s.batches {
		s.batches[i].File = name
	}
	return s, nil
}

// checkToken refuses what would be rewritten wrongly, or not at all.
func checkToken(t token) error {
	if t.open {
		return errors.New("the quotation or comment that begins here does not end")
	}
	if t.kind != tokenText {
		return nil
	}
	value := t.literal()
	for _, prefix := range []string{DefaultSchema + ".", "[" + DefaultSchema + "]"} {
		if strings.HasPrefix(value, prefix) {
			return fmt.Errorf("the literal %s names the schema and would not be rewritten; use SCHEMA_ID(N'%s')", t.text, DefaultSchema)
		}
	}
	return nil
}

// statements returns the tokens that matter.
func statements(list []token) []token {
	return slices.DeleteFunc(slices.Clone(list), func(t token) bool { return !t.significant() })
}

// created returns the tables and types that a script creates, so that [Migration.Drop]
// can find them again. What it could not find again is refused.
func created(file string, list []token) ([]object, error) {
	var objects []object
	significant := statements(list)
	for i, t := range significant {
		if !t.is("CREATE") || i+1 >= len(significant) {
			continue
		}
		switch kind := strings.ToUpper(significant[i+1].text); kind {
		case "TABLE", "TYPE", "SEQUENCE":
			name, ok := qualified(significant[i+2:])
			if !ok {
				return nil, fmt.Errorf("%s:%d: CREATE %s must name %s.something", file, t.line, kind, DefaultSchema)
			}
			objects = append(objects, object{kind: kind, name: name})
		case "INDEX", "UNIQUE", "CLUSTERED", "NONCLUSTERED", "STATISTICS", "ROLE":
			// These go with a table, or with the schema.
		default:
			return nil, fmt.Errorf("%s:%d: a numbered script creates tables, types, sequences, indexes and roles, not %s", file, t.line, kind)
		}
	}
	return objects, nil
}

// qualified returns the name in duroxide.name.
func qualified(list []token) (name string, ok bool) {
	if len(list) < 3 || list[0].name() != DefaultSchema || list[1].text != "." {
		return "", false
	}
	name = list[2].name()
	// Rewriting would take a table or module of the schema's name for the schema.
	return name, name != "" && name != DefaultSchema
}

// notePageLocks finds each ALLOW_PAGE_LOCKS = OFF and the index or constraint that it
// belongs to, which is the last one named before.
func (s *release) notePageLocks(list []token) {
	var last string
	significant := statements(list)
	for i, t := range significant {
		switch {
		case (t.is("INDEX") || t.is("CONSTRAINT")) && i+1 < len(significant):
			last = significant[i+1].name()
		case t.is("ALLOW_PAGE_LOCKS") && i+2 < len(significant):
			s.pageLocksOff[last] = significant[i+2].is("OFF")
		}
	}
}

// moduleName is what a module may be called. Most collations fold the case of names, so
// there is only one.
var moduleName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
