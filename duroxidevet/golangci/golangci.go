// Package golangci is the analyser of package duroxidevet as a module plugin of golangci-lint.
// docs/duroxidevet.md shows the configuration.
package golangci

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/duroxide/duroxide-go/duroxidevet"
)

func init() { //nolint:gochecknoinits // golangci-lint finds plugins by what they register when they are linked
	register.Plugin(duroxidevet.Analyzer.Name, New)
}

// New returns the plugin. It has no settings.
func New(any) (register.LinterPlugin, error) { return plugin{}, nil }

type plugin struct{}

func (plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return []*analysis.Analyzer{duroxidevet.Analyzer}, nil
}

func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
