package golangci_test

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"

	"github.com/duroxide/duroxide-go/duroxidevet"
	_ "github.com/duroxide/duroxide-go/duroxidevet/golangci"
)

// TestPlugin does what golangci-lint does with the plugins that are linked.
func TestPlugin(t *testing.T) {
	t.Parallel()
	plugin, err := register.GetPlugin("duroxidevet")
	if err != nil {
		t.Fatal(err)
	}
	linter, err := plugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	analyzers, err := linter.BuildAnalyzers()
	if err != nil || len(analyzers) != 1 || analyzers[0] != duroxidevet.Analyzer {
		t.Errorf("the analysers are %v, %v", analyzers, err)
	}
	if mode := linter.GetLoadMode(); mode != register.LoadModeTypesInfo {
		t.Errorf("the load mode is %s; the analyser needs types", mode)
	}
}
