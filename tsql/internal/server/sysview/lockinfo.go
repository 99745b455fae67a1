package sysview

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
	"github.com/duroxide/duroxide-go/tsql/internal/server/schema"
)

// LockOf tells of a request to the lock manager as sys.dm_tran_locks does.
func LockOf(i lock.Info, server *schema.Server) *Lock {
	r := i.Resource
	l := &Lock{
		Session: int(i.Session), Type: r.Type(), Database: server.DatabaseByID(r.Database), Mode: i.Mode.String(),
		Status: string(i.Status), Owner: "TRANSACTION", Description: describeResource(r), Count: i.Count,
	}
	switch r.Kind {
	case lock.Object:
		l.Entity = int64(r.Object)
	case lock.Key, lock.End, lock.RID, lock.Page:
		l.Entity = HoBT(r.Object, r.Index)
	default: // belongs to no entity
	}
	switch i.Owner {
	case lock.BySession:
		l.Owner = "SESSION"
	case lock.ByCursor:
		l.Owner = "CURSOR"
	case lock.ByTransaction:
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
	case lock.Xact:
		return r.Key + ":0"
	case lock.Application:
		return fmt.Sprintf("%d:[%.32s]:(%08x)", r.Object, r.Key, sum>>(64-nameBits))
	default:
		return ""
	}
}

// WaitOf tells what a request waits for.
func WaitOf(i lock.Info) *Wait {
	kind := waitType(i.Mode)
	switch {
	case i.Resource.Kind != lock.Xact:
	case i.ForMode == lock.S || i.ForMode == lock.RangeSS:
		kind += "_XACT_READ"
	default:
		kind += "_XACT_MODIFY"
	}
	return &Wait{
		Type: kind, Since: i.Since, Resource: waitResource(i.Resource, i.For), Description: waitDescription(i),
		BlockedBy: int(i.Blocker),
	}
}

// waitType is the wait type for a lock: LCK_M_S, LCK_M_RIn_NL, LCK_M_SCH_M and so on.
func waitType(m lock.Mode) string {
	name := m.String()
	if m.IsRange() {
		name = rangeWaits.Replace(name)
	}
	return "LCK_M_" + strings.ToUpper(name[:1]) + strings.NewReplacer("ch-", "CH_", "-", "_").Replace(name[1:])
}

// rangeWaits makes the names of wait types of the names of modes: RangeS-U is RS_U there, and RangeI-N is RIn_NL.
var rangeWaits = strings.NewReplacer("RangeI-N", "RIn_NL", "RangeI", "RIn", "RangeS", "RS", "RangeX", "RX")

// waitDescription is a resource as sys.dm_os_waiting_tasks shows it.
func waitDescription(i lock.Info) string {
	r := i.Resource
	var what string
	entity := HoBT(r.Object, r.Index)
	switch r.Kind {
	case lock.Object:
		entity = int64(r.Object)
		what = fmt.Sprintf("objectlock lockPartition=0 objid=%d subresource=FULL dbid=%d", r.Object, r.Database)
	case lock.RID:
		what = fmt.Sprintf("ridlock fileid=1 pageid=%d dbid=%d", r.Object, r.Database)
	case lock.Application:
		entity = 0
		what = fmt.Sprintf("applicationlock hash=%s databasePrincipalId=%d dbid=%d", describeResource(r), r.Object, r.Database)
	case lock.Xact:
		entity = 0
		what = fmt.Sprintf("xactlock xdesIdLow=%s xdesIdHigh=0 dbid=%d", r.Key, r.Database)
	default:
		what = fmt.Sprintf("keylock hobtid=%d dbid=%d", entity, r.Database)
	}
	return fmt.Sprintf("%s id=lock mode=%s associatedObjectId=%d", what, i.Mode, entity)
}

// waitResource is a resource as sys.dm_exec_requests shows what is waited for: of a transaction, also the key that it
// has changed.
func waitResource(r, key lock.Resource) string {
	switch r.Kind {
	case lock.Object:
		return fmt.Sprintf("OBJECT: %d:%d:0 ", r.Database, r.Object)
	case lock.Key, lock.End:
		return fmt.Sprintf("KEY: %d:%d %s", r.Database, HoBT(r.Object, r.Index), describeResource(r))
	case lock.Xact:
		return fmt.Sprintf("XACT: %d:%s %s", r.Database, describeResource(r), waitResource(key, lock.Resource{}))
	default:
		return fmt.Sprintf("%s: %d:%s", r.Type(), r.Database, describeResource(r))
	}
}
