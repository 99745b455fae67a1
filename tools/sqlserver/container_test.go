package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeDocker answers as much of Docker's API as it takes to run one container.
type fakeDocker struct {
	*httptest.Server

	mu sync.Mutex
	// calls are the requests without the version of the API, such as "POST /containers/create".
	calls []string
	// env is the environment of the container, image what it runs.
	env   []string
	image string
	// removed is closed when the container is, which ends the wait for its expiry.
	removed chan struct{}
}

func newFakeDocker(t *testing.T) *fakeDocker {
	t.Helper()
	d := &fakeDocker{removed: make(chan struct{})}
	d.Server = httptest.NewServer(http.HandlerFunc(d.serve))
	t.Cleanup(d.Close)
	return d
}

var apiVersion = regexp.MustCompile(`^/v[0-9.]+/`)

func (d *fakeDocker) serve(w http.ResponseWriter, r *http.Request) {
	call := r.Method + " " + apiVersion.ReplaceAllString(r.URL.Path, "/")
	d.mu.Lock()
	d.calls = append(d.calls, call)
	d.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch call {
	case "POST /containers/create":
		var config struct {
			Env   []string `json:"Env"`
			Image string   `json:"Image"`
		}
		if err := json.NewDecoder(r.Body).Decode(&config); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
		d.mu.Lock()
		d.env, d.image = config.Env, config.Image
		d.mu.Unlock()
		w.WriteHeader(http.StatusCreated)
		w.Write([]byte(`{"Id":"c0ffee"}`))
	case "GET /containers/c0ffee/json":
		w.Write([]byte(`{"Id":"c0ffee","NetworkSettings":{"Ports":{"1433/tcp":[{"HostIp":"0.0.0.0","HostPort":"49153"}]}}}`))
	case "POST /containers/c0ffee/start":
		w.WriteHeader(http.StatusNoContent)
	case "POST /containers/c0ffee/stop":
		<-d.removed
		w.WriteHeader(http.StatusNotModified)
	case "DELETE /containers/c0ffee":
		close(d.removed)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Write([]byte(`{}`))
	}
}

func (d *fakeDocker) connect(t *testing.T, create func(context.Context, string, bool) error) *engine {
	t.Helper()
	e, err := newEngine(t.Context(), d.URL)
	if err != nil {
		t.Fatal(err)
	}
	e.wait = wait{patience: time.Minute, pause: 1, create: create}
	return e
}

func (d *fakeDocker) called(call string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.calls, call)
}

func TestContainerIsReadyWithALogin(t *testing.T) {
	t.Parallel()
	d := newFakeDocker(t)
	var tried []string
	e := d.connect(t, func(_ context.Context, dsn string, _ bool) error {
		if tried = append(tried, dsn); len(tried) == 1 {
			return errors.New("not yet")
		}
		return nil
	})
	dsn, err := e.start(t.Context(), "2019", false)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	if u.Host != "localhost:49153" || u.Query().Get("database") != database || !slices.Contains(d.env, "MSSQL_SA_PASSWORD="+password) {
		t.Errorf("the server is at %s, the container has %q", dsn, d.env)
	}
	if d.image != image+":2019-latest" {
		t.Errorf("the container runs %q", d.image)
	}
	if len(tried) != 2 || !strings.Contains(tried[1], "database=master") {
		t.Errorf("tried %q", tried)
	}
	if err := e.close(); err != nil {
		t.Error(err)
	}
	if !d.called("DELETE /containers/c0ffee") {
		t.Errorf("the container was not removed: %q", d.calls)
	}
	if err := e.close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestContainerThatNeverAnswersIsRemoved(t *testing.T) {
	t.Parallel()
	d := newFakeDocker(t)
	e := d.connect(t, func(context.Context, string, bool) error { return errors.New("refused") })
	e.wait.patience = 1 // a nanosecond: one try
	if _, err := e.start(t.Context(), "2019", false); err == nil || !strings.Contains(err.Error(), "does not accept a login") {
		t.Error(err)
	}
	if !d.called("DELETE /containers/c0ffee") {
		t.Errorf("the container was not removed: %q", d.calls)
	}
}

func TestInterruptEndsTheWaitForALogin(t *testing.T) {
	t.Parallel()
	d := newFakeDocker(t)
	ctx, interrupt := context.WithCancel(t.Context())
	e := d.connect(t, func(context.Context, string, bool) error {
		interrupt()
		return errors.New("not yet")
	})
	if _, err := e.start(ctx, "2022", true); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if !d.called("DELETE /containers/c0ffee") {
		t.Errorf("the container was not removed: %q", d.calls)
	}
}

func TestNoEngine(t *testing.T) {
	t.Parallel()
	d := newFakeDocker(t)
	d.Close()
	if _, err := newEngine(t.Context(), d.URL); err == nil {
		t.Error("an engine that is gone answers")
	}
}
