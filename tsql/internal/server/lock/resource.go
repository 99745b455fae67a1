package lock

import (
	"encoding/hex"
	"strconv"
)

// Kind is what a resource is.
type Kind uint8

// The kinds of resources.
const (
	Database Kind = iota + 1
	Object
	Page
	Key // a key of an index
	End // the place behind the last key of an index
	RID // a row of a heap
	Application
	Xact // a transaction that changes rows, under optimized locking
)

// Resource is what can be locked.
type Resource struct {
	Key      string // the key's bytes, the row's number, the name of an application lock, the transaction's number
	Database int32
	Object   int32 // of Application: the database principal
	Index    int32 // of Key and End
	Kind     Kind
}

// Type is the resource's type as sys.dm_tran_locks has it.
func (r Resource) Type() string {
	switch r.Kind {
	case Database:
		return "DATABASE"
	case Object:
		return "OBJECT"
	case Page:
		return "PAGE"
	case Key, End:
		return "KEY"
	case RID:
		return "RID"
	case Application:
		return "APPLICATION"
	case Xact:
		return "XACT"
	default:
		return ""
	}
}

// String names the resource.
func (r Resource) String() string {
	b := append(make([]byte, 0, 64), r.Type()...)
	b = strconv.AppendInt(append(b, ' '), int64(r.Database), 10)
	switch r.Kind {
	case Database:
	case Application:
		b = append(strconv.AppendInt(append(b, ':'), int64(r.Object), 10), ":["...)
		b = append(append(b, r.Key...), ']')
	case Xact:
		b = append(append(append(b, ':'), r.Key...), ":0"...)
	case Key, End, RID, Page:
		b = strconv.AppendInt(append(b, ':'), int64(r.Object), 10)
		b = strconv.AppendInt(append(b, ':'), int64(r.Index), 10)
		b = append(b, " ("...)
		if r.Kind == End {
			b = append(b, "ffffffffffff"...) // as SQL Server has it
		}
		b = append(hex.AppendEncode(b, []byte(r.Key)), ')')
	default:
		b = strconv.AppendInt(append(b, ':'), int64(r.Object), 10)
	}
	return string(b)
}
