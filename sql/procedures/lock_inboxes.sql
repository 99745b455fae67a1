-- Locks the inboxes of instances, and adds those that are missing: lock_inbox for many. The number of statements does
-- not depend on the number of instances, only on how often ids of rows that exist and ids of missing ones alternate.
-- All are locked in the order of their ids, whether they exist or are added, so that two callers do not deadlock, nor
-- a caller and a transaction that calls lock_inbox in that order. For this the list is cut into runs of ids that
-- exist and ids that are missing, which are locked one after the other. Only if somebody else adds or deletes one of
-- a run meanwhile, the run is done again, and its ids may be locked in another order.
-- Helper of: ack_orchestration_item, delete_instances, delete_orphan_messages, delete_trees.
-- Transaction: the caller's, which keeps the locks.
-- Parameters:
--   @instances  the instances; an id may be there twice
-- Locks: inboxes (the instances' rows, exclusive, by pk_inboxes in the order of ids).
-- gen:internal
CREATE OR ALTER PROCEDURE duroxide.lock_inboxes
    @instances duroxide.id_list_v1 READONLY
AS
DECLARE @ordered TABLE (
    run         INT           NOT NULL,
    instance_id NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    PRIMARY KEY (run, instance_id)
);
DECLARE @run INT = 1, @last INT, @count INT, @missing INT;
INSERT INTO @ordered (run, instance_id)
SELECT SUM(r.begins) OVER (ORDER BY r.id ROWS UNBOUNDED PRECEDING), r.id
FROM (
    SELECT s.id, CASE WHEN s.there = LAG(s.there) OVER (ORDER BY s.id) THEN 0 ELSE 1 END AS begins
    FROM (
        SELECT d.id, CASE WHEN b.instance_id IS NULL THEN 0 ELSE 1 END AS there
        FROM (SELECT DISTINCT n.id FROM @instances AS n) AS d
        LEFT OUTER LOOP JOIN duroxide.inboxes AS b WITH (INDEX (pk_inboxes)) ON b.instance_id = d.id
    ) AS s
) AS r
OPTION (KEEPFIXED PLAN);
SELECT @last = MAX(o.run) FROM @ordered AS o;
WHILE @run <= @last
BEGIN
    SELECT @count = COUNT(*) FROM @ordered AS o WHERE o.run = @run;
    SET @missing = 1;
    WHILE @missing > 0
    BEGIN
        UPDATE b
        SET locked_until = b.locked_until
        FROM @ordered AS o
        INNER LOOP JOIN duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, ROWLOCK, INDEX (pk_inboxes)) ON b.instance_id = o.instance_id
        WHERE o.run = @run
        OPTION (KEEPFIXED PLAN, MAXDOP 1);
        SET @missing = @count - @@ROWCOUNT;
        IF @missing > 0
        BEGIN
            INSERT INTO duroxide.inboxes (instance_id)
            SELECT o.instance_id
            FROM @ordered AS o
            WHERE o.run = @run
              AND NOT EXISTS (
                SELECT 1
                -- vet:allow Q10: of two callers that add the row, one gets error 2627 and repeats its call
                FROM duroxide.inboxes AS b WITH (READCOMMITTEDLOCK, UPDLOCK, ROWLOCK, FORCESEEK, INDEX (pk_inboxes))
                WHERE b.instance_id = o.instance_id
            )
            ORDER BY o.instance_id
            OPTION (LOOP JOIN, KEEPFIXED PLAN, MAXDOP 1);
            SET @missing = @missing - @@ROWCOUNT;
        END;
    END;
    SET @run = @run + 1;
END;
