package server

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"strconv"

	"github.com/duroxide/duroxide-go/provider"
	"github.com/duroxide/duroxide-go/provider/mssql"
)

// poolEnv is the environment variable that holds the size of the pool.
const poolEnv = "DUROXIDE_SQL_POOL_MAX"

// defaultPool is the default of mssql.Options.MaxOpenConns.
const defaultPool = 10

// poolSize returns the number of connections of a store: the value of [poolEnv], or 10. Error: the variable is not a
// number of at least 1.
func poolSize() (int, error) { return poolSizeOf(os.Getenv(poolEnv)) }

func poolSizeOf(text string) (int, error) {
	if text == "" {
		return defaultPool, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, provider.Permanent("open", fmt.Sprintf(
			"the environment variable %s must be a number of connections from 1 on, and is %q", poolEnv, text), provider.ErrInvalidArgument)
	}
	return n, nil
}

// openPooled opens the store with [poolSize] connections.
func openPooled(ctx context.Context, address Address, connect func(dsn string) (driver.Connector, error)) (*mssql.Store, error) {
	pool, err := poolSize()
	if err != nil {
		return nil, err
	}
	return mssql.OpenWith(ctx, string(address), mssql.Options{MaxOpenConns: pool}, connect)
}
