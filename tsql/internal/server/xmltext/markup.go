package xmltext

import (
	"slices"
	"strings"
)

// declaration reads <?xml version="1.0" encoding="…"?>, which no value keeps.
func (p *parser) declaration() {
	if !p.has("<?xml") || len(p.text) > 5 && inName(rune(p.text[5]), false) {
		return
	}
	p.at += len("<?xml")
	last := -1
	for {
		spaced := p.space()
		if p.has("?>") {
			break
		}
		at := p.at
		p.ended()
		if !spaced {
			p.fail(wrongDeclaration, at)
		}
		a := p.attribute()
		order := slices.Index([]string{"version", "encoding", "standalone"}, a.Name)
		if order <= last || last < 0 && order != 0 {
			p.fail(wrongDeclaration, at)
		}
		last = order
		switch {
		case a.Name == "version" && a.Value != "1.0", a.Name == "standalone" && a.Value != "yes" && a.Value != "no":
			p.fail(wrongDeclaration, p.at-1)
		case a.Name == "encoding":
			p.encoding(a.Value)
		}
	}
	if last < 0 {
		p.fail(wrongDeclaration, p.at)
	}
	p.at += len("?>")
}

// encoding checks that a text may be in the encoding that it says. What is said of a text in a code page is read again
// in that encoding, which is done here for what all of them have in common only.
func (p *parser) encoding(name string) {
	said := strings.ToLower(name)
	wide := slices.Contains([]string{"utf-16", "ucs-2", "utf-16le"}, said)
	if wide != (p.options.Encoding == "utf-16") {
		p.fail(otherEncoding, p.at-1)
	}
	page := said == "windows-1252" || said == "iso-8859-1"
	if wide || said == p.options.Encoding || page && p.options.Encoding == "" {
		return
	}
	for i := range len(p.text) {
		if p.text[i] >= 0x80 {
			p.refuse(49900, "text in the encoding "+name+" is not supported by tsqltest")
		}
	}
}

// markup reads an element, a comment or an instruction.
func (p *parser) markup(keep bool) *Node {
	switch {
	case p.has("<!--"):
		return p.comment()
	case p.has("<?"):
		return p.instruction()
	case p.has("<!DOCTYPE"):
		p.refuse(internalSubset)
	case p.has("<!"):
		p.fail(wrongDocument, p.at+2)
	}
	if p.depth++; p.depth > maxDepth {
		p.refuse(tooDeep, maxDepth)
	}
	defer func() { p.depth-- }()
	p.at++ // <
	known := len(p.prefixes)
	defer func() { p.prefixes = p.prefixes[:known] }()
	n := &Node{Kind: Element, Name: p.name(illegalQualified)}
	empty := p.attributes(n)
	p.checkNames(n)
	for _, a := range n.Attributes {
		if a.Name == "xml:space" {
			keep = a.Value == "preserve" || a.Value != "default" && keep
		}
	}
	if !empty {
		n.Children = p.content(n, keep)
	}
	return n
}

// attributes reads what follows the name of an element, and reports whether it ends the element, too.
func (p *parser) attributes(n *Node) (empty bool) {
	for {
		spaced := p.space()
		p.ended()
		switch {
		case p.peek() == '>':
			p.at++
			return false
		case p.peek() == '/':
			p.at++
			p.expect(">", wantGreater)
			return true
		case !spaced && len(n.Attributes) > 0:
			p.fail(wantSpace, p.at)
		case !spaced:
			p.fail(illegalQualified, p.at)
		}
		a := p.attribute()
		for _, other := range n.Attributes {
			if other.Name == a.Name {
				p.fail(twiceAttribute, p.at-1)
			}
		}
		if prefix, found := strings.CutPrefix(a.Name, "xmlns:"); found {
			p.prefixes = append(p.prefixes, prefix)
		}
		n.Attributes = append(n.Attributes, a)
	}
}

// checkNames checks that the prefixes of an element and its attributes are declared.
func (p *parser) checkNames(n *Node) {
	check := func(name string) {
		prefix, rest, found := strings.Cut(name, ":")
		if !found || prefix == "xmlns" {
			return
		}
		if prefix == "" || rest == "" || strings.Contains(rest, ":") {
			p.fail(illegalQualified, p.at-1)
		}
		if !slices.Contains(p.prefixes, prefix) {
			p.fail(undeclaredPrefix, p.at-1)
		}
	}
	check(n.Name)
	for _, a := range n.Attributes {
		check(a.Name)
	}
}

// attribute reads name="value".
func (p *parser) attribute() Attribute {
	a := Attribute{Name: p.name(illegalQualified)}
	p.space()
	p.expect("=", wantEqual)
	p.space()
	p.ended()
	quote := p.peek()
	if quote != '"' && quote != '\'' {
		p.fail(wantString, p.at)
	}
	p.at++
	var b strings.Builder
	for {
		p.ended()
		switch c := p.peek(); {
		case c == quote:
			p.at++
			a.Value = b.String()
			return a
		case c == '<':
			p.fail(lessInAttribute, p.at)
		case c == '&':
			b.WriteString(p.reference())
		case isSpace(c): // white space in an attribute is a blank
			p.normalised()
			b.WriteByte(' ')
		default:
			b.WriteRune(p.character())
		}
	}
}

// endTag reads the end of an element.
func (p *parser) endTag(n *Node) {
	p.at += len("</")
	name := p.name(illegalQualified)
	p.space()
	p.expect(">", wantGreater)
	if name != n.Name {
		p.fail(wrongEnd, p.at-1)
	}
}

// until reads legal characters up to an end, which it reads, too.
func (p *parser) until(end string) string {
	var b strings.Builder
	for !p.has(end) {
		p.ended()
		b.WriteRune(p.normalised())
	}
	p.at += len(end)
	return b.String()
}

func (p *parser) cdata() string {
	p.at += len("<![CDATA[")
	return p.until("]]>")
}

func (p *parser) comment() *Node {
	p.at += len("<!--")
	text := p.until("--")
	p.expect(">", wrongComment)
	return &Node{Kind: Comment, Text: text}
}

func (p *parser) instruction() *Node {
	p.at += len("<?")
	n := &Node{Kind: Instruction, Name: p.name(illegalName)}
	if strings.EqualFold(n.Name, instructionTarget) {
		p.fail(lateDeclaration, p.at)
	}
	if !p.has("?>") && !p.space() {
		p.ended()
		p.fail(wantSpace, p.at)
	}
	n.Text = p.until("?>")
	return n
}
