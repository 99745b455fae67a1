//go:build !linux

package sqlite

import "errors"

// writeNotices would tell of writes to a file.
type writeNotices struct{ written chan struct{} }

func newWriteNotices(string) (*writeNotices, error) { return nil, errors.ErrUnsupported }

func (*writeNotices) next() error { return errors.ErrUnsupported }

func (*writeNotices) close() {}
