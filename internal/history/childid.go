package history

import (
	"fmt"
	"strings"
)

// childMarker begins the generated part of a child's instance id.
const childMarker = "sub::"

// GeneratedSuffix is the id of a child below its parent. From the second
// execution on it names the execution, as event ids begin again at 1 there and a
// used id would start nothing.
func GeneratedSuffix(execution, eventID uint64) string {
	if execution > 1 {
		return fmt.Sprintf("%s%d_%d", childMarker, execution, eventID)
	}
	return fmt.Sprintf("%s%d", childMarker, eventID)
}

// ChildInstance is a child's full id: generated ones live below their parent,
// explicit ones are global (contract §7.11).
func ChildInstance(parent, child string) string {
	if strings.HasPrefix(child, childMarker) {
		return parent + "::" + child
	}
	return child
}

// Nesting is how many generated ids of children an id consists of.
func Nesting(id string) int { return strings.Count(id, "::"+childMarker) }

// IsGeneratedChild reports whether an id is one that is made for a child of that parent,
// which nobody else can have.
func IsGeneratedChild(parent, id string) bool { return strings.HasPrefix(id, parent+"::"+childMarker) }

// CheckInstanceID refuses an id for a root that could be a generated child's, now or
// later (contract §2.2). The error has no prefix and says which marker the id uses.
func CheckInstanceID(id string) error {
	if strings.HasPrefix(id, childMarker) || strings.Contains(id, "::"+childMarker) {
		return fmt.Errorf("instance id '%s' uses the reserved sub-orchestration marker '%s'", id, childMarker)
	}
	return nil
}

// CheckChildID refuses an explicit id for a child that would be taken for a generated
// one. Below another instance's id the marker is allowed: such an id is used as it is.
func CheckChildID(id string) error {
	if strings.HasPrefix(id, childMarker) {
		return fmt.Errorf("sub-orchestration id '%s' begins with the reserved marker '%s'; choose another id, or none to have one made", id, childMarker)
	}
	return nil
}

// TakenText tells a parent that its child's id is taken (contract §7.5, colliding child starts), and
// TakenByFinished follows it when the instance that has the id has ended.
func TakenText(id string) string {
	return fmt.Sprintf("sub-orchestration instance id '%s' already exists", id)
}

// TakenByFinished follows TakenText, see there.
const TakenByFinished = " and is terminal"
