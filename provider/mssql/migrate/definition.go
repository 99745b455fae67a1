package migrate

import (
	"fmt"
	"slices"
	"strings"
)

// tables are the tables of a schema by name: what scripts make, or what a server has.
type tables map[string]*table

// table is one table.
type table struct {
	columns []column
	indexes map[string]index
}

// column is one column, with all that changes what a statement does with it.
type column struct {
	name string
	// kind is the type, such as nvarchar(400), and collation the one that is written; empty for the database's.
	kind, collation              string
	nullable, identity, defaults bool
}

// String describes the column as a script does.
func (c column) String() string {
	text := c.name + " " + c.kind
	if c.collation != "" {
		text += " COLLATE " + c.collation
	}
	if c.identity {
		text += " IDENTITY"
	}
	if !c.nullable {
		text += " NOT NULL"
	}
	if c.defaults {
		text += " DEFAULT"
	}
	return text
}

// index is an index, or the constraint that makes one.
type index struct {
	name string
	// constraint is PRIMARY KEY or UNIQUE; empty for an index of its own.
	constraint        string
	unique, clustered bool
	keys, include     []string // a key that descends ends in DESC
	filter            string   // as canonical writes it
	disabled          bool
	// create is the statement that makes the index; empty for what a server has.
	create string
}

// String describes the index as a script does.
func (ix index) String() string {
	var out strings.Builder
	switch {
	case ix.constraint != "":
		out.WriteString(ix.constraint)
	case ix.unique:
		out.WriteString("UNIQUE")
	}
	if ix.clustered {
		out.WriteString(" CLUSTERED")
	}
	fmt.Fprintf(&out, " (%s)", strings.Join(ix.keys, ", "))
	if len(ix.include) > 0 {
		fmt.Fprintf(&out, " INCLUDE (%s)", strings.Join(ix.include, ", "))
	}
	if ix.filter != "" {
		out.WriteString(" WHERE " + ix.filter)
	}
	return strings.TrimSpace(out.String())
}

// change is what a script does to tables.
type change func(tables)

// changes reads what a script does to tables. What it does not understand is refused, since the schema could not be
// compared.
func changes(file string, list []token) (all []change, err error) {
	for statement := range statementsOf(list) {
		p := &parser{list: statement}
		one, err := p.change()
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, p.line(), err)
		}
		if one != nil {
			all = append(all, one)
		}
	}
	return all, nil
}

// statementsOf cuts tokens at semicolons and GO.
func statementsOf(list []token) func(yield func([]token) bool) {
	return func(yield func([]token) bool) {
		begin := 0
		for i, t := range list {
			if t.kind != tokenGo && t.text != ";" {
				continue
			}
			if !yield(list[begin:i]) {
				return
			}
			begin = i + 1
		}
		yield(list[begin:])
	}
}

// parser reads one statement.
type parser struct {
	list []token
	at   int
}

// peek returns the next token that matters, an empty one at the end.
func (p *parser) peek() token {
	for p.at < len(p.list) && !p.list[p.at].significant() {
		p.at++
	}
	if p.at == len(p.list) {
		return token{}
	}
	return p.list[p.at]
}

func (p *parser) next() token {
	t := p.peek()
	if t.text != "" {
		p.at++
	}
	return t
}

// accept passes over the words if they come next, all of them.
func (p *parser) accept(words ...string) bool {
	before := p.at
	for _, word := range words {
		if t := p.next(); !t.is(word) && t.text != word {
			p.at = before
			return false
		}
	}
	return true
}

// line is that of the next token, or of the last.
func (p *parser) line() int {
	if t := p.peek(); t.text != "" {
		return t.line
	}
	if len(p.list) == 0 {
		return 1
	}
	return p.list[len(p.list)-1].line
}

// text is what has been read since a place, without comments.
func (p *parser) text(from int) string {
	var out strings.Builder
	for _, t := range p.list[from:p.at] {
		if t.kind != tokenComment {
			out.WriteString(t.text)
		}
	}
	return strings.TrimSpace(out.String())
}

