//nolint:unused,unparam // package render copies it into generated packages, which use it
package runtime

import (
	"encoding/hex"
	"fmt"

	mssql "github.com/microsoft/go-mssqldb"
)

// sqlVarBinary is a binary value by its length; binary, rowversion and image are sent like it.
type sqlVarBinary int

func (k sqlVarBinary) check(v []byte) error {
	if k != maxLength && len(v) > int(k) {
		return fmt.Errorf("has %d bytes, more than the %d that fit", len(v), int(k))
	}
	return nil
}

// wire sends nil as an empty value: to the driver it is NULL.
func (k sqlVarBinary) wire(v []byte) (any, error) {
	if v == nil {
		v = []byte{}
	}
	return v, k.check(v)
}

func (sqlVarBinary) null() any { return []byte(nil) }

// json writes hexadecimal digits behind 0x, as CONVERT reads them in style 1.
func (k sqlVarBinary) json(dst, v []byte) ([]byte, error) {
	dst = append(dst, `"0x`...)
	dst = hex.AppendEncode(dst, v)
	return append(dst, '"'), k.check(v)
}

func (sqlVarBinary) out(v *[]byte) (any, func() *[]byte) {
	var n []byte
	if v != nil {
		n = *v
	}
	return &n, func() *[]byte { return present(&n, n != nil) }
}

// sqlUniqueIdentifier is uniqueidentifier. The driver can't send its NULL; that of varbinary does as well.
type sqlUniqueIdentifier struct{}

func (sqlUniqueIdentifier) wire(v mssql.UniqueIdentifier) (any, error) { return v, nil }
func (sqlUniqueIdentifier) null() any                                  { return []byte(nil) }

// json writes the bytes in their order: mssql.UniqueIdentifier has them as they are shown.
func (sqlUniqueIdentifier) json(dst []byte, v mssql.UniqueIdentifier) ([]byte, error) {
	dst = append(dst, '"')
	for i, b := range v {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, []byte{b})
	}
	return append(dst, '"'), nil
}

// out receives the value as 16 bytes if it sends NULL, and turns them round as the driver does.
func (sqlUniqueIdentifier) out(v *mssql.UniqueIdentifier) (any, func() *mssql.UniqueIdentifier) {
	if v != nil {
		n := mssql.NullUniqueIdentifier{UUID: *v, Valid: true}
		return &n, func() *mssql.UniqueIdentifier { return present(&n.UUID, n.Valid) }
	}
	var n []byte
	return &n, func() *mssql.UniqueIdentifier {
		var id mssql.UniqueIdentifier
		return present(&id, id.Scan(n) == nil)
	}
}
