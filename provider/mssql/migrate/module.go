package migrate

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// moduleKind is the keyword of a module: FUNCTION, VIEW or PROCEDURE.
type moduleKind string

const (
	kindFunction  moduleKind = "FUNCTION"
	kindView      moduleKind = "VIEW"
	kindProcedure moduleKind = "PROCEDURE"
)

// module is one file with a function, view or procedure.
type module struct {
	kind moduleKind
	name string
	file string
	// checksum is that of our text.
	checksum []byte
	// batches are the definition and what goes with it, such as a GRANT.
	batches []Batch
	// definition is the index of the batch with CREATE OR ALTER.
	definition int
}

// moduleFolders are in the order in which modules are applied: a view may read a
// function, a procedure both. Among procedures those that others call come first, see helpersFirst; among the others it
// is by name.
var moduleFolders = []struct {
	folder string
	kind   moduleKind
}{
	{schemaFolder + "/functions", kindFunction},
	{schemaFolder + "/views", kindView},
	{"procedures", kindProcedure},
}

func (s *release) loadModules(files fs.FS) error {
	seen := map[string]string{}
	for _, place := range moduleFolders {
		names, err := fs.Glob(files, place.folder+"/*.sql")
		if err != nil {
			return err
		}
		for _, file := range names {
			one, err := readModule(files, file, place.kind)
			if err != nil {
				return err
			}
			if other, ok := seen[one.name]; ok {
				return fmt.Errorf("%s:1: %s is already in %s", file, one.name, other)
			}
			seen[one.name] = file
			s.modules = append(s.modules, *one)
		}
	}
	return s.helpersFirst()
}

// helpersFirst puts each procedure behind those that it calls. A server looks for them when it runs, but each procedure
// is applied in a transaction of its own: a caller of the new release would meet the helper of the old one, with other
// parameters, and fail with error 8144 or 8145 until that is replaced too. A new helper serves old callers, since its
// new parameters have defaults.
func (s *release) helpersFirst() error {
	byName, from := map[string]module{}, len(s.modules)
	for i, one := range s.modules {
		if one.kind == kindProcedure {
			from = min(from, i)
			byName[one.name] = one
		}
	}
	sorted := make([]module, 0, len(s.modules)-from)
	const begun, done = 1, 2
	state := map[string]int{}
	var visit func(one module) error
	visit = func(one module) error {
		switch state[one.name] {
		case begun:
			return fmt.Errorf("%s:1: the procedure calls itself, if only through others", one.file)
		case done:
			return nil
		}
		state[one.name] = begun
		for _, name := range one.calls() {
			if helper, ours := byName[name]; ours {
				if err := visit(helper); err != nil {
					return err
				}
			}
		}
		state[one.name] = done
		sorted = append(sorted, one)
		return nil
	}
	for _, one := range s.modules[from:] {
		if err := visit(one); err != nil {
			return err
		}
	}
	s.modules = append(s.modules[:from], sorted...)
	return nil
}

// calls are the names behind EXEC in the definition, in the order of the text.
func (m *module) calls() (names []string) {
	list := statements(tokens(m.batches[m.definition].Text))
	for i, t := range list {
		if !t.is("EXEC") && !t.is("EXECUTE") {
			continue
		}
		rest := list[i+1:]
		if len(rest) > 1 && rest[1].text == "=" { // EXEC @result = …
			rest = rest[2:]
		}
		if name, ok := qualified(rest); ok {
			names = append(names, name)
		}
	}
	return names
}

// readModule reads a file, which must define the module it is named after.
func readModule(files fs.FS, file string, kind moduleKind) (*module, error) {
	name := strings.TrimSuffix(path.Base(file), ".sql")
	if !moduleName.MatchString(name) {
		return nil, fmt.Errorf("%s:1: the name must be of the form %s", file, moduleName)
	}
	source, err := readSource(files, file)
	if err != nil {
		return nil, err
	}
	one := &module{
		kind: kind, name: name, file: file, checksum: source.checksum, batches: source.batches, definition: -1,
	}
	for i, batch := range source.batches {
		found, foundName, ok := defines(batch.Text)
		if !ok {
			continue
		}
		if one.definition >= 0 || found != kind || foundName != name {
			return nil, fmt.Errorf("%s:%d: a file in %s defines one %s, named as the file", file, batch.Line, path.Dir(file), kind)
		}
		one.definition = i
	}
	if one.definition < 0 {
		return nil, fmt.Errorf("%s:1: there is no CREATE OR ALTER %s %s.%s at the beginning of a batch", file, kind, DefaultSchema, name)
	}
	return one, nil
}

// defines returns what a batch defines, if it begins with CREATE OR ALTER.
func defines(batch string) (kind moduleKind, name string, ok bool) {
	list := statements(tokens(batch))
	if len(list) < 7 || !list[0].is("CREATE") || !list[1].is("OR") || !list[2].is("ALTER") {
		return "", "", false
	}
	kind = moduleKind(strings.ToUpper(list[3].text))
	if kind == "PROC" {
		kind = kindProcedure
	}
	name, ok = qualified(list[4:])
	return kind, name, ok
}