// change reads a statement, nil for one that changes no table.
func (p *parser) change() (change, error) {
	p.peek()
	begin := p.at
	switch {
	case p.accept("CREATE", "TABLE"):
		return p.createTable()
	case p.accept("ALTER", "TABLE"):
		return p.alterTable()
	case p.accept("DROP", "INDEX"):
		name := p.next().name()
		of, ok := p.table("ON")
		return func(all tables) { delete(all.of(of).indexes, name) }, expect(ok && name != "", "DROP INDEX name ON a table")
	case p.accept("DROP", "TABLE"):
		of, ok := p.table("")
		return func(all tables) { delete(all, of) }, expect(ok, "DROP TABLE and a table")
	case p.peek().is("CREATE"):
		return p.createIndex(begin)
	}
	return nil, nil
}

// table reads the name of a table, behind a word.
func (p *parser) table(word string) (name string, ok bool) {
	if word != "" && !p.accept(word) {
		return "", false
	}
	name, ok = qualified([]token{p.next(), p.next(), p.next()})
	return name, ok
}

// expect is an error that says what should be written.
func expect(ok bool, what string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("this cannot be compared with a schema; write %s", what)
}

// of returns a table, an empty one if there is none.
func (all tables) of(name string) *table {
	if all[name] == nil {
		all[name] = &table{indexes: map[string]index{}}
	}
	return all[name]
}

func (p *parser) createTable() (change, error) {
	name, ok := p.table("")
	if !ok || !p.accept("(") {
		return nil, expect(false, "CREATE TABLE name (…)")
	}
	return p.elements(name)
}

// elements reads columns and constraints.
func (p *parser) elements(of string) (change, error) {
	var list []change
	for {
		one, err := p.element(of)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
		if !p.accept(",") {
			break
		}
	}
	return func(all tables) {
		for _, one := range list {
			one(all)
		}
	}, nil
}

// element reads a column or a constraint with a name.
func (p *parser) element(of string) (change, error) {
	if !p.peek().is("CONSTRAINT") {
		c, err := p.column()
		return func(all tables) { all.of(of).set(c) }, err
	}
	begin := p.at
	p.next()
	ix := index{name: p.next().name()}
	switch {
	case p.accept("CHECK"):
		p.parenthesis()
		return func(tables) {}, nil
	case p.accept("PRIMARY", "KEY"):
		ix.constraint, ix.clustered = "PRIMARY KEY", true
	case p.accept("UNIQUE"):
		ix.constraint = "UNIQUE"
	default:
		return nil, expect(false, "CHECK, PRIMARY KEY or UNIQUE")
	}
	ix.unique = true
	switch {
	case p.accept("CLUSTERED"):
		ix.clustered = true
	case p.accept("NONCLUSTERED"):
		ix.clustered = false
	}
	if ix.keys = p.names(); len(ix.keys) == 0 {
		return nil, expect(false, "the columns of the constraint")
	}
	if p.accept("WITH") {
		p.parenthesis()
	}
	ix.create = fmt.Sprintf(addConstraint, of, p.text(begin))
	return func(all tables) { all.of(of).indexes[ix.name] = ix }, nil
}

// column reads the definition of a column.
func (p *parser) column() (column, error) {
	c := column{name: p.next().name(), nullable: true}
	c.kind = strings.ToLower(p.next().name())
	if c.name == "" || c.kind == "" {
		return c, expect(false, "a column with its type")
	}
	if begin := p.at; p.peek().text == "(" {
		p.parenthesis()
		c.kind += strings.ToLower(strings.ReplaceAll(p.text(begin), " ", ""))
	}
	for {
		switch {
		case p.accept("COLLATE"):
			c.collation = p.next().name()
		case p.accept("NOT", "NULL"):
			c.nullable = false
		case p.accept("NULL"):
		case p.accept("IDENTITY"):
			c.identity = true
			p.parenthesis()
		case p.accept("DEFAULT"):
			c.defaults = true
			if p.parenthesis(); p.peek().text != "," && p.peek().text != ")" {
				p.next()
			}
		case p.peek().is("CONSTRAINT"):
			before := p.at
			p.next()
			p.next()
			if !p.peek().is("DEFAULT") {
				p.at = before
				return c, expect(false, "this constraint behind the columns")
			}
		case slices.Contains([]string{"", ",", ")"}, p.peek().text):
			return c, nil
		default:
			return c, expect(false, "a column of a type, with COLLATE, NULL, IDENTITY and DEFAULT")
		}
	}
}

