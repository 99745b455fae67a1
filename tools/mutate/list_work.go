package main

// workMutants are of the procedures of activities and of sessions.
var workMutants = []mutant{
	{
		what: "takes an activity that somebody else has taken", kind: conditionRemoved, module: "lock_work_item",
		old: "        WHERE id = @id\n          AND ready = 1\n        OPTION", new: "        WHERE id = @id\n        OPTION",
	},
	{
		what: "commits before it claims the session", kind: commitMoved, module: "lock_work_item",
		old: "        -- Take its session.", new: "        " + again + "        -- Take its session.",
	},
	{
		what: "commits before it gives back what it may not take", kind: commitMoved, module: "lock_work_item",
		old: "        -- Somebody else has the session now: as if", new: "        " + again + "        -- Somebody else has the session now: as if",
	},
	{
		what: "keeps an activity whose session somebody else has", kind: conditionRemoved, module: "lock_work_item",
		old: "        SET @found = @@ROWCOUNT;\n        SET LOCK_TIMEOUT -1;\n        SET @patient = 0;\n", new: "        SET @found = @@ROWCOUNT;\n        SET LOCK_TIMEOUT -1;\n        SET @patient = 0;\n        SET @owner = COALESCE((SELECT s.worker_id FROM duroxide.worker_queue AS q INNER JOIN duroxide.sessions AS s ON s.session_id = q.session_id WHERE q.id = @id), @owner);\n",
	},
	{
		what: "claims the session before the activity", kind: orderSwapped, module: "lock_work_item",
		old: "        -- vet:allow Q3: an activity is ready only as long as nobody holds it\n",
		new: "        UPDATE duroxide.sessions SET last_activity_at = @now\n        WHERE session_id = (SELECT q.session_id FROM duroxide.worker_queue AS q WHERE q.id = @id) AND locked_until > @now;\n        -- vet:allow Q3: an activity is ready only as long as nobody holds it\n",
	},
	{
		what: "counts the lease from the beginning of the fetch", kind: clockEarlier, module: "lock_work_item",
		old: "        SET @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());\n        SET @looked_ms", new: "        SET @looked_ms",
	},
	{
		what: "waits for activities that somebody is writing without a bound", kind: hintRemoved, module: "lock_work_item",
		old: "            SET @patient = 1;\n            SET LOCK_TIMEOUT 150;\n", new: "            SET @patient = 1;\n",
	},
	{
		what: "takes activities that others have taken", kind: conditionRemoved, module: "lock_ready_work",
		old: "WHERE q.ready = 1\nOPTION", new: "OPTION",
	},
	{
		what: "takes the youngest first", kind: comparedWrong, module: "lock_ready_work",
		old: "ROW_NUMBER() OVER (ORDER BY n.id)", new: "ROW_NUMBER() OVER (ORDER BY n.id DESC)",
	},
	{
		what: "counts the leases from the beginning of the call", kind: clockEarlier, module: "lock_ready_work",
		old: "SET @now = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());\nSET @looked_ms", new: "SET @looked_ms",
	},
	{
		what: "passes over activities of sessions", kind: conditionRemoved, module: "lock_ready_work",
		old: "IF @known_id IS NULL OR (@sessions = 1 AND", new: "IF @known_id IS NULL OR (@sessions = 2 AND",
	},
	{
		what: "takes any code", kind: conditionRemoved, module: "lock_ready_work",
		old: "        WHERE k.known_id = @known_id\n", new: "",
	},
	{
		what: "waits for activities that others are writing", kind: hintRemoved, module: "lock_ready_work",
		old: "WITH (READCOMMITTEDLOCK, READPAST, UPDLOCK, ROWLOCK,", new: "WITH (READCOMMITTEDLOCK, UPDLOCK, ROWLOCK,",
	},
	{
		what: "claims a session of somebody else", kind: conditionRemoved, module: "claim_session",
		old: "WHERE session_id = @session_id\n  AND locked_until <= @now\nOPTION", new: "WHERE session_id = @session_id\nOPTION",
	},
	{
		what: "takes anybody for the owner", kind: conditionRemoved, module: "claim_session",
		old: "  AND worker_id = @owner\n", new: "",
	},
	{
		what: "keeps a session that it does not get", kind: hintRemoved, module: "claim_session",
		old: "    FROM duroxide.sessions AS s WITH (READCOMMITTEDLOCK, ", new: "    FROM duroxide.sessions AS s WITH (UPDLOCK, HOLDLOCK, ",
	},
	{
		what: "ends an activity whose lease has ended", kind: conditionRemoved, module: "ack_work_item",
		old: "      AND q.lock_token = @lock_token\n      AND q.locked_until > @now\n    OPTION (KEEPFIXED PLAN);", new: "      AND q.lock_token = @lock_token;",
	},
	{
		what: "ends the activity of whoever has it", kind: conditionRemoved, module: "ack_work_item",
		old: "      AND q.lock_token = @lock_token\n      AND q.locked_until > @now\n    OPTION (KEEPFIXED PLAN);", new: "      AND q.locked_until > @now;",
	},
	{
		what: "commits the completion before the activity's end", kind: commitMoved, module: "ack_work_item",
		old: "    -- The second condition", new: "    " + again + "    -- The second condition",
	},
	{
		what: "commits before the session hears of it", kind: commitMoved, module: "ack_work_item",
		old: "    IF @session_id IS NOT NULL\n", new: "    " + again + "    IF @session_id IS NOT NULL\n",
	},
	{
		what: "ends the lock of the inbox before it adds the completion", kind: commitMoved, module: "ack_work_item",
		old: "        INSERT INTO duroxide.orchestrator_queue", new: "        " + again + "        INSERT INTO duroxide.orchestrator_queue",
	},
	{
		what: "commits before the inbox hears of the completion", kind: commitMoved, module: "ack_work_item",
		old: "            EXEC duroxide.refresh_inbox", new: "        BEGIN " + again + "            EXEC duroxide.refresh_inbox @instance_id = @instance_id, @now = @now;\n        END;\n        IF 1 = 0\n            EXEC duroxide.refresh_inbox",
	},
	{
		what: "locks the activity before the inbox", kind: orderSwapped, module: "ack_work_item",
		old: "    IF @instance_id IS NOT NULL\n    BEGIN\n", new: "    UPDATE duroxide.worker_queue SET tag = tag WHERE lock_token = @lock_token AND locked_until > @now;\n    IF @instance_id IS NOT NULL\n    BEGIN\n",
	},
	{
		what: "adds the completion without the inbox's lock", kind: lockRemoved, module: "ack_work_item",
		old: "            EXEC duroxide.lock_inbox @instance_id = @instance_id;\n", new: "            IF NOT EXISTS (SELECT 1 FROM duroxide.inboxes AS b WHERE b.instance_id = @instance_id)\n                INSERT INTO duroxide.inboxes (instance_id) VALUES (@instance_id);\n",
	},
	{
		what: "deletes the activity by its token", kind: orderSwapped, module: "ack_work_item",
		old: "    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_worker_queue))\n    WHERE q.id = @id\n", new: "    FROM duroxide.worker_queue AS q WITH (ROWLOCK, INDEX (uq_worker_queue_token))\n    WHERE q.lock_token IS NOT NULL\n",
	},
	{
		what: "gives up what somebody else has now", kind: conditionRemoved, module: "abandon_work_item",
		old: "    WHERE q.id = @id\n      AND q.lock_token = @lock_token\n    OPTION (KEEPFIXED PLAN);", new: "    WHERE q.id = @id;",
	},
	{
		what: "gives the activity up by its token", kind: orderSwapped, module: "abandon_work_item",
		old: "    FROM duroxide.worker_queue AS q WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_worker_queue))\n    WHERE q.id = @id\n", new: "    FROM duroxide.worker_queue AS q WITH (ROWLOCK, INDEX (uq_worker_queue_token))\n    WHERE q.lock_token IS NOT NULL\n",
	},
	{
		what: "is ready before its delay is over", kind: comparedWrong, module: "abandon_work_item",
		old: "CASE WHEN @delay_ms > 0 THEN 0 ELSE 1 END", new: "CASE WHEN @delay_ms < 0 THEN 0 ELSE 1 END",
	},
	{
		what: "revives a lease that has ended", kind: conditionRemoved, module: "renew_work_item_lock",
		old: "      AND lock_token = @lock_token\n      AND locked_until > @now\n    OPTION", new: "      AND lock_token = @lock_token\n    OPTION",
	},
	{
		what: "loses the details of a heartbeat", kind: comparedWrong, module: "renew_work_item_lock",
		old: "heartbeat = COALESCE(@heartbeat, heartbeat)", new: "heartbeat = @heartbeat",
	},
	{
		what: "stamps the session before it locks the activity", kind: orderSwapped, module: "renew_work_item_lock",
		old: "    -- Not ready, as under any lease", new: "    SELECT @session_id = q.session_id FROM duroxide.worker_queue AS q WHERE q.id = @id;\n    EXEC duroxide.stamp_session @session_id = @session_id, @now = @now;\n    -- Not ready, as under any lease",
	},
	{
		what: "commits before the session hears of it", kind: commitMoved, module: "renew_work_item_lock",
		old: "    SELECT @session_id = q.session_id\n", new: "    " + again + "    SELECT @session_id = q.session_id\n",
	},
	{
		what: "makes ready what is not due", kind: conditionRemoved, module: "ready_due_work",
		old: "    WHERE q.ready = 0\n      AND q.wake_at <= @now\n    OPTION", new: "    WHERE q.ready = 0\n    OPTION",
	},
	{
		what: "writes what it has found without a look", kind: conditionRemoved, module: "ready_due_work",
		old: "    WHERE q.ready = 0\n      AND q.wake_at <= @now\n    OPTION", new: "    WHERE 1 = 1\n    OPTION",
	},
	{
		what: "renews sessions of others", kind: conditionRemoved, module: "renew_session_lock",
		old: "    WHERE s.worker_id IN (SELECT o.id FROM @owners AS o)\n      AND s.locked_until > @now", new: "    WHERE s.locked_until > @now",
	},
	{
		what: "renews sessions that were idle", kind: conditionRemoved, module: "renew_session_lock",
		old: "      AND s.locked_until > @now\n      AND s.last_activity_at > @now - @idle_ms\n    OPTION", new: "      AND s.locked_until > @now\n    OPTION",
	},
	{
		what: "renews sessions by the index of their ends", kind: orderSwapped, module: "renew_session_lock",
		old: "    FROM @mine AS m\n    INNER LOOP JOIN duroxide.sessions AS s WITH (READCOMMITTEDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_sessions)) ON s.session_id = m.session_id\n", new: "    FROM duroxide.sessions AS s WITH (INDEX (ix_sessions_end))\n",
	},
	{
		what: "ends activities whose leases have ended", kind: conditionRemoved, module: "ack_instance_work",
		old: "    WHERE q.lock_token = w.lock_token\n      AND q.locked_until > @now\n", new: "    WHERE q.lock_token = w.lock_token\n",
	},
	{
		what: "ends the activities of whoever has them", kind: conditionRemoved, module: "ack_instance_work",
		old: "    WHERE q.lock_token = w.lock_token\n      AND q.locked_until > @now\n", new: "    WHERE q.locked_until > @now\n",
	},
	{
		what: "sends all completions when only some activities have ended", kind: conditionRemoved, module: "ack_instance_work",
		old: "    IF @@ROWCOUNT <> @wanted\n    BEGIN\n", new: "    IF @@ROWCOUNT = 0\n    BEGIN\n",
	},
	{
		what: "ends only the activities that it has found", kind: conditionRemoved, module: "ack_instance_work",
		old: "    IF @@ROWCOUNT <> @wanted\n        RETURN;\n", new: "    SET @wanted = @@ROWCOUNT;\n",
	},
	{
		what: "says nothing to the session", kind: conditionRemoved, module: "ack_instance_work",
		old: "      AND q.lock_token IS NOT NULL\n      AND q.session_id IS NULL\n", new: "      AND q.lock_token IS NOT NULL\n",
	},
	{
		what: "commits the completions before the activities' end", kind: commitMoved, module: "ack_instance_work",
		old: "    DELETE q\n", new: "    " + again + "    DELETE q\n",
	},
	{
		what: "commits before the inbox hears of the completions", kind: commitMoved, module: "ack_instance_work",
		old: "    IF @shared = 0\n        EXEC duroxide.refresh_inbox", new: "    " + again + "    IF @shared = 0\n        EXEC duroxide.refresh_inbox",
	},
	{
		what: "locks the activities before the inbox", kind: orderSwapped, module: "ack_instance_work",
		old: "    EXEC duroxide.share_inbox", new: "    UPDATE q SET tag = q.tag FROM @work AS w INNER JOIN duroxide.worker_queue AS q ON q.id = w.id;\n    EXEC duroxide.share_inbox",
	},
	{
		what: "adds the completions without the inbox's lock", kind: lockRemoved, module: "ack_instance_work",
		old: "        EXEC duroxide.lock_inbox @instance_id = @instance_id;\n", new: "        IF NOT EXISTS (SELECT 1 FROM duroxide.inboxes AS b WHERE b.instance_id = @instance_id)\n            INSERT INTO duroxide.inboxes (instance_id) VALUES (@instance_id);\n",
	},
	{
		what: "says that they have ended when they have not", kind: conditionRemoved, module: "ack_work_and_take",
		old: "        IF @ended = 1\n            CONTINUE;\n", new: "        CONTINUE;\n",
	},
	{
		what: "ends no activity after the first", kind: conditionRemoved, module: "ack_work_and_take",
		old: "WHILE @position < @last\n", new: "WHILE @position = -1\n",
	},
	{
		what: "ends no activity after one that fails", kind: conditionRemoved, module: "ack_work_and_take",
		old: "        VALUES (@position, ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_MESSAGE());\n", new: "        SELECT a.position, ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_MESSAGE() FROM @acks AS a WHERE a.position >= @position;\n        SET @position = 2147483647;\n",
	},
	{
		what: "lets activities wait behind one that is blocked", kind: hintRemoved, module: "ack_work_and_take",
		old: "    SET LOCK_TIMEOUT 150;\n", new: "    SET LOCK_TIMEOUT -1;\n",
	},
	{
		what: "lets leases wait behind one that is blocked", kind: hintRemoved, module: "renew_locks",
		old: "    SET LOCK_TIMEOUT 150;\n", new: "    SET LOCK_TIMEOUT -1;\n",
	},
	{
		what: "ends all activities in one transaction", kind: commitMoved, module: "ack_work_and_take",
		old: "    END CATCH;\nEND;\n",
		new: "    END CATCH;\n    IF @@TRANCOUNT = 0 AND @position < @last\n        BEGIN TRANSACTION;\nEND;\nIF @@TRANCOUNT > 0\n    COMMIT TRANSACTION;\n",
	},
	{
		what: "stamps a session that has ended", kind: conditionRemoved, module: "stamp_session",
		old: "WHERE s.session_id = @session_id\n  AND s.locked_until > @now\n", new: "WHERE s.session_id = @session_id\n",
	},
	{
		what: "deletes sessions that have work", kind: conditionRemoved, module: "cleanup_orphaned_sessions",
		old: "      AND q.session_id = e.session_id\n", new: "      AND q.session_id <> e.session_id\n",
	},
	{
		what: "deletes sessions that were renewed meanwhile", kind: conditionRemoved, module: "cleanup_orphaned_sessions",
		old: "      AND s.locked_until < @now\n    OPTION", new: "    OPTION",
	},
	{
		what: "commits before the letter is there", kind: commitMoved, module: "set_work_aside",
		old: "    INSERT INTO duroxide.dead_letters", new: "    " + again + "    INSERT INTO duroxide.dead_letters",
	},
	{
		what: "sets aside what somebody else has now", kind: conditionRemoved, module: "set_work_aside",
		old: "    WHERE id = @id\n      AND lock_token = @lock_token\n    OPTION (KEEPFIXED PLAN);", new: "    WHERE id = @id;",
	},
	{
		what: "frees a session that somebody has claimed since", kind: conditionRemoved, module: "set_work_aside",
		old: "    WHERE session_id = @session_id\n      AND claims = @claims;", new: "    WHERE session_id = @session_id AND @claims IS NOT NULL;",
	},
	{
		what: "frees the session before it locks the activity", kind: orderSwapped, module: "set_work_aside",
		old: "    -- vet:allow Q3: as in an abandon, a lease that has ended by itself still counts\n",
		new: "    DELETE FROM duroxide.sessions WHERE session_id = @session_id AND claims = @claims;\n    -- vet:allow Q3: as in an abandon, a lease that has ended by itself still counts\n",
	},
}
