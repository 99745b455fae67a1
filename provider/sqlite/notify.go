package sqlite

import "github.com/duroxide/duroxide-go/provider"

var _ provider.ChangeNotifier = (*Store)(nil)

// InstanceChanged implements [provider.ChangeNotifier].
func (s *Store) InstanceChanged(instance string) (changed <-chan struct{}, stop func()) {
	return s.changes.Await(instance)
}
