package main

// deletionMutants are of the procedures that delete and prune.
var deletionMutants = []mutant{
	{
		what: "deletes instances without their inboxes' locks", kind: lockRemoved, module: "delete_instances",
		old: "    EXEC duroxide.lock_inboxes @instances = @list;\n", new: "",
	},
	{
		what: "ends the locks before it looks", kind: commitMoved, module: "delete_instances",
		old: "    EXEC duroxide.lock_inboxes @instances = @list;\n", new: "    EXEC duroxide.lock_inboxes @instances = @list;\n    " + again,
	},
	{
		what: "ends the locks before it deletes", kind: commitMoved, module: "delete_instance",
		old: "    IF @running IS NULL\n    BEGIN\n", new: "    " + again + "    IF @running IS NULL\n    BEGIN\n",
	},
	{
		what: "deletes a tree without locks", kind: lockRemoved, module: "delete_instance",
		old: "        EXEC duroxide.lock_inboxes @instances = @tree;\n", new: "",
	},
	{
		what: "does not look again whether an instance has ended", kind: conditionRemoved, module: "delete_instance_bulk",
		old: "                      AND i.parent_instance_id IS NULL\n                      AND e.completed_at < @before\n", new: "",
	},
	{
		what: "ends the locks before it deletes", kind: commitMoved, module: "delete_instance_bulk",
		old: "                    EXEC duroxide.delete_list", new: "            " + again + "            EXEC duroxide.delete_list",
	},
	{
		what: "has no budget", kind: clockEarlier, module: "delete_instance_bulk",
		old: "            IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @now >= @budget_ms", new: "            IF @now - @now > @budget_ms",
	},
	{
		what: "has no budget", kind: clockEarlier, module: "prune_executions_bulk",
		old: "            IF DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) - @now >= @budget_ms", new: "            IF @now - @now > @budget_ms",
	},
	{
		what: "keeps the inbox that its lock has added", kind: commitMoved, module: "delete_instance_bulk",
		old: "                    ROLLBACK TRANSACTION;\n", new: "                    COMMIT TRANSACTION;\n",
	},
	{
		what: "deletes the activities first", kind: orderSwapped, module: "delete_list", nth: 1,
		old: "SET @position = 1;\n", new: "DELETE w\nFROM @ids AS n\nINNER LOOP JOIN duroxide.worker_queue AS w ON w.instance_id = n.instance_id;\nSET @position = 1;\n",
	},
	{
		what: "deletes histories before the instances", kind: orderSwapped, module: "delete_list", nth: 2,
		old: "SET @position = 1;\n", new: "DELETE h\nFROM @ids AS n\nINNER LOOP JOIN duroxide.history AS h ON h.instance_id = n.instance_id;\nSET @position = 1;\n",
	},
	{
		what: "deletes activities by their index", kind: orderSwapped, module: "delete_list",
		old: "    DELETE TOP (1000) w\n    FROM @work AS k\n    INNER LOOP JOIN duroxide.worker_queue AS w WITH (ROWLOCK, INDEX (pk_worker_queue)) ON w.id = k.id\n    OPTION (KEEPFIXED PLAN);",
		new: "    DELETE TOP (1000) w\n    FROM @ids AS n\n    INNER LOOP JOIN duroxide.worker_queue AS w WITH (INDEX (ix_worker_queue_activity)) ON w.instance_id = n.instance_id;",
	},
	{
		what: "prunes the current execution", kind: conditionRemoved, module: "prune_instance",
		old: "IF @first_kept IS NULL OR @first_kept > @current\n    SET @first_kept = @current;\n", new: "",
	},
	{
		what: "prunes what has ended too late", kind: conditionRemoved, module: "prune_instance",
		old: "COALESCE(@completed_before, 9223372036854775807)", new: "9223372036854775807",
	},
	{
		what: "prunes what has begun anew", kind: conditionRemoved, module: "prune_instance",
		old: " AND e.completed_at = o.completed_at\n", new: "\n",
	},
	{
		what: "prunes by what it has read of an instance that is no more", kind: conditionRemoved, module: "prune_instance",
		old: "\n      AND i.sequence = @sequence\n", new: "\n",
	},
	{
		what: "prunes what runs again by now", kind: conditionRemoved, module: "prune_instance",
		old: "\n      AND e.completed_at < @finished_before\n)", new: "\n)",
	},
	{
		what: "deletes histories before the executions", kind: orderSwapped, module: "prune_instance",
		old: "-- At most 1,000 rows each", new: "DELETE h\nFROM @old AS o\nINNER LOOP JOIN duroxide.history AS h ON h.instance_id = @instance_id AND h.execution_id = o.execution_id AND h.event_id > 1;\n-- At most 1,000 rows each",
	},
	{
		what: "ends the lock of the inbox before it deletes the messages", kind: commitMoved, module: "delete_orphan_messages",
		old: "            EXEC duroxide.lock_inbox @instance_id = @id;\n", new: "            EXEC duroxide.lock_inbox @instance_id = @id;\n            " + again,
	},
	{
		what: "does not look again whether it was started", kind: conditionRemoved, module: "delete_orphan_messages",
		old: "                WHERE s.instance_id = @id AND s.kind IN (1, 2)\n", new: "                WHERE s.instance_id = @id AND s.kind > 3\n",
	},
	{
		what: "deletes an inbox that still has messages", kind: conditionRemoved, module: "delete_orphan_messages",
		old: "WITH (INDEX (pk_orchestrator_queue)) WHERE q.instance_id = @id\n", new: "WITH (INDEX (pk_orchestrator_queue)) WHERE q.instance_id = @id AND q.kind > 3\n",
	},
	{
		what: "deletes an inbox that still has messages", kind: conditionRemoved, module: "fetch_orchestration_item",
		old: "                          FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id)))\n                          WHERE q.instance_id = @candidate\n                      )\n", new: "                          FROM duroxide.orchestrator_queue AS q WITH (FORCESEEK (pk_orchestrator_queue (instance_id)))\n                          WHERE q.instance_id = @candidate\n                            AND q.kind > 3\n                      )\n",
	},
	{
		what: "forgets values that were deleted before the others", kind: orderSwapped, module: "merge_values",
		old: "DELETE s\n", new: "UPDATE duroxide.kv_delta SET value_bytes = value_bytes WHERE instance_id = @instance_id;\nDELETE s\n",
	},
}
