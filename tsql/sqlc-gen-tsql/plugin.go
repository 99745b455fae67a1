package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/duroxide/duroxide-go/tsql/internal/diag"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tsql/sqlc-gen-tsql/internal/generate"
)

// pluginMethod is the argument with which sqlc starts a process plugin: a method of its protocol. The request comes on
// stdin and the files go back on stdout, both as JSON if the plugin's process has "format: json". sqlc's other format,
// protobuf, would bring gRPC into the module graph of everybody who imports this module.
const pluginMethod = "/plugin.CodegenService/Generate"

// A request is what is read of sqlc's request: only the options, since what sqlc itself has made of its own queries is
// for another dialect.
type request struct {
	// Options are the options of sqlc.yaml as JSON. sqlc sends bytes as base64, which is what encoding/json expects.
	Options []byte `json:"plugin_options"`
}

// A response is what sqlc expects.
type response struct {
	Files []responseFile `json:"files"`
}

// A responseFile is a file that sqlc writes into the plugin's folder.
type responseFile struct {
	Name     string `json:"name"`
	Contents []byte `json:"contents"`
}

// plugin answers a request of sqlc. Findings go to stderr, which sqlc shows when the exit code isn't 0. Paths are
// relative to the folder that sqlc runs in, since a plugin isn't told where its configuration is.
func (a *app) plugin() int {
	answer, err := a.answer()
	if err == nil {
		_, err = a.stdout.Write(answer)
	}
	return a.exitCode(command{name: "as a plugin"}, err)
}

// answer returns the response, marshaled, in the same bytes every time: sqlc's diff compares them.
func (a *app) answer() ([]byte, error) {
	asked, err := readRequest(a.stdin)
	if err != nil {
		return nil, err
	}
	c, findings := config.Read(diag.NewFile("options", string(asked.Options)))
	// Two outs that differ would be a riddle to whoever looks for the files.
	if c.Out != "" {
		findings.Add(nil, diag.Span{}, "config", "remove it from options", "a plugin's out is set beside its options, not in them")
	}
	if err := a.report(findings); err != nil {
		return nil, err
	}
	sources, err := readSources(a.dir, c)
	if err != nil {
		return nil, fmt.Errorf("%w (paths are relative to the folder that sqlc runs in)", err)
	}
	result, findings := generate.Run(sources, c)
	if len(findings) == 0 {
		findings = generate.NothingToCall(sources, result, c)
	}
	if err := a.report(findings); err != nil {
		return nil, err
	}
	var answer response
	for _, name := range generate.SortedNames(result.Files) {
		answer.Files = append(answer.Files, responseFile{Name: name, Contents: result.Files[name]})
	}
	return json.Marshal(answer)
}

// readRequest reads a request.
func readRequest(stdin io.Reader) (asked request, err error) {
	body, err := io.ReadAll(stdin)
	if err != nil {
		return request{}, err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return request{}, errors.New("the request is not JSON: put format: json beside cmd in the plugin's process in sqlc.yaml")
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return request{}, fmt.Errorf("reading the request: %w", err)
	}
	return asked, nil
}
