package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
)

const (
	image = "mcr.microsoft.com/mssql/server"
	port  = "1433/tcp"
	// database is created on the server, since tests have no business in master.
	database = "duroxide_test"
	// expiry is when the container ends by itself, in seconds, in case the process dies without removing it. It is
	// longer than the 90 minutes that make test-mssql gives a package.
	expiry = 2 * 3600
)

// engine is a Docker engine and the container that was started on it.
type engine struct {
	pool      *dockertest.Pool
	container *dockertest.Resource
	// wait is how the server is waited for.
	wait wait
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
	return &engine{pool: pool, wait: newWait()}, nil
}

// start starts a container with that version, waits, for as long as ctx lets it, until a login succeeds (the port is
// open long before), and returns the URL of an empty database.
func (e *engine) start(ctx context.Context, version string, rowVersions bool) (dsn string, err error) {
	// Its password rules want three of: upper case, lower case, digits, others.
	password := "aA1-" + rand.Text()
	e.container, err = e.pool.RunWithOptions(&dockertest.RunOptions{
		Repository:   image,
		Tag:          version + "-latest",
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
		RawQuery: "encrypt=disable",
	}
	if dsn, err = e.wait.database(ctx, u, rowVersions); err != nil {
		return "", errors.Join(err, e.close())
	}
	return dsn, nil
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