// parenthesis passes over what is in parentheses, if they come next.
func (p *parser) parenthesis() {
	depth := 0
	for t := p.peek(); t.text != ""; t = p.peek() {
		switch t.text {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 && t.text != ")" {
			return
		}
		p.next()
		if depth == 0 {
			return
		}
	}
}

// names reads columns in parentheses.
func (p *parser) names() (list []string) {
	if !p.accept("(") {
		return nil
	}
	for p.peek().text != "" && !p.accept(")") {
		name := p.next().name()
		if p.accept("DESC") {
			name += " DESC"
		}
		p.accept("ASC")
		p.accept(",")
		list = append(list, name)
	}
	return list
}

// alterTable reads what adds, changes or drops columns and constraints. Whatever else there is changes only how rows
// are stored.
func (p *parser) alterTable() (change, error) {
	of, ok := p.table("")
	switch {
	case !ok:
		return nil, expect(false, "ALTER TABLE and a table")
	case p.accept("ADD"):
		return p.elements(of)
	case p.accept("ALTER", "COLUMN"):
		c, err := p.column()
		return func(all tables) { all.of(of).set(c) }, err
	case p.accept("DROP", "COLUMN"):
		name := p.next().name()
		return func(all tables) { all.of(of).drop(name) }, expect(p.peek().text == "", "one DROP COLUMN in a statement")
	case p.accept("DROP", "CONSTRAINT"):
		name := p.next().name()
		return func(all tables) { delete(all.of(of).indexes, name) }, expect(p.peek().text == "", "one DROP CONSTRAINT in a statement")
	case p.accept("SET"):
		return nil, nil
	}
	return nil, expect(false, "ADD, ALTER COLUMN, DROP COLUMN, DROP CONSTRAINT or SET")
}

// set adds a column, or changes the one of its name, which keeps its default.
func (t *table) set(c column) {
	at := slices.IndexFunc(t.columns, func(old column) bool { return old.name == c.name })
	if at < 0 {
		t.columns = append(t.columns, c)
		return
	}
	c.defaults, c.identity = t.columns[at].defaults, t.columns[at].identity
	t.columns[at] = c
}

func (t *table) drop(name string) {
	t.columns = slices.DeleteFunc(t.columns, func(c column) bool { return c.name == name })
}

// createIndex reads CREATE INDEX from its first token, nil for what creates something else.
func (p *parser) createIndex(begin int) (change, error) {
	p.next()
	ix := index{unique: p.accept("UNIQUE"), clustered: p.accept("CLUSTERED")}
	p.accept("NONCLUSTERED")
	if !p.accept("INDEX") {
		return nil, nil
	}
	ix.name = p.next().name()
	of, ok := p.table("ON")
	ix.keys = p.names()
	if !ok || ix.name == "" || len(ix.keys) == 0 {
		return nil, expect(false, "CREATE INDEX name ON table (columns)")
	}
	if p.accept("INCLUDE") {
		ix.include = slices.Sorted(slices.Values(p.names()))
	}
	if p.accept("WHERE") {
		from := p.at
		for p.peek().text != "" && !p.peek().is("WITH") {
			p.next()
		}
		ix.filter = canonical(p.text(from))
	}
	if p.accept("WITH") {
		p.parenthesis()
	}
	ix.create = p.text(begin) + ";"
	return func(all tables) { all.of(of).indexes[ix.name] = ix }, expect(p.peek().text == "", "nothing behind the options of the index")
}

// canonical writes the condition of a filter in one way, whether a script or a server has written it: without brackets
// and parentheses, which no filter of ours needs.
func canonical(condition string) string {
	var words []string
	for _, t := range statements(tokens(condition)) {
		switch {
		case t.text == "(" || t.text == ")":
		case t.kind == tokenQuoted:
			words = append(words, t.name())
		default:
			words = append(words, t.text)
		}
	}
	return strings.Join(words, " ")
}
