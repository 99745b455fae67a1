package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "github.com/microsoft/go-mssqldb" // the driver "sqlserver"
	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

const (
	image = "mcr.microsoft.com/mssql/server"
	tag   = "2022-latest"
	port  = "1433/tcp"
	// database is created in the container, since tests have no business in master.
	database = "duroxide_test"

	// startPatience is how long the server may take until a login succeeds, not counting the time it takes to pull
	// the image.
	startPatience = 3 * time.Minute
	// expiry is when the container ends by itself, in seconds, in case the process dies without removing it. It is longer
	// than the 90 minutes that make test-mssql gives a package.
	expiry = 2 * 3600
)

// engine is a Docker engine and the container that was started on it.
type engine struct {
	pool      *dockertest.Pool
	container *dockertest.Resource
	// login makes sure that the server at the URL of its database master accepts a login, and creates the database.
	login func(ctx context.Context, url string) error
}

// localEngine connects to the Docker engine that the environment names (DOCKER_HOST), or to this machine's.
func localEngine(ctx context.Context) (*engine, error) { return newEngine(ctx, "") }

// newEngine connects to the Docker engine at the endpoint.
func newEngine(ctx context.Context, endpoint string) (*engine, error) {
	pool, err := dockertest.NewPool(endpoint)
	if err != nil {
		return nil, fmt.Errorf("no Docker engine: %w", err)
	}
	if err := pool.Client.PingWithContext(ctx); err != nil {
		pool.Client.HTTPClient.CloseIdleConnections()
		return nil, fmt.Errorf("no Docker engine: %w", err)
	}
	pool.MaxWait = startPatience
	return &engine{pool: pool, login: createDatabase}, nil
}

// start starts the container, waits, for as long as ctx lets it, until a login succeeds (the port is open long before), and returns the URL of an
// empty database.
func (e *engine) start(ctx context.Context) (dsn string, err error) {
	// Its password rules want three of: upper case, lower case, digits, others.
	password := "aA1-" + rand.Text()
	e.container, err = e.pool.RunWithOptions(&dockertest.RunOptions{
		Repository:   image,
		Tag:          tag,
		ExposedPorts: []string{port},
		Env:          []string{"ACCEPT_EULA=Y", "MSSQL_PID=Developer", "MSSQL_SA_PASSWORD=" + password},
	}, func(config *docker.HostConfig) {
		config.AutoRemove = true
	})
	if err != nil {
		return "", err
	}
	if err := e.container.Expire(expiry); err != nil {
		return "", errors.Join(err, e.close())
	}
	u := &url.URL{
		Scheme: "sqlserver", User: url.UserPassword("sa", password), Host: e.container.GetHostPort(port),
		RawQuery: "database=master&encrypt=disable",
	}
	err = e.pool.Retry(func() error {
		if ctx.Err() != nil {
			return nil // no use in another try
		}
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return e.login(ctx, u.String())
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return "", errors.Join(fmt.Errorf("the server does not accept a login: %w", err), e.close())
	}
	u.RawQuery = "database=" + database + "&encrypt=disable"
	return u.String(), nil
}

// createDatabase creates the database under test.
func createDatabase(ctx context.Context, master string) (err error) {
	db, err := sql.Open("sqlserver", master)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "IF DB_ID('"+database+"') IS NULL CREATE DATABASE "+database)
	return err
}

// close removes the container, if there is one, and lets go of the engine.
func (e *engine) close() error {
	defer e.pool.Client.HTTPClient.CloseIdleConnections()
	if e.container == nil {
		return nil
	}
	container := e.container
	e.container = nil
	if err := e.pool.Purge(container); err != nil {
		return fmt.Errorf("removing the container %.12s: %w", container.Container.ID, err)
	}
	return nil
}
