package sysview

import (
	"testing"

	"github.com/duroxide/duroxide-go/tsql/internal/server/lock"
)

// The names of wait types are those of Microsoft's list.
func TestWaitTypes(t *testing.T) {
	t.Parallel()
	want := map[lock.Mode]string{
		lock.SchS: "LCK_M_SCH_S", lock.SchM: "LCK_M_SCH_M", lock.S: "LCK_M_S", lock.U: "LCK_M_U", lock.X: "LCK_M_X",
		lock.IS: "LCK_M_IS", lock.IU: "LCK_M_IU", lock.IX: "LCK_M_IX", lock.SIU: "LCK_M_SIU", lock.SIX: "LCK_M_SIX",
		lock.UIX: "LCK_M_UIX", lock.BU: "LCK_M_BU", lock.RangeSS: "LCK_M_RS_S", lock.RangeSU: "LCK_M_RS_U",
		lock.RangeIN: "LCK_M_RIn_NL", lock.RangeIS: "LCK_M_RIn_S", lock.RangeIU: "LCK_M_RIn_U", lock.RangeIX: "LCK_M_RIn_X",
		lock.RangeXS: "LCK_M_RX_S", lock.RangeXU: "LCK_M_RX_U", lock.RangeXX: "LCK_M_RX_X",
	}
	for mode, name := range want {
		if got := waitType(mode); got != name {
			t.Errorf("waiting for %v is %s, want %s", mode, got, name)
		}
	}
}

func TestWaitDescriptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		info lock.Info
		want string
	}{
		{
			lock.Info{Mode: lock.IX, Resource: lock.Resource{Kind: lock.Object, Database: 5, Object: 100}},
			"objectlock lockPartition=0 objid=100 subresource=FULL dbid=5 id=lock mode=IX associatedObjectId=100",
		},
		{
			lock.Info{Mode: lock.S, Resource: lock.Resource{Kind: lock.Key, Database: 5, Object: 1, Index: 2, Key: "a"}},
			"keylock hobtid=72057594037928194 dbid=5 id=lock mode=S associatedObjectId=72057594037928194",
		},
		{
			lock.Info{Mode: lock.X, Resource: lock.Resource{Kind: lock.Application, Database: 5, Key: "a"}},
			"applicationlock hash=0:[a]:(af63dc4c) databasePrincipalId=0 dbid=5 id=lock mode=X associatedObjectId=0",
		},
	} {
		if got := waitDescription(c.info); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
