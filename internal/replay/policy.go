package replay

import (
	"fmt"
	"strings"

	"github.com/duroxide/duroxide-go/provider"
)

// Since Duroxide 0.1.31 a wait or dequeue that loses a select gives its place up where
// the function drops it: the exact policy. Executions that an older version started
// keep the legacy policy, or their histories would no longer replay (contract §7.11, race
// policy):
//
//	                              legacy                             exact
//	dequeue dropped               holds its place up to the end of   gives it up at the drop, or
//	                              the events of the turn             when it is bound
//	wait dropped after binding    holds its place until its          gives it up at the drop, and
//	                              recorded cancellation              its unread value with it
//	wait dropped before binding   the same                           the same
//
// Under both, continue-as-new carries the recorded messages that the function has not read.
//
// An execution has one policy for its life, by the stamp of its first event.

// firstExact is the release at which the policy changed. It was never published.
var firstExact = provider.Version{Minor: 1, Patch: 31}

// isExact decides the policy by a stamp. A pre-release comes before its release. A stamp
// that is no version is legacy, and the error says why.
func isExact(stamp string) (bool, error) {
	version, err := provider.ParseVersion(stamp)
	if err == nil {
		err = checkSuffixes(stamp)
	}
	if err != nil {
		return false, err
	}
	order := version.Compare(firstExact)
	core, _, _ := strings.Cut(stamp, "+")
	return order > 0 || order == 0 && !strings.Contains(core, "-"), nil
}

// checkSuffixes checks what ParseVersion drops: a pre-release and build metadata are
// identifiers with dots between them, and numbers of a pre-release have no leading zero.
func checkSuffixes(stamp string) error {
	core, build, hasBuild := strings.Cut(stamp, "+")
	_, pre, hasPre := strings.Cut(core, "-")
	for _, part := range []struct {
		there, numbers bool
		text           string
	}{{hasPre, true, pre}, {hasBuild, false, build}} {
		if !part.there {
			continue
		}
		for identifier := range strings.SplitSeq(part.text, ".") {
			digits := strings.Trim(identifier, "0123456789") == ""
			if identifier == "" || strings.ContainsFunc(identifier, notInIdentifier) ||
				part.numbers && digits && len(identifier) > 1 && identifier[0] == '0' {
				return fmt.Errorf("version %q has a malformed suffix: %w", stamp, provider.ErrInvalidArgument)
			}
		}
	}
	return nil
}

func notInIdentifier(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-'
}
