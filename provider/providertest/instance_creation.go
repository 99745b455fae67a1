package providertest

import (
	"fmt"

	"github.com/duroxide/duroxide-go/provider"
)

// instanceCreation checks that an instance comes into being by its first ack
// with name and version, and by nothing else, and how later acks change those.
func instanceCreation() category {
	return category{"instance creation", []scenario{
		{"instance_creation_via_metadata", createdByAck},
		{"no_instance_creation_on_enqueue", notCreatedByEnqueue},
		{"null_version_handling", unknownVersion},
		{"sub_orchestration_instance_creation", childCreatedWithParent},

		{"name_and_version_create_only_together", nameAndVersionTogether},
		{"name_and_version_follow_the_latest_ack", nameAndVersionFollow},
		{"child_of_a_deleted_parent_can_be_created", childOfDeletedParent},

		{"no_version_is_invented", noVersionInvented},
	}}
}

const (
	ruleNoInvention = `§5.1: no version: "unknown"; a store MUST NOT invent a version`
	ruleCreates     = "§5.2 step 3: only if both name and version are given: insert the row if absent, then set name and version"
	ruleNoCreate    = "§5.9: MUST NOT create an instance row, and MUST NOT require one"
	ruleNameFrom    = "§5.1 step 10: instance row exists: name and version from row"
	ruleBoth        = "§5.2 step 3: only if both name and version are given"
)

// The metadata's name and version make the instance, whatever the start message
// called it.
func createdByAck(e *env) {
	e.enqueue(startItem("A"))
	got := e.fetchInstance("A", held)
	e.noInstance("A", "§4: instances: created only by ack")
	e.commit(got, provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{
		OrchestrationName: new("Resolved"), OrchestrationVersion: new("3.1.4"),
	}})
	e.enqueue(raised("A", "go"))
	got = e.fetchInstance("A", held)
	same(e, got.Item.OrchestrationName, "Resolved", ruleNameFrom)
	same(e, got.Item.Version, "3.1.4", ruleNameFrom)
	same(e, got.Item.ExecutionID, 1, ruleCreates)
	if e.p.Admin() != nil {
		info := e.info("A")
		same(e, info.OrchestrationName, "Resolved", ruleCreates)
		same(e, info.OrchestrationVersion, "3.1.4", ruleCreates)
		samePtr(e, info.ParentInstanceID, nil, ruleCreates)
	}
}

// Queuing a start, or any other message, makes no instance; neither does
// fetching it or giving it back.
func notCreatedByEnqueue(e *env) {
	e.enqueue(startItem("A"), raised("A", "go"))
	e.enqueueWork(activityItem("A", 2))
	e.noInstance("A", ruleNoCreate)
	e.abandon(e.fetchInstance("A", held), 0, false)
	e.noInstance("A", "§4: instances: created only by ack")
	same(e, len(e.read("A")), 0, ruleNoCreate)
	if a := e.p.Admin(); a != nil {
		ids, err := a.ListInstances(e.ctx)
		e.ok(err, "§6.3: ListInstances")
		sameList(e, ids, nil, ruleNoCreate)
	}
}

// A start without a version is fetched as version "unknown" until an ack says
// which version was resolved.
func unknownVersion(e *env) {
	start := startItem("A")
	start.Version = nil
	e.enqueue(start)
	got := e.fetchInstance("A", held)
	same(e, got.Item.OrchestrationName, "Order", "§5.1 step 10: name from the item")
	same(e, got.Item.Version, provider.UnknownVersion, "§5.1 step 10: version from the item; null → \"unknown\"")
	e.commit(got, provider.AckOrchestrationParams{Metadata: created()})
	e.enqueue(raised("A", "go"))
	same(e, e.fetchInstance("A", held).Item.Version, "1.0.0", ruleNameFrom)
}

