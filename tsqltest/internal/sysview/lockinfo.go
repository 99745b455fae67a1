package sysview

import (
	"fmt"
	"hash/fnv"

	"github.com/duroxide/duroxide-go/tsqltest/internal/lock"
	"github.com/duroxide/duroxide-go/tsqltest/internal/schema"
)

// LockOf tells of a request to the lock manager as sys.dm_tran_locks does.
func LockOf(i lock.Info, server *schema.Server) *Lock {
	r := i.Resource
	l := &Lock{
		Session: int(i.Session), Type: r.Type(), Database: server.DatabaseByID(r.Database), Mode: i.Mode.String(),
		Status: string(i.Status), Owner: "TRANSACTION", Description: describeResource(r),
	}
	switch r.Kind {
	case lock.Object:
		l.Entity = int64(r.Object)
	case lock.Key, lock.End, lock.RID, lock.Page:
		l.Entity = HoBT(r.Object, r.Index)
	default: // belongs to no entity
	}
	if i.Owner == lock.BySession {
		l.Owner = "SESSION"
	}
	return l
}

// describeResource is resource_description: which part of the entity is locked. A key is shown by a hash of 48 bits, as
// SQL Server does.
func describeResource(r lock.Resource) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.Key))
	sum := h.Sum64()
	const keyBits, nameBits = 48, 32
	switch r.Kind {
	case lock.End:
		return "(ffffffffffff)"
	case lock.Key:
		return fmt.Sprintf("(%012x)", sum>>(64-keyBits))
	case lock.RID, lock.Page:
		return fmt.Sprintf("1:%d:%d", r.Object, sum>>(64-nameBits))
	case lock.Application:
		return fmt.Sprintf("%d:[%.32s]:(%08x)", r.Object, r.Key, sum>>(64-nameBits))
	default:
		return ""
	}
}

// WaitResource is a resource as sys.dm_exec_requests shows what is waited for.
func WaitResource(r lock.Resource) string {
	switch r.Kind {
	case lock.Object:
		return fmt.Sprintf("OBJECT: %d:%d:0 ", r.Database, r.Object)
	case lock.Key, lock.End:
		return fmt.Sprintf("KEY: %d:%d %s", r.Database, HoBT(r.Object, r.Index), describeResource(r))
	default:
		return fmt.Sprintf("%s: %d:%s", r.Type(), r.Database, describeResource(r))
	}
}
