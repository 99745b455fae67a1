package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// statement is a statement in a plan.
type statement struct {
	// procedure is where it stands, if the plan says so: a plan of an EXEC has the statements of what is called.
	procedure, text string
	operators       []*operator
	// converts are the implicit conversions that keep the optimizer from a seek.
	converts []string
}

// operator is an operator of a plan.
type operator struct {
	physical, logical string
	// table and index are what it reads or writes, if that is a table of the schema.
	table, index string
	// residual says that rows are read that a condition then refuses.
	residual bool
	parent   *operator
}

// parsePlan reads a plan in the form of SHOWPLAN XML.
func parsePlan(text string) ([]*statement, error) {
	p := planReader{}
	decoder := xml.NewDecoder( //nolint:gosec // it only reads names and texts
		strings.NewReader(text))
	// The text has been decoded already, whatever it says of itself.
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	for {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && len(p.statements) == 0:
			return nil, errors.New("the plan has no statements")
		case errors.Is(err, io.EOF):
			return p.statements, nil
		case err != nil:
			return nil, fmt.Errorf("reading the plan: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			p.start(token)
		case xml.EndElement:
			p.end(token)
		}
	}
}

// planReader is where parsePlan is in the plan.
type planReader struct {
	statements []*statement
	// elements are the names of those that are open.
	elements   []string
	procedures []string
	// open are the statements around the place: one may be a part of another.
	open     []*statement
	operator *operator
}

func (p *planReader) start(e xml.StartElement) {
	name := e.Name.Local
	parent := ""
	if len(p.elements) > 0 {
		parent = p.elements[len(p.elements)-1]
	}
	p.elements = append(p.elements, name)
	switch {
	case name == "StoredProc":
		p.procedures = append(p.procedures, attribute(e, "ProcName"))
	case isStatement(name):
		s := &statement{text: attribute(e, "StatementText")}
		if n := len(p.procedures); n > 0 {
			s.procedure = p.procedures[n-1]
		}
		p.statements, p.open = append(p.statements, s), append(p.open, s)
	case name == "RelOp":
		p.operator = &operator{physical: attribute(e, "PhysicalOp"), logical: attribute(e, "LogicalOp"), parent: p.operator}
		if n := len(p.open); n > 0 {
			p.open[n-1].operators = append(p.open[n-1].operators, p.operator)
		}
	case name == "Object" && p.operator != nil && attribute(e, "Schema") == "["+schema+"]" && p.operator.table == "":
		p.operator.table, p.operator.index = bare(attribute(e, "Table")), bare(attribute(e, "Index"))
	case name == "Predicate" && (parent == "IndexScan" || parent == "TableScan") && p.operator != nil:
		p.operator.residual = true
	case name == "PlanAffectingConvert" && attribute(e, "ConvertIssue") == "Seek Plan" && len(p.open) > 0:
		s := p.open[len(p.open)-1]
		s.converts = append(s.converts, attribute(e, "Expression"))
	}
}

func (p *planReader) end(e xml.EndElement) {
	p.elements = p.elements[:len(p.elements)-1]
	switch name := e.Name.Local; {
	case name == "StoredProc":
		p.procedures = p.procedures[:len(p.procedures)-1]
	case isStatement(name):
		p.open = p.open[:len(p.open)-1]
	case name == "RelOp":
		p.operator = p.operator.parent
	}
}

func isStatement(element string) bool { return strings.HasPrefix(element, "Stmt") }

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func bare(name string) string { return strings.Trim(name, "[]") }

// longest is how much of a statement's text a plan has. Of a longer one the OPTION is cut off.
const longest = 4000

// pinned says that the plan is kept whatever becomes of the tables (KEEPFIXED PLAN), or that its joins are prescribed.
func (s *statement) pinned() bool {
	text := strings.ToUpper(s.text)
	return strings.Contains(text, "KEEPFIXED PLAN") || strings.Contains(text, "LOOP JOIN") || len(s.text) >= longest
}

// objections say what is wrong with the plan of a pinned statement: it would read more and more while the tables grow.
// A statement that reads whole tables by its nature may scan.
func (s *statement) objections(mayScan bool) (list []string) {
	if !s.pinned() {
		return nil
	}
	for _, o := range s.operators {
		if object := o.object(mayScan, s); object != "" && !slices.Contains(list, object) {
			list = append(list, object)
		}
	}
	for _, c := range s.converts {
		list = append(list, "a conversion keeps it from a seek: "+c)
	}
	return list
}

// object is the objection to an operator, "" for none.
func (o *operator) object(mayScan bool, s *statement) string {
	switch {
	case strings.Contains(o.logical, "Join") && o.physical != "Nested Loops":
		if tables := s.below(o); len(tables) > 0 {
			return fmt.Sprintf("%s (%s) over %s", o.physical, o.logical, strings.Join(tables, ", "))
		}
	case o.physical == "Index Spool":
		if tables := s.below(o); len(tables) > 0 {
			return "an index is built for each call over " + strings.Join(tables, ", ")
		}
	case mayScan || o.table == "":
	case strings.HasSuffix(o.physical, "Scan") && (o.residual || !o.stops()):
		return fmt.Sprintf("%s of %s.%s", o.physical, o.table, o.index)
	}
	return ""
}

// stops says that the operator is below a TOP, and so is asked for the first rows only.
func (o *operator) stops() bool {
	for p := o.parent; p != nil; p = p.parent {
		if p.physical == "Top" {
			return true
		}
	}
	return false
}

// below are the tables of ours that are read below an operator.
func (s *statement) below(top *operator) (tables []string) {
	for _, o := range s.operators {
		if o.table == "" || slices.Contains(tables, o.table) {
			continue
		}
		for p := o; p != nil; p = p.parent {
			if p == top {
				tables = append(tables, o.table)
				break
			}
		}
	}
	return tables
}
