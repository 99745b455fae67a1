package main

import (
	"fmt"
	"io"

	"github.com/sqlc-dev/plugin-sdk-go/plugin"
	"google.golang.org/protobuf/proto"

	"github.com/duroxide/duroxide-go/internal/tsql/diag"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/config"
	"github.com/duroxide/duroxide-go/tools/sqlc-gen-tsql/internal/generate"
)

// pluginMethod is the argument with which sqlc starts a process plugin. The request comes on stdin as protobuf, and the
// files go back the same way.
const pluginMethod = plugin.CodegenService_Generate_FullMethodName

// plugin answers a request of sqlc. Of the request only the options count: what sqlc itself has made of its own
// queries is for another dialect. Findings go to stderr, which sqlc shows when the exit code isn't 0. Paths are
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
	body, err := io.ReadAll(a.stdin)
	if err != nil {
		return nil, err
	}
	var request plugin.GenerateRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	c, findings := config.Read(diag.NewFile("options", string(request.GetPluginOptions())))
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
	if err := a.report(findings); err != nil {
		return nil, err
	}
	response := &plugin.GenerateResponse{}
	for _, name := range generate.SortedNames(result.Files) {
		response.Files = append(response.Files, &plugin.File{Name: name, Contents: result.Files[name]})
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(response)
}
