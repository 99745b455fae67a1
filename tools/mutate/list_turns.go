package main

import "slices"

// again ends a transaction in the middle of a procedure, and begins another one.
const again = "COMMIT TRANSACTION;\n    BEGIN TRANSACTION;\n"

// clock is how a procedure reads the time.
const clock = "DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());\n"

// earlier is a procedure whose clock was read a second before it was called.
func earlier(module string) mutant {
	return mutant{what: "reads the clock a second before", kind: clockEarlier, module: module, old: clock, new: clock + "SET @now = @now - 1000;\n"}
}

// listed are the mutants that somebody has thought of.
func listed() []mutant {
	all := slices.Concat(turnMutants, workMutants, deletionMutants)
	for _, module := range []string{
		"abandon_orchestration_item", "abandon_work_item", "ack_instance_work", "ack_orchestration_item", "ack_work_item",
		"append_with_execution", "cleanup_orphaned_sessions", "delete_orphan_messages", "enqueue_for_orchestrator", "enqueue_for_worker",
		"fetch_orchestration_item", "lock_work_item", "get_queue_depths", "register_known_code", "renew_orchestration_item_lock", "requeue_work",
		"renew_session_lock", "renew_work_item_lock", "set_messages_aside", "set_work_aside", "start_instance",
	} {
		all = append(all, earlier(module))
	}
	for i := range all {
		if why := survivors[all[i].module+": "+all[i].what]; why != "" {
			all[i].survives = why
		}
	}
	return all
}

