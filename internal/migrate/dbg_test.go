package migrate
import "testing"
func TestDbg(t *testing.T){
 m := newMigration(t, present(t)); up(t,m)
 st,_ := readState(t.Context(), m.DB, m.Schema)
 ours := map[string]bool{}
 for n := range st.modules { ours[n]=true }
 for _,o := range m.ourObjects(st) { ours[o.name]=true }
 each(t.Context(), m.DB, "SELECT o.name, o.type FROM sys.objects AS o WHERE o.schema_id = SCHEMA_ID(@p1) UNION ALL SELECT o.name, 'type' FROM sys.types AS o WHERE o.schema_id = SCHEMA_ID(@p1)", func(scan scanner) error { var a,b string; err:=scan(&a,&b); if !ours[a] {t.Log(a,b)}; return err}, m.Schema)
 n,err := m.foreignObjects(t.Context(), m.DB, st); t.Log(n,err)
}
