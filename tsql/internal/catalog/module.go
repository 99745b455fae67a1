package catalog

import (
	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/internal/directive"
	"github.com/duroxide/duroxide-go/tsql/internal/sqltype"
	"github.com/duroxide/duroxide-go/tsql/internal/syntax"
)

// define enters an object if its name is free, or becomes so because the definition replaces what has it.
func (b *builder) define(o Object, how replace) {
	if b.free(o, how) {
		b.c.add(o)
	}
}

// createType enters an alias type or a table type:
//
//	CREATE TYPE dbo.email FROM nvarchar(320) NOT NULL
//	CREATE TYPE dbo.lines AS TABLE (no int NOT NULL, amount money)
func (b *builder) createType(s *syntax.CreateType) {
	name, ok := b.resolve(s.Name)
	if !ok {
		return
	}
	if s.Table != nil {
		t := b.table(name, s.Table)
		t.Place, t.Type, t.Doc = b.place(s.Name), true, b.doc(s.Span)
		b.define(t, create)
		return
	}
	if alias, err := b.aliasType(s, name); err != nil {
		b.fail(s.From.Span, Advice(err), "%v", err)
	} else {
		b.define(alias, create)
	}
}

// aliasType returns the type that CREATE TYPE … FROM makes.
func (b *builder) aliasType(s *syntax.CreateType, name Name) (*AliasType, error) {
	base, err := b.c.baseType(s.From, b.script.File.Slice(s.From.Span))
	if err != nil {
		return nil, err
	}
	notNull := s.NotNull || sqltype.IsSysname(typeText(s.From))
	return &AliasType{Place: b.place(s.Name), Name: name, Type: base, NotNull: notNull}, nil
}

// baseType resolves what an alias type is made of, which is written as text: a built-in type that holds one value.
func (c *Catalog) baseType(from *syntax.TypeName, text string) (sqltype.Type, error) {
	base, _, err := c.Type(from)
	if err == nil && (!base.IsScalar() || !builtin(from)) {
		err = &sqltype.UnknownError{Message: text + " can't be the base of a type", Fix: "name a built-in type"}
	}
	return base, err
}

// laterTypes notes the alias types that scripts define without a condition: of two of one name, the one of the later
// file. What is wrong with one is found when its turn comes.
func (b *builder) laterTypes(scripts []*syntax.Script) {
	for _, b.script = range scripts {
		for _, batch := range b.script.Batches {
			for _, stmt := range batch.Stmts {
				s, ok := stmt.(*syntax.CreateType)
				if !ok || s.From == nil {
					continue
				}
				name, err := b.c.Resolve(s.Name)
				if err != nil {
					continue
				}
				if alias, err := b.aliasType(s, name); err == nil {
					b.c.later[name.Key()] = alias
				}
			}
		}
	}
}

// createView enters a view. What it returns is found out by package analyze.
func (b *builder) createView(s *syntax.CreateView) {
	if name, ok := b.resolve(s.Name); ok {
		v := &View{Place: b.place(s.Name), Name: name, Def: s, Bound: []int{b.step}}
		v.Changed = b.defined(name, s.Name.Span, outputs(s.Columns, s.Query))
		b.define(v, form(s.OrAlter, s.Alter))
	}
}

// createFunction enters a function; resolveParams completes it.
func (b *builder) createFunction(s *syntax.CreateFunction) {
	if name, ok := b.resolve(s.Name); ok {
		f := &Function{Place: b.place(s.Name), Name: name, Def: s, Bound: []int{b.step}}
		f.Changed = b.defined(name, s.Name.Span, outputs(nil, s.Inline))
		b.define(f, form(s.OrAlter, s.Alter))
	}
}

// createProcedure enters a procedure; resolveParams completes it.
func (b *builder) createProcedure(s *syntax.CreateProcedure) {
	if name, ok := b.resolve(s.Name); ok {
		p := &Procedure{Place: b.place(s.Name), Name: name, Def: s, Script: b.script, Batch: b.batch}
		b.define(p, form(s.OrAlter, s.Alter))
	}
}

