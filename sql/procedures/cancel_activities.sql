-- Deletes activities from the queue that a turn has cancelled, in the order of their ids.
-- Helper of: ack_orchestration_item.
-- Transaction: the caller's.
-- Locks: worker_queue (the rows, by pk_worker_queue; found by ix_worker_queue_activity without a lock that stays,
--   since whoever writes a row locks it before its keys in the indexes).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.cancel_activities
    @cancelled duroxide.activity_list_v1 READONLY
AS
DECLARE @work TABLE (id BIGINT NOT NULL PRIMARY KEY);
INSERT INTO @work (id)
SELECT DISTINCT q.id
FROM @cancelled AS c
INNER LOOP JOIN duroxide.worker_queue AS q WITH (INDEX (ix_worker_queue_activity))
    ON q.instance_id = c.instance_id AND q.execution_id = c.execution_id AND q.activity_id = c.activity_id
OPTION (KEEPFIXED PLAN);
DELETE w
FROM @work AS k
INNER LOOP JOIN duroxide.worker_queue AS w WITH (ROWLOCK, INDEX (pk_worker_queue)) ON w.id = k.id
OPTION (KEEPFIXED PLAN);
