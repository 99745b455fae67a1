package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// refusals are the error numbers by which the server refuses what takes an owner's rights.
// Some are as well those of something that does not exist.
var refusals = []int32{
	229, 230, // on an object, on a column
	262,      // to create something in the database
	297, 300, // on the server
	2759,  // CREATE SCHEMA failed; the error that says why came before
	2760,  // schema
	15151, // role, user or schema of a GRANT
	15247, // the action as such
}

// explain makes an error that comes of missing rights one that says so and matches
// [ErrPermission]. It asks the server, because numbers alone are ambiguous; should that
// fail too, the error stays what it is.
func (m *Migration) explain(ctx context.Context, err error) error {
	var numbered interface{ SQLErrorNumber() int32 }
	if !errors.As(err, &numbered) || !slices.Contains(refusals, numbered.SQLErrorNumber()) {
		return err
	}
	if owner, asking := m.on(m.DB).IsOwner(ctx); owner == 1 || asking != nil {
		return err
	}
	return m.forbidden(err)
}

// forbidden is the error of a login that would have to be an owner.
func (m *Migration) forbidden(cause error) error {
	return fmt.Errorf("%w: schema %s can only be compared and changed by an owner of the database, which this login is not; "+
		"connect as a member of db_owner, or have one run `duroxide migrate` (%w)", ErrPermission, Quote(m.schema()), oneLineError{cause})
}

// errUnreadable is the cause where nothing was refused, and nothing shown.
var errUnreadable = errors.New("the login may not read the procedures")

// isUnreadable reports whether the login may not read modules, which would all seem to be
// missing or edited: not even the view that it has just read has a definition.
func (st *state) isUnreadable() bool {
	return st.recorded && !slices.ContainsFunc(slices.Collect(maps.Values(st.stored)), func(one storedModule) bool { return one.checksum != nil })
}
