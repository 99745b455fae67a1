-- Computes anew from when on an instance may be fetched. The caller holds the
-- inbox's lock (lock_inbox) and has made its changes.
--
-- Locks: inboxes, which the caller has locked.
CREATE OR ALTER PROCEDURE duroxide.refresh_inbox
    @instance_id NVARCHAR(400)
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
UPDATE b
SET ready_at = s.ready_at, head_id = s.head_id, version_id = s.version_id
FROM duroxide.inboxes AS b
CROSS APPLY duroxide.inbox_state(b.instance_id) AS s
WHERE b.instance_id = @instance_id;
