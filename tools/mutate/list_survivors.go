package main

const (
	otherPlan = "only a plan of other statistics is another one: it reads more, and answers the same"
	sameToken = "a token belongs to one instance"
	noStart   = "under the inbox's lock the condition before it has just seen that there is no start, so all messages are of these kinds"
	noTurn    = "who holds an inbox has a start in its queue or an instance, and the conditions before it have just seen that there is neither"
	otherHint = "the hint beside it and LOOP JOIN leave the same plans"
)

// survivors are mutants that nothing finds, by name, and why.
var survivors = map[string]string{
	"abandon_orchestration_item: without its condition q.instance_id = @instance_id": sameToken,
	"ack_orchestration_item: without its condition q.instance_id = @instance_id":     sameToken,

	"delete_orphan_messages: does not look again whether it was started":                                     "it ends as if the messages had been deleted before the start",
	"delete_orphan_messages: without its condition q.kind IN (0, 3, 4)":                                      noStart,
	"delete_orphan_messages: compares the other way: WHERE (b.lock_token IS NULL OR b.locked_until <= @now)": noTurn,

	"change_values: without INDEX (ix_kv_store_instance): FROM duroxide.kv_store AS s WITH (INDEX (ix_kv_store_instance))":                                                   otherPlan,
	"get_kv_value: without INDEX (pk_kv_store): FROM duroxide.kv_store AS s WITH (INDEX (pk_kv_store))":                                                                      otherPlan,
	"read_progress: without INDEX (pk_instances): LEFT OUTER LOOP JOIN duroxide.instances AS i WITH (INDEX (pk_instances)) ON i.instance_id = n.id":                          otherPlan,
	"read_turn: without INDEX (pk_history): FROM duroxide.history AS h WITH (INDEX (pk_history))":                                                                            otherPlan,
	"read_progress: without INDEX (pk_history): FROM duroxide.history AS h WITH (INDEX (pk_history))":                                                                        otherPlan,
	"delete_orphan_messages: without INDEX (pk_history): AND NOT EXISTS (SELECT 1 FROM duroxide.history AS h WITH (INDEX (pk_history)) WHERE h.instance_id = k.instance_id)": otherPlan,
	"refresh_inboxes: without FORCESEEK: INNER JOIN duroxide.inboxes AS b WITH (ROWLOCK, FORCESEEK, INDEX (pk_inboxes)) ON b.instance_id = n.id":                             otherHint,
	"refresh_inboxes: without INDEX (pk_inboxes): INNER JOIN duroxide.inboxes AS b WITH (ROWLOCK, FORCESEEK, INDEX (pk_inboxes)) ON b.instance_id = n.id":                    otherHint,
	"find_session_work: without READCOMMITTEDLOCK: SELECT 1 FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, FORCESEEK (pk_sessions (session_id)))":                      "it is a look: claim_session asks again and locks",
}
