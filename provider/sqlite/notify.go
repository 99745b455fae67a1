package sqlite

import "github.com/duroxide/duroxide-go/provider"

var (
	_ provider.ChangeNotifier = (*Store)(nil)
	_ provider.EndNotifier    = (*Store)(nil)
)

// InstanceChanged implements [provider.ChangeNotifier].
func (s *Store) InstanceChanged(instance string) (changed <-chan struct{}, stop func()) {
	return s.changes.Await(instance)
}

// InstanceEnded implements [provider.EndNotifier].
func (s *Store) InstanceEnded(instance string) (ended <-chan struct{}, stop func()) {
	return s.ends.Await(instance)
}
