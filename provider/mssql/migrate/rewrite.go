package migrate

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// DefaultSchema is the schema that the scripts name.
	DefaultSchema = "duroxide"
	// The suffixes make the names of the roles out of the schema's.
	scalerSuffix, readerSuffix, runtimeSuffix, adminSuffix = "_scaler", "_reader", "_runtime", "_admin"
	// maxSchemaLength, in UTF-16 units, leaves room for the role within the 128 of an
	// identifier.
	maxSchemaLength = 100
)

// RoleName returns the name of the role that an application in the schema needs: workers
// and clients. Its members are in the role of [ReaderRoleName] too.
func RoleName(schema string) string { return schema + runtimeSuffix }

// ReaderRoleName returns the name of the role that reads: the views, and what lists
// instances and gets their state.
func ReaderRoleName(schema string) string { return schema + readerSuffix }

// ScalerRoleName returns the name of the role that an autoscaler needs: it counts work, and
// reads none. Members of the role of [ReaderRoleName] are in it too.
func ScalerRoleName(schema string) string { return schema + scalerSuffix }

// AdminRoleName returns the name of the role that also deletes instances and prunes
// executions. Its members are in the role of [RoleName] too.
func AdminRoleName(schema string) string { return schema + adminSuffix }

// roleNames are the names of all roles, each before those whose members it contains.
func roleNames(schema string) []string {
	return []string{AdminRoleName(schema), RoleName(schema), ReaderRoleName(schema), ScalerRoleName(schema)}
}

// CheckSchemaName refuses a name that cannot be a schema's: empty, longer than 100
// UTF-16 units, with control characters, with a blank at either end, which SQL Server
// would not tell from the name without it, or with a dot or a bracket, which the driver
// cannot send in the name of a table type.
func CheckSchemaName(name string) error {
	switch {
	case name == "":
		return errors.New("the schema name is empty")
	case !utf8.ValidString(name):
		return errors.New("the schema name is not valid UTF-8")
	case len(utf16.Encode([]rune(name))) > maxSchemaLength:
		return fmt.Errorf("the schema name has more than %d characters", maxSchemaLength)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("the schema name %q has control characters", name)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("the schema name %q begins or ends with a blank", name)
	case strings.ContainsAny(name, ".[]"):
		return fmt.Errorf("the schema name %q has a dot or a bracket, which the driver cannot send in the name of a table type", name)
	}
	return nil
}

// Quote returns the name as a delimited identifier: [na]]me].
func Quote(name string) string {
	return "[" + strings.ReplaceAll(name, "]", "]]") + "]"
}

// quoteText returns the value as a string literal:
//
//	N'val''ue'
func quoteText(value string) string {
	return "N'" + strings.ReplaceAll(value, "'", "''") + "'"
}

// rewrite returns a script for another schema: every identifier duroxide becomes
// [schema], every identifier duroxide_runtime becomes [schema_runtime], those of the
// other roles likewise, and so do string literals that are exactly one of these. All else, comments among it, stays
// as it is, and so do the lines. Variables are no identifiers.
func rewrite(script, schema string) string {
	if schema == DefaultSchema {
		return script
	}
	names := map[string]string{DefaultSchema: schema}
	for i, role := range roleNames(DefaultSchema) {
		names[role] = roleNames(schema)[i]
	}
	var out strings.Builder
	before := ""
	for _, t := range tokens(script) {
		text := rewriteToken(t, names)
		out.WriteString(gap(before, text))
		out.WriteString(text)
		before = text
	}
	return out.String()
}

// gap returns the blank that keeps two tokens apart which new delimiters would join:
// LIKE'duroxide' must not become LIKEN'…', nor duroxide] an identifier without an end.
// Tokens that were next to each other in a script never need it.
func gap(before, text string) string {
	if before == "" {
		return ""
	}
	literalAfterWord := isWordByte(before[len(before)-1]) && strings.HasPrefix(text, "N'")
	bracketAfterIdentifier := len(before) > 1 && before[len(before)-1] == ']' && text[0] == ']'
	if literalAfterWord || bracketAfterIdentifier {
		return " "
	}
	return ""
}

func rewriteToken(t token, names map[string]string) string {
	if t.open {
		return t.text
	}
	if t.kind == tokenText {
		if name, ok := names[t.literal()]; ok {
			return quoteText(name)
		}
		return t.text
	}
	if name, ok := names[t.name()]; ok {
		return Quote(name)
	}
	return t.text
}
