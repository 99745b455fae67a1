package xmltext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// parser reads a text once, from left to right.
type parser struct {
	text     string
	at       int
	options  Options
	prefixes []string // the declared ones, the innermost last
	depth    int
}

// Parse reads a document or fragments: any number of elements and texts. What is not well-formed is a [fault.Error].
func Parse(text string, options Options) (nodes []*Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			nodes, err = nil, f.fault
		}
	}()
	p := &parser{text: text, options: options, prefixes: []string{instructionTarget}}
	p.declaration()
	nodes = p.content(nil, options.KeepSpace)
	return nodes, nil
}

// Normal returns a text as the server writes the value that it is.
func Normal(text string, options Options) (string, error) {
	nodes, err := Parse(text, options)
	if err != nil {
		return "", err
	}
	return string(Append(make([]byte, 0, len(text)), nodes)), nil
}

// has reports whether a text comes next.
func (p *parser) has(prefix string) bool { return strings.HasPrefix(p.text[p.at:], prefix) }

// peek is the next byte; 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// ended fails if nothing is left.
func (p *parser) ended() {
	if p.at >= len(p.text) {
		p.fail(unexpectedEnd, p.at)
	}
}

// isSpace reports white space.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// space skips white space and reports whether there was some.
func (p *parser) space() bool {
	from := p.at
	for p.at < len(p.text) && isSpace(p.text[p.at]) {
		p.at++
	}
	return p.at > from
}

// expect reads a text that must come next.
func (p *parser) expect(text string, number int32) {
	if p.has(text) {
		p.at += len(text)
		return
	}
	if strings.HasPrefix(text, p.text[p.at:]) {
		p.fail(unexpectedEnd, p.at)
	}
	p.fail(number, p.at)
}

// character reads one legal character.
func (p *parser) character() rune {
	r, size := utf8.DecodeRuneInString(p.text[p.at:])
	if r == utf8.RuneError && size < 2 || !isLegal(r) {
		p.fail(illegalCharacter, p.at)
	}
	p.at += size
	return r
}

// isLegal reports a character that XML 1.0 may have.
func isLegal(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD ||
		r >= 0x10000 && r <= utf8.MaxRune
}

// content reads what stands in an element up to its end tag, or all of the text if there is no element.
func (p *parser) content(parent *Node, keep bool) []*Node {
	var nodes []*Node
	var text strings.Builder
	solid := false // the text has more than white space that is written as such
	flush := func() {
		if text.Len() > 0 && (solid || keep) {
			nodes = append(nodes, &Node{Kind: Text, Text: text.String()})
		}
		text.Reset()
		solid = false
	}
	for {
		switch {
		case p.at >= len(p.text):
			if parent != nil {
				p.fail(unexpectedEnd, p.at)
			}
			flush()
			return nodes
		case p.has("<![CDATA["):
			text.WriteString(p.cdata())
			solid = true
		case p.has("</"):
			if parent == nil {
				p.fail(wrongDocument, p.at+1)
			}
			flush()
			p.endTag(parent)
			return nodes
		case p.peek() == '<':
			flush()
			nodes = append(nodes, p.markup(keep))
		case p.peek() == '&':
			text.WriteString(p.reference())
			solid = true
		case p.has("]]>"):
			p.fail(illegalCharacter, p.at+2)
		default:
			space := isSpace(p.peek())
			text.WriteRune(p.normalised())
			solid = solid || !space
		}
	}
}

// normalised reads a character; the ends of lines become line feeds.
func (p *parser) normalised() rune {
	r := p.character()
	if r != '\r' {
		return r
	}
	if p.peek() == '\n' {
		p.at++
	}
	return '\n'
}

// reference reads &lt; &#10; &#x0A; and the like.
func (p *parser) reference() string {
	p.at++ // &
	p.ended()
	if p.peek() == '#' {
		p.at++
		return p.numeric()
	}
	at := p.at
	name := p.name(illegalName)
	p.ended()
	if p.peek() != ';' {
		p.fail(wantSemicolon, p.at)
	}
	p.at++
	switch name {
	case "lt":
		return "<"
	case "gt":
		return ">"
	case "amp":
		return "&"
	case "quot":
		return `"`
	case "apos":
		return "'"
	}
	p.fail(undeclaredEntity, at+len(name))
	return ""
}

// numeric reads what follows &#.
func (p *parser) numeric() string {
	base, number := 10, wantDecimal
	if p.peek() == 'x' {
		base, number = 16, wantHexadecimal
		p.at++
	}
	from := p.at
	for p.at < len(p.text) && p.text[p.at] != ';' {
		if _, err := strconv.ParseUint(p.text[p.at:p.at+1], base, 8); err != nil {
			p.fail(number, p.at)
		}
		p.at++
	}
	p.ended()
	n, err := strconv.ParseUint(p.text[from:p.at], base, 31)
	if from == p.at {
		p.fail(number, p.at)
	}
	if err != nil || !isLegal(rune(n)) {
		p.fail(illegalCharacter, p.at)
	}
	p.at++ // ;
	return string(rune(n))
}

// name reads a name.
func (p *parser) name(number int32) string {
	from := p.at
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !inName(r, p.at == from) {
			break
		}
		p.at += size
	}
	if p.at == from {
		p.ended()
		p.fail(number, p.at)
	}
	return p.text[from:p.at]
}

// inName reports a character of a name, by XML 1.0 of 2008. SQL Server goes by an earlier edition, which has fewer.
func inName(r rune, first bool) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r == ':':
		return true
	case r >= '0' && r <= '9', r == '-', r == '.', r == 0xB7, r >= 0x0300 && r <= 0x036F, r == 0x203F, r == 0x2040:
		return !first
	case r == utf8.RuneError:
		return false
	default:
		return r >= 0xC0 && r <= 0xD6 || r >= 0xD8 && r <= 0xF6 || r >= 0xF8 && r <= 0x02FF || r >= 0x0370 && r <= 0x1FFF &&
			r != 0x37E || r == 0x200C || r == 0x200D || r >= 0x2070 && r <= 0x218F || r >= 0x2C00 && r <= 0x2FEF ||
			r >= 0x3001 && r <= 0xD7FF || r >= 0xF900 && r <= 0xFFFD
	}
}