// createSequence enters a sequence, which is one of bigint unless it says otherwise: CREATE SEQUENCE dbo.s AS int.
// What it
// starts with and where it ends changes no type.
func (b *builder) createSequence(s *syntax.CreateSequence) {
	name, ok := b.resolve(s.Name)
	if !ok {
		return
	}
	t := sqltype.Type{Kind: sqltype.BigInt}
	if s.Type != nil {
		var err error
		t, _, err = b.c.Type(s.Type)
		if err != nil {
			b.fail(s.Type.Span, Advice(err), "%v", err)
		} else if !t.IsExactInteger() && (t.Kind != sqltype.Decimal || t.Scale != 0) {
			b.fail(s.Type.Span, "use an integer type or decimal(n,0)", "a sequence can't be of type %s", t)
		}
	}
	b.define(&Sequence{Place: b.place(s.Name), Name: name, Type: t}, create)
}

// createSynonym enters a synonym. What it stands for need not exist yet, or at all.
func (b *builder) createSynonym(s *syntax.CreateSynonym) {
	name, ok := b.resolve(s.Name)
	if !ok {
		return
	}
	target, err := b.c.Resolve(s.For)
	if err != nil {
		target = Name{} // whoever reads the synonym says so
	}
	b.define(&Synonym{Place: b.place(s.Name), Name: name, For: target, Elsewhere: err}, create)
}

// resolveParams gives procedures and functions their parameters, and functions what they return. It runs after the last
// script, because a file of procedures may come before that of the types they take.
func (b *builder) resolveParams() {
	for _, o := range b.c.Order {
		switch o := o.(type) {
		case *Procedure:
			o.Params = b.params(o.File, o.Name.Schema, o.Def.Params)
		case *Function:
			o.Params = b.params(o.File, o.Name.Schema, o.Def.Params)
			b.returns(o)
		}
	}
}

// returns resolves what a function returns; an inline function's columns are found by package analyze.
func (b *builder) returns(f *Function) {
	switch {
	case f.Def.Returns != nil:
		t, table, err := b.c.TypeIn(f.Name.Schema, f.Def.Returns)
		if err != nil {
			b.found.Add(f.File, f.Def.Returns.Span, ruleCatalog, Advice(err), "%v", err)
		} else if table != nil || !t.IsScalar() {
			b.found.Add(f.File, f.Def.Returns.Span, ruleCatalog, "", "a function can't return %s", t)
		}
		f.Returns = t
	case f.Def.Table != nil:
		// The table is known by the name of its variable, as in the function's body.
		table, found := b.c.TableFromDef(f.File, Name{Name: f.Def.TableVariable}, f.Def.Table)
		b.found = append(b.found, found...)
		f.Table = table
	}
}

// params resolves the parameters of a module in a file. The file is a parameter because the builder has left the
// script by
// now. Of two with the same name only the first is kept.
func (b *builder) params(file *diag.File, schema string, defs []*syntax.Param) []Param {
	params := make([]Param, 0, len(defs))
	seen := map[string]bool{}
	for _, d := range defs {
		if seen[Fold(d.Name)] {
			b.found.Add(file, d.Span, ruleCatalog, "rename one of them", "there are two parameters %s", d.Name)
			continue
		}
		seen[Fold(d.Name)] = true
		p := Param{Name: d.Name, Default: d.Default, Null: d.Null == syntax.NullAllowed, Output: d.Output, ReadOnly: d.ReadOnly, Span: d.Span}
		var err error
		p.Type, p.Table, err = b.c.TypeIn(schema, d.Type)
		switch {
		case err != nil:
			b.found.Add(file, d.Type.Span, ruleCatalog, Advice(err), "%v", err)
		case p.Table != nil && !d.ReadOnly:
			b.found.Add(file, d.Span, ruleCatalog, "add READONLY", "%s is of the table type %s and must be READONLY", d.Name, p.Type)
		case p.Table == nil && d.ReadOnly:
			b.found.Add(file, d.Span, ruleCatalog, "leave READONLY out", "only table types are READONLY, and %s is %s", d.Name, p.Type)
		}
		params = append(params, p)
	}
	return params
}

// doc returns the comment above a definition, or above the IF around it: people describe a table above
// IF OBJECT_ID(N'dbo.t') IS NULL rather than after it.
func (b *builder) doc(at diag.Span) string {
	if text := directive.Doc(b.script, at); text != "" || b.guard == nil {
		return text
	}
	return directive.Doc(b.guardIn, b.guard.Range())
}
