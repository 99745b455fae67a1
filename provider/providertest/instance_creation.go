package providertest

import "github.com/duroxide/duroxide-go/provider"

// instanceCreation checks that an instance comes into being by its first ack
// with name and version, and by nothing else.
func instanceCreation() category {
	return category{"instance creation", []scenario{
		{"instance_creation_via_metadata", createdByAck},
		{"no_instance_creation_on_enqueue", notCreatedByEnqueue},
		{"null_version_handling", unknownVersion},
		{"sub_orchestration_instance_creation", childCreatedWithParent},
	}}
}

const (
	ruleCreates  = "§5.2 step 3: only if both name and version are given: insert the row if absent, then set name and version"
	ruleNoCreate = "§5.9: MUST NOT create an instance row, and MUST NOT require one"
	ruleNameFrom = "§5.1 step 10: instance row exists: name and version from row"
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
