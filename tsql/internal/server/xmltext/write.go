package xmltext

// Append appends nodes as the server writes them.
func Append(dst []byte, nodes []*Node) []byte {
	for _, n := range nodes {
		dst = appendNode(dst, n)
	}
	return dst
}

func appendNode(dst []byte, n *Node) []byte {
	switch n.Kind {
	case Text:
		return AppendText(dst, n.Text)
	case Comment:
		return append(append(append(dst, "<!--"...), n.Text...), "-->"...)
	case Instruction:
		dst = append(append(dst, "<?"...), n.Name...)
		if n.Text != "" {
			dst = append(append(dst, ' '), n.Text...)
		}
		return append(dst, "?>"...)
	default:
		dst = append(append(dst, '<'), n.Name...)
		for _, a := range n.Attributes {
			dst = AppendAttribute(dst, a.Name, a.Value)
		}
		if len(n.Children) == 0 {
			return append(dst, "/>"...)
		}
		dst = Append(append(dst, '>'), n.Children)
		return append(append(append(dst, "</"...), n.Name...), '>')
	}
}

// AppendAttribute appends a blank and an attribute.
func AppendAttribute(dst []byte, name, value string) []byte {
	dst = append(append(append(dst, ' '), name...), `="`...)
	for i := range len(value) {
		switch c := value[i]; c {
		case '"':
			dst = append(dst, "&quot;"...)
		case '\t':
			dst = append(dst, "&#x09;"...)
		case '\n':
			dst = append(dst, "&#x0A;"...)
		default:
			dst = appendByte(dst, c)
		}
	}
	return append(dst, '"')
}

// AppendText appends a text node. If it is blank, its last character is written as a reference, so that nobody drops
// it.
func AppendText(dst []byte, text string) []byte {
	blank := text != ""
	for i := range len(text) {
		blank = blank && isSpace(text[i])
	}
	if !blank {
		return AppendContent(dst, text)
	}
	last := text[len(text)-1]
	dst = AppendContent(dst, text[:len(text)-1])
	const digits = "0123456789ABCDEF"
	return append(append(append(dst, "&#x"...), digits[last>>4], digits[last&15]), ';')
}

// AppendContent appends text that stands in an element.
func AppendContent(dst []byte, text string) []byte {
	for i := range len(text) {
		dst = appendByte(dst, text[i])
	}
	return dst
}

// appendByte appends what is escaped everywhere. All other bytes stay, those of longer characters, too.
func appendByte(dst []byte, c byte) []byte {
	switch c {
	case '&':
		return append(dst, "&amp;"...)
	case '<':
		return append(dst, "&lt;"...)
	case '>':
		return append(dst, "&gt;"...)
	case '\r':
		return append(dst, "&#x0D;"...)
	default:
		return append(dst, c)
	}
}