// A child's first ack stores who its parent is.
func childCreatedWithParent(e *env) {
	admin := e.admin()
	e.create("parent")
	start := startItem("parent::sub::2")
	start.ParentInstance, start.ParentID = new("parent"), new(uint64(2))
	e.enqueue(start)
	got := e.fetchInstance(start.Instance, held)
	e.batch(got, "§5.1 step 8: read batch", start)
	metadata := created()
	metadata.ParentInstanceID = new("parent")
	e.commit(got, provider.AckOrchestrationParams{Metadata: metadata})

	const rule = "§5.2 step 3: insert the row if absent (parent = ParentInstanceID)"
	parent, err := admin.GetParentID(e.ctx, start.Instance)
	e.ok(err, rule)
	samePtr(e, parent, new("parent"), rule)
	samePtr(e, e.info(start.Instance).ParentInstanceID, new("parent"), rule)
	samePtr(e, e.info("parent").ParentInstanceID, nil, rule)
}

// A name or a version alone neither creates an instance nor changes one; history
// and execution are written all the same.
func nameAndVersionTogether(e *env) {
	halves := []provider.ExecutionMetadata{{OrchestrationName: new("Half")}, {OrchestrationVersion: new("0.5.0")}, {}}
	for i, half := range halves {
		instance := fmt.Sprint("i", i)
		e.enqueue(startItem(instance))
		e.commit(e.fetchInstance(instance, held), provider.AckOrchestrationParams{
			Metadata: half, HistoryDelta: []provider.Event{started(instance, 1)},
		})
		e.noInstance(instance, ruleBoth)
		e.sameEvents(e.history(instance, 1), []provider.Event{started(instance, 1)},
			"§5.2: metadata without name/version on unknown instance: execution and history rows are written")
	}
	e.create("A")
	for _, half := range halves {
		e.turn("A", provider.AckOrchestrationParams{Metadata: half})
		e.enqueue(raised("A", "go"))
		got := e.fetchInstance("A", held)
		same(e, got.Item.OrchestrationName+" "+got.Item.Version, "Order 1.0.0", ruleBoth)
		e.drop(got)
	}
}

// Name and version of an existing instance become those of the latest ack that
// gives both.
func nameAndVersionFollow(e *env) {
	e.create("A")
	e.turn("A", provider.AckOrchestrationParams{Metadata: provider.ExecutionMetadata{
		OrchestrationName: new("Renamed"), OrchestrationVersion: new("2.0.0"),
	}})
	e.turn("A", provider.AckOrchestrationParams{})
	e.enqueue(raised("A", "go"))
	got := e.fetchInstance("A", held)
	same(e, got.Item.OrchestrationName+" "+got.Item.Version, "Renamed 2.0.0", ruleCreates)
}

// A child whose parent was deleted before the child's first turn still gets its
// row: the parent reference is not enforced.
func childOfDeletedParent(e *env) {
	e.create("parent")
	child := startItem("child")
	child.ParentInstance, child.ParentID = new("parent"), new(uint64(2))
	e.turn("parent", provider.AckOrchestrationParams{OrchestratorItems: []provider.WorkItem{child}})
	e.delete("parent", true)
	const rule = "§5.2: child whose parent was deleted: MUST succeed (no enforced foreign key on parent, P17)"
	got := e.fetchInstance("child", held)
	metadata := created()
	metadata.ParentInstanceID = new("parent")
	e.ok(e.p.AckOrchestrationItem(e.ctx, turnOf(got, provider.AckOrchestrationParams{
		Metadata: metadata, HistoryDelta: []provider.Event{started("child", 1)},
	})), rule)
	samePtr(e, e.info("child").ParentInstanceID, new("parent"), rule)
}

// What was started without a version has none until a turn has named one, and then that one.
func noVersionInvented(e *env) {
	e.enqueue(startOf("A", "Order", ""))
	got := e.fetchInstance("A", held)
	same(e, got.Item.Version, provider.UnknownVersion, ruleNoInvention)
	e.commit(got, provider.AckOrchestrationParams{HistoryDelta: []provider.Event{started("A", 1)}, Metadata: named("Order", provider.UnknownVersion)})
	e.wake("A")
	got = e.fetchInstance("A", held)
	same(e, got.Item.Version, provider.UnknownVersion, ruleNoInvention)
	info, err := e.admin().GetInstanceInfo(e.ctx, "A")
	e.ok(err, ruleNoInvention)
	same(e, info.OrchestrationVersion, provider.UnknownVersion, ruleNoInvention)
	e.commit(got, provider.AckOrchestrationParams{Metadata: named("Order", "7.0.0")})
	e.wake("A")
	same(e, e.fetchInstance("A", held).Item.Version, "7.0.0", ruleNoInvention)
}
