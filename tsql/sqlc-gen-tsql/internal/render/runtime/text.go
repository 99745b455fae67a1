//nolint:unused // package render copies it into generated packages, which use it
package runtime

import (
	"database/sql"
	"errors"
	"fmt"
	"unicode/utf8"

	mssql "github.com/microsoft/go-mssqldb"
)

// maxLength is the length of varchar(max), nvarchar(max) and varbinary(max).
const maxLength = -1

var errNotUTF8 = errors.New("is not valid UTF-8")

// checkText says whether text fits. A length counts UTF-16 units; of a code page it counts bytes, of which no code page
// but UTF-8 and those of East Asia needs more.
func checkText(v, name string, limit int) error {
	if !utf8.ValidString(v) {
		return errNotUTF8
	}
	// No text has more units than bytes.
	if limit == maxLength || len(v) <= limit {
		return nil
	}
	units := 0
	for _, r := range v { // beyond the first plane a character takes two
		units++
		if r > 0xFFFF {
			units++
		}
	}
	if units > limit {
		return fmt.Errorf("has %d characters, more than %s(%d) holds", units, name, limit)
	}
	return nil
}

// ascii says whether text is the same in every code page.
func ascii(v string) bool {
	for i := range len(v) {
		if v[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// codePageText is ASCII as it is; of anything else the server knows better what it is in its code page.
func codePageText(v string) any {
	if ascii(v) {
		return mssql.VarChar(v)
	}
	return v
}

// A textKind is a kind of texts, of which not all fit.
type textKind interface{ check(v string) error }

// outText sends nvarchar whatever the parameter is: of the driver's texts, only sql.NullString can be NULL.
func outText(v *string) (any, func() *string) {
	n := sql.NullString{}
	if v != nil {
		n = sql.NullString{String: *v, Valid: true}
	}
	return &n, func() *string { return present(&n.String, n.Valid) }
}

// sqlNVarChar is nvarchar by its length; ntext and xml are sent like nvarchar(max).
type sqlNVarChar int

func (k sqlNVarChar) check(v string) error { return checkText(v, "nvarchar", int(k)) }

func (k sqlNVarChar) wire(v string) (any, error) {
	if k == maxLength { // by its type, rather than by how long the value happens to be
		return mssql.NVarCharMax(v), k.check(v)
	}
	return v, k.check(v)
}

func (sqlNVarChar) null() any { return sql.NullString{} }

func (sqlNVarChar) out(v *string) (any, func() *string) { return outText(v) }

func (k sqlNVarChar) json(dst []byte, v string) ([]byte, error) {
	return appendJSONText(dst, v), k.check(v)
}

// sqlNChar is nchar by its length.
type sqlNChar int

func (k sqlNChar) check(v string) error { return checkText(v, "nchar", int(k)) }

func (k sqlNChar) wire(v string) (any, error) {
	err := k.check(v)
	if v == "" {
		return v, err // the driver would send the impossible nchar(max)
	}
	return mssql.NChar(v), err
}

func (sqlNChar) null() any { return sql.NullString{} }

func (sqlNChar) out(v *string) (any, func() *string) { return outText(v) }

func (k sqlNChar) json(dst []byte, v string) ([]byte, error) {
	return appendJSONText(dst, v), k.check(v)
}

// sqlVarChar is varchar by its length; text is sent like varchar(max).
type sqlVarChar int

func (k sqlVarChar) check(v string) error { return checkText(v, "varchar", int(k)) }

func (k sqlVarChar) wire(v string) (any, error) {
	return codePageText(v), k.check(v)
}

func (sqlVarChar) null() any { return sql.NullString{} }

func (sqlVarChar) out(v *string) (any, func() *string) { return outText(v) }

func (k sqlVarChar) json(dst []byte, v string) ([]byte, error) {
	return appendJSONText(dst, v), k.check(v)
}

// sqlChar is char by its length.
type sqlChar int

func (k sqlChar) check(v string) error { return checkText(v, "char", int(k)) }

func (k sqlChar) wire(v string) (any, error) {
	return codePageText(v), k.check(v)
}

func (sqlChar) null() any { return sql.NullString{} }

func (sqlChar) out(v *string) (any, func() *string) { return outText(v) }

func (k sqlChar) json(dst []byte, v string) ([]byte, error) {
	return appendJSONText(dst, v), k.check(v)
}