// turnMutants are of the procedures of turns and of the messages to instances.
var turnMutants = []mutant{
	{
		what: "takes an instance that somebody else has taken", kind: conditionRemoved, module: "fetch_orchestration_item",
		old: "              AND head_id IS NOT NULL\n            OPTION (KEEPFIXED PLAN);\n        SELECT @taken", new: "            OPTION (KEEPFIXED PLAN);\n        SELECT @taken",
	},
	{
		what: "takes an instance that somebody else has taken since the first look", kind: conditionRemoved, module: "fetch_orchestration_item",
		old: "              AND head_id IS NOT NULL\n            OPTION (KEEPFIXED PLAN);\n        ELSE\n", new: "            OPTION (KEEPFIXED PLAN);\n        ELSE\n",
	},
	{
		what: "finds nothing more when somebody else has taken the first instance", kind: conditionRemoved, module: "fetch_orchestration_item",
		old: "        -- Take its messages, and see what they are for.\n", new: "        IF @taken = 0\n        BEGIN\n            COMMIT TRANSACTION;\n            BREAK;\n        END;\n",
	},
	{
		what: "takes messages that are not visible yet", kind: conditionRemoved, module: "fetch_orchestration_item",
		old: "AND q.visible_at <= @now\n            OPTION", new: "AND q.visible_at <= @now + 3600000\n            OPTION",
	},
	{
		what: "keeps the old time when it has taken an instance", kind: clockEarlier, module: "fetch_orchestration_item",
		old: "            SET @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());\n            -- What came", new: "            -- What came",
	},
	{
		what: "counts the lease from the beginning of the fetch", kind: clockEarlier, module: "fetch_orchestration_item",
		old: "        SET @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());\n        SET @looked_ms", new: "        SET @looked_ms",
	},
	{
		what: "waits for instances that somebody is writing at the last look without a bound", kind: hintRemoved, module: "fetch_orchestration_item",
		old: "            SET @patient = 1;\n            SET LOCK_TIMEOUT 150;\n", new: "            SET @patient = 1;\n",
	},
	{
		what: "commits when it has taken the instance, before it takes the messages", kind: commitMoved, module: "fetch_orchestration_item",
		old: "        SELECT @taken = @@ROWCOUNT, @patient = 0;\n        SET LOCK", new: "        SELECT @taken = @@ROWCOUNT, @patient = 0;\n        " + again + "        SET LOCK",
	},
	{
		what: "commits before it releases what it has not taken", kind: commitMoved, module: "fetch_orchestration_item",
		old: "            IF @instance_id IS NULL\n            BEGIN\n", new: "            IF @instance_id IS NULL\n            BEGIN\n    " + again,
	},
	{
		what: "takes messages before the instance", kind: orderSwapped, module: "fetch_orchestration_item",
		old: "        BEGIN TRANSACTION;\n        IF @seeking = 1\n", new: "        BEGIN TRANSACTION;\n        UPDATE duroxide.orchestrator_queue SET kind = kind WHERE instance_id = @candidate;\n        IF @seeking = 1\n",
	},
	{
		what: "commits before the heads are computed anew", kind: commitMoved, module: "ready_due_inboxes",
		old: "OPTION (KEEPFIXED PLAN);\nUPDATE b\nSET version_id", new: "OPTION (KEEPFIXED PLAN);\nCOMMIT TRANSACTION;\nBEGIN TRANSACTION;\nUPDATE b\nSET version_id",
	},
	{
		what: "computes the head of an instance with a lease", kind: conditionRemoved, module: "refresh_inbox",
		old: "\n  AND (b.lock_token IS NULL OR b.locked_until <= @now)\n", new: "\n",
	},
	{
		what: "takes a lease that has ended for a live one", kind: comparedWrong, module: "refresh_inbox",
		old: "  AND (b.lock_token IS NULL OR b.locked_until <= @now)\n", new: "  AND b.lock_token IS NULL\n",
	},
	{
		what: "keeps an old head when something has come due", kind: conditionRemoved, module: "refresh_inbox",
		old: "@keep_head = 0 OR b.wake_at <= @now", new: "@keep_head = 0",
	},
	{
		what: "keeps a head that was deleted, or is no longer the oldest", kind: conditionRemoved, module: "refresh_inbox",
		old: "@keep_head = 0 OR b.wake_at <= @now", new: "b.wake_at <= @now",
	},
	{
		what: "adds the message without the inbox's lock", kind: lockRemoved, module: "enqueue_for_orchestrator",
		old: "    EXEC duroxide.lock_inbox @instance_id = @instance_id;\n", new: "    IF NOT EXISTS (SELECT 1 FROM duroxide.inboxes AS b WHERE b.instance_id = @instance_id)\n        INSERT INTO duroxide.inboxes (instance_id) VALUES (@instance_id);\n",
	},
	{
		what: "only looks at the inbox instead of locking it", kind: lockRemoved, module: "lock_inbox",
		old: "UPDATE b\nSET version_id = b.version_id\nFROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))\nWHERE b.instance_id = @instance_id\nOPTION (KEEPFIXED PLAN);\nIF @@ROWCOUNT = 0\n",
		new: "IF NOT EXISTS (SELECT 1 FROM duroxide.inboxes AS b WHERE b.instance_id = @instance_id)\n",
	},
	{
		what: "does not wait for an inbox that somebody is adding, where updates look at committed versions first", kind: hintRemoved, module: "lock_inbox",
		old: "WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes))\n", new: "WITH (ROWLOCK, INDEX (pk_inboxes))\n",
	},
	{
		what: "adds the message before it locks the inbox", kind: orderSwapped, module: "enqueue_for_orchestrator",
		old: "    EXEC duroxide.lock_inbox @instance_id = @instance_id;\n    IF @queue",
		new: "    INSERT INTO duroxide.orchestrator_queue (instance_id, kind, queue, code_id, work_item, visible_at, created_at)\n" +
			"    VALUES (@instance_id, @kind, @queue, @code_id, @work_item, @now + @delay_ms, @now);\n    EXEC duroxide.lock_inbox @instance_id = @instance_id;\n" +
			"    EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;\n    COMMIT TRANSACTION;\n    RETURN;\n    IF @queue",
	},
	{
		what: "commits before the inbox hears of the message", kind: commitMoved, module: "enqueue_for_orchestrator",
		old: "    EXEC duroxide.refresh_inbox", new: "    " + again + "    EXEC duroxide.refresh_inbox",
	},
	{
		what: "ends the lock of the inbox before it adds the message", kind: commitMoved, module: "enqueue_for_orchestrator",
		old: "    INSERT INTO duroxide.orchestrator_queue", new: "    " + again + "    INSERT INTO duroxide.orchestrator_queue",
	},
	{
		what: "ends the lock of the inbox before it starts the instance", kind: commitMoved, module: "start_instance",
		old: "    IF @used = 0\n", new: "    " + again + "    IF @used = 0\n",
	},
	{
		what: "asks who uses the id without a lock", kind: lockRemoved, module: "start_instance",
		old: "    EXEC duroxide.lock_inbox @instance_id = @instance_id;\n    EXEC duroxide.id_use @instance_id = @instance_id, @used = @used OUTPUT, @name = @user OUTPUT,\n        @status = @status OUTPUT, @start = @start OUTPUT;\n",
		new: "    EXEC duroxide.id_use @instance_id = @instance_id, @used = @used OUTPUT, @name = @user OUTPUT,\n        @status = @status OUTPUT, @start = @start OUTPUT;\n    EXEC duroxide.lock_inbox @instance_id = @instance_id;\n",
	},
	{
		what: "locks from the last id to the first", kind: orderSwapped, module: "lock_inboxes",
		old: "        UPDATE b\n        SET version_id = b.version_id\n        FROM @ordered AS o\n        INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = o.instance_id\n        WHERE o.run = @run\n        OPTION (KEEPFIXED PLAN, MAXDOP 1);",
		new: "    DECLARE @next NVARCHAR(400) = (SELECT MAX(o.instance_id) FROM @ordered AS o);\n    WHILE @next IS NOT NULL\n    BEGIN\n        UPDATE duroxide.inboxes SET version_id = version_id WHERE instance_id = @next;\n        SELECT @next = MAX(o.instance_id) FROM @ordered AS o WHERE o.instance_id < @next;\n    END;\n    UPDATE b\n    SET version_id = b.version_id\n    FROM @ordered AS o\n    INNER LOOP JOIN duroxide.inboxes AS b ON b.instance_id = o.instance_id\n    WHERE o.run = @run;",
	},
	{
		what: "locks those that are there before it adds the others", kind: orderSwapped, module: "lock_inboxes",
		old: "SUM(r.begins) OVER (ORDER BY r.id ROWS UNBOUNDED PRECEDING)", new: "1",
	},
	{
		what: "only looks at the inboxes that are there", kind: lockRemoved, module: "lock_inboxes",
		old: "        UPDATE b\n        SET version_id = b.version_id\n        FROM @ordered AS o\n        INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = o.instance_id\n        WHERE o.run = @run\n        OPTION (KEEPFIXED PLAN, MAXDOP 1);",
		new: "    DECLARE @seen TABLE (instance_id NVARCHAR(400));\n    INSERT INTO @seen SELECT b.instance_id\n    FROM @ordered AS o\n    INNER LOOP JOIN duroxide.inboxes AS b ON b.instance_id = o.instance_id\n    WHERE o.run = @run;",
	},
	{
		what: "takes those that somebody has added for its own", kind: lockRemoved, module: "lock_inboxes",
		old: "            SET @missing = @missing - @@ROWCOUNT;\n", new: "            SET @missing = 0;\n",
	},
	{
		what: "shares an inbox without a lock", kind: lockRemoved, module: "share_inbox",
		old: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;\n", new: "",
	},
	{
		what: "shares the inbox of an instance that is idle", kind: conditionRemoved, module: "share_inbox",
		old: "  AND (b.head_id IS NOT NULL OR b.locked_until > @now)\n", new: "",
	},
	{
		what: "takes a lease that has ended for a live one", kind: comparedWrong, module: "share_inbox",
		old: "OR b.locked_until > @now)", new: "OR b.locked_until IS NOT NULL)",
	},
	{
		what: "locks its own instance before the others", kind: orderSwapped, module: "ack_orchestration_item",
		old: "    INSERT INTO @targets (position, id)\n", new: "    EXEC duroxide.lock_inbox @instance_id = @instance_id;\n    INSERT INTO @targets (position, id)\n",
	},
	{
		what: "locks its own instance only", kind: lockRemoved, module: "ack_orchestration_item",
		old: "    EXEC duroxide.lock_inboxes @instances = @targets;\n", new: "    EXEC duroxide.lock_inbox @instance_id = @instance_id;\n",
	},
	{
		what: "ends a lease that has ended by itself", kind: conditionRemoved, module: "ack_orchestration_item",
		old: "      AND b.lock_token = @lock_token\n      AND b.locked_until > @now\n    OPTION (KEEPFIXED PLAN);", new: "      AND b.lock_token = @lock_token;",
	},
	{
		what: "ends the lease of whoever has it", kind: conditionRemoved, module: "ack_orchestration_item",
		old: "      AND b.lock_token = @lock_token\n      AND b.locked_until > @now\n    OPTION (KEEPFIXED PLAN);", new: "      AND b.locked_until > @now;",
	},
	{
		what: "commits when the lease has ended", kind: commitMoved, module: "ack_orchestration_item",
		old: "    IF @drop_timers = 1\n", new: "    " + again + "    IF @drop_timers = 1\n",
	},
	{
		what: "commits before it stores the events", kind: commitMoved, module: "ack_orchestration_item",
		old: "    IF EXISTS (\n        SELECT 1\n        FROM @events AS e\n", new: "    " + again + "    IF EXISTS (\n        SELECT 1\n        FROM @events AS e\n",
	},
	{
		what: "commits before it queues the activities", kind: commitMoved, module: "ack_orchestration_item",
		old: "    INSERT INTO duroxide.worker_queue\n", new: "    " + again + "    INSERT INTO duroxide.worker_queue\n",
	},
	{
		what: "commits before the heads are computed", kind: commitMoved, module: "ack_orchestration_item",
		old: "    IF @others = 1\n", new: "    " + again + "    IF @others = 1\n",
	},
	{
		what: "queues the activities before the instance", kind: orderSwapped, module: "ack_orchestration_item",
		old: "    IF EXISTS (SELECT 1 FROM @messages AS m WHERE m.instance_id <> ", new: "    UPDATE duroxide.worker_queue SET tag = tag WHERE instance_id = @instance_id;\n    IF EXISTS (SELECT 1 FROM @messages AS m WHERE m.instance_id <> ",
	},
	{
		what: "deletes cancelled activities by their index", kind: orderSwapped, module: "ack_orchestration_item",
		old: "        DELETE w\n        FROM @work AS k\n        INNER LOOP JOIN duroxide.worker_queue AS w WITH (ROWLOCK, INDEX (pk_worker_queue)) ON w.id = k.id\n        OPTION (KEEPFIXED PLAN);",
		new: "        DELETE q\n        FROM @cancelled AS c\n        INNER LOOP JOIN duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_activity))\n            ON q.instance_id = c.instance_id AND q.execution_id = c.execution_id AND q.activity_id = c.activity_id;",
	},
	{
		what: "sets the execution back", kind: conditionRemoved, module: "ack_orchestration_item",
		old: "CASE WHEN i.current_execution_id < @execution_id THEN @execution_id ELSE i.current_execution_id END", new: "@execution_id",
	},
	{
		what: "does not look for events of the same id", kind: conditionRemoved, module: "ack_orchestration_item",
		old: " AND h.event_id = e.event_id\n    )\n        THROW", new: " AND h.event_id = e.event_id + 1000000\n    )\n        THROW",
	},
	{
		what: "gives back a lease that somebody else has now", kind: conditionRemoved, module: "abandon_orchestration_item",
		old: "    WHERE b.instance_id = @instance_id\n      AND b.lock_token = @lock_token\n    OPTION (KEEPFIXED PLAN);\n    IF @@ROWCOUNT", new: "    WHERE b.instance_id = @instance_id;\n    IF @@ROWCOUNT",
	},
	{
		what: "gives back messages before the instance", kind: orderSwapped, module: "abandon_orchestration_item",
		old: "    -- vet:allow Q3: a lease that has ended by itself may be given up\n",
		new: "    UPDATE duroxide.orchestrator_queue SET kind = kind WHERE instance_id = @instance_id AND lock_token = @lock_token;\n    -- vet:allow Q3: a lease that has ended by itself may be given up\n",
	},
	{
		what: "commits before the messages are given back", kind: commitMoved, module: "abandon_orchestration_item",
		old: "    -- vet:allow Q3: the update above has taken the instance from this token\n", new: "    " + again + "    -- vet:allow Q3: the update above has taken the instance from this token\n",
	},
	{
		what: "commits before the head is computed", kind: commitMoved, module: "abandon_orchestration_item",
		old: "    EXEC duroxide.refresh_inbox", new: "    " + again + "    EXEC duroxide.refresh_inbox",
	},
	{
		what: "revives a lease that has ended", kind: conditionRemoved, module: "renew_orchestration_item_lock",
		old: "      AND lock_token = @lock_token\n      AND locked_until > @now\n    OPTION", new: "      AND lock_token = @lock_token\n    OPTION",
	},
	{
		what: "renews the lease of whoever has it", kind: conditionRemoved, module: "renew_orchestration_item_lock",
		old: "      AND lock_token = @lock_token\n      AND locked_until > @now\n    OPTION", new: "      AND locked_until > @now\n    OPTION",
	},
	{
		what: "adds events without the inbox's lock", kind: lockRemoved, module: "append_with_execution",
		old: "    EXEC duroxide.lock_inbox @instance_id = @instance_id;\n", new: "",
	},
	{
		what: "commits before the inbox hears of the events", kind: commitMoved, module: "append_with_execution",
		old: "    EXEC duroxide.refresh_inbox", new: "    " + again + "    EXEC duroxide.refresh_inbox",
	},
	{
		what: "commits letters before it deletes their messages", kind: commitMoved, module: "set_messages_aside",
		old: "    -- vet:allow Q3: the inbox is locked above, and has the token\n    -- vet:allow Q6", new: "    " + again + "    -- vet:allow Q3: the inbox is locked above, and has the token\n    -- vet:allow Q6",
	},
	{
		what: "does not lock the inbox", kind: lockRemoved, module: "set_messages_aside",
		old: "    UPDATE b\n    SET head_id = NULL, wake_at = b.locked_until\n    FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))\n    WHERE instance_id = @instance_id\n      AND lock_token = @lock_token\n    OPTION (KEEPFIXED PLAN);\n    IF @@ROWCOUNT = 0\n",
		new: "    IF @instance_id IS NULL\n",
	},
	{
		what: "commits a set before its names", kind: commitMoved, module: "register_known_code",
		old: "    IF @@ROWCOUNT = 1\n    BEGIN\n        SELECT @known_id", new: "    DECLARE @n INT = @@ROWCOUNT;\n    " + again + "    IF @n = 1\n    BEGIN\n        SELECT @known_id",
	},
	{
		what: "deletes one message more than the turn has read", kind: comparedWrong, module: "leave_messages",
		old: "SELECT TOP (k.messages) q.id", new: "SELECT TOP (k.messages + 1) q.id",
	},
	{
		what: "deletes the newest messages of a queue", kind: comparedWrong, module: "leave_messages",
		old: "    ORDER BY q.id\n) AS m\n", new: "    ORDER BY q.id DESC\n) AS m\n",
	},
	{
		what: "lets the newest message of a queue come first", kind: comparedWrong, module: "await_queues",
		old: "        ORDER BY q.id\n    ) AS m\n", new: "        ORDER BY q.id DESC\n    ) AS m\n",
	},
	{
		what: "awaits the queues that a turn has only read", kind: conditionRemoved, module: "await_queues",
		old: "    WHERE k.awaited = 1\n", new: "",
	},
	{
		what: "lets the first message of a queue wait", kind: comparedWrong, module: "line_up_messages",
		old: "q.id > f.id\n", new: "q.id >= f.id\n",
	},
	{
		what: "sends the message of a letter that is gone", kind: conditionRemoved, module: "requeue_message",
		old: "        ROLLBACK TRANSACTION;\nEND TRY", new: "        COMMIT TRANSACTION;\nEND TRY",
	},
	{
		what: "commits the message before the letter is deleted", kind: commitMoved, module: "requeue_message",
		old: "    DELETE d\n", new: "    " + again + "    DELETE d\n",
	},
	{
		what: "sends the activity of a letter that is gone", kind: conditionRemoved, module: "requeue_work",
		old: "        ROLLBACK TRANSACTION;\nEND TRY", new: "        COMMIT TRANSACTION;\nEND TRY",
	},
	{
		what: "commits the activity before the letter is deleted", kind: commitMoved, module: "requeue_work",
		old: "    DELETE d\n", new: "    " + again + "    DELETE d\n",
	},
	{
		what: "says that it has deleted what is gone", kind: conditionRemoved, module: "delete_dead_letter",
		old: "    IF @@ROWCOUNT > 0\n", new: "",
	},
	{
		what: "lets what came later overtake a hold", kind: conditionRemoved, module: "fetch_orchestration_item",
		old: "            SET visible_at = @now\n", new: "            SET visible_at = q.visible_at\n",
	},
}
