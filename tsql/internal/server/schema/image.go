package schema

import "github.com/duroxide/duroxide-go/tsql/internal/server/store"

// Image is what a server's databases count and hold, for tests that begin there again and again.
type Image struct {
	server     *Server
	nextObject int32
	versions   map[*Database]uint64
	rowVersion map[*Database]uint64
	identities map[*Identity]Identity
	sequences  map[*Sequence]Sequence
	data       *store.Image
}

// Save makes an image. It does not hold definitions.
func (s *Server) Save(e *store.Engine) *Image {
	i := &Image{
		server: s, nextObject: s.nextObject, versions: map[*Database]uint64{}, rowVersion: map[*Database]uint64{},
		identities: map[*Identity]Identity{}, sequences: map[*Sequence]Sequence{},
	}
	var tables []*store.Table
	for _, db := range s.Databases {
		i.versions[db], i.rowVersion[db] = db.Version, db.rowVersion
		for _, o := range db.Objects {
			switch o := o.(type) {
			case *Table:
				if o.Identity != nil {
					i.identities[o.Identity] = *o.Identity
				}
				if o.Data != nil {
					tables = append(tables, o.Data)
				}
			case *Sequence:
				i.sequences[o] = *o
			}
		}
	}
	i.data = e.Save(tables)
	return i
}

// Restore puts the image back, and reports whether it could: not if definitions have changed.
func (i *Image) Restore() bool {
	if len(i.server.Databases) != len(i.versions) {
		return false
	}
	for _, db := range i.server.Databases {
		if i.versions[db] != db.Version {
			return false
		}
		db.rowVersion = i.rowVersion[db]
	}
	for id, saved := range i.identities {
		*id = saved
	}
	for q, saved := range i.sequences {
		*q = saved
	}
	i.server.nextObject = i.nextObject
	i.data.Restore()
	return true
}
