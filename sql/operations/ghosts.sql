-- Counts deleted rows that the server could not remove yet, and lists the readers that keep them. Claims pass over
-- these ghosts one by one. Thousands that stay are too many: end the reader. Readers on a readable secondary keep
-- ghosts of the primary, too; look for long queries there. It needs the right VIEW DATABASE STATE, and for the second
-- query VIEW SERVER STATE. It was never run by a test.
SELECT OBJECT_SCHEMA_NAME(s.object_id) AS schema_name, OBJECT_NAME(s.object_id) AS table_name, i.name AS index_name,
    s.record_count, s.ghost_record_count, s.version_ghost_record_count
FROM sys.indexes AS i
CROSS APPLY sys.dm_db_index_physical_stats(DB_ID(), i.object_id, i.index_id, NULL, 'DETAILED') AS s
WHERE i.name IN (N'ix_inboxes_ready', N'ix_worker_queue_ready', N'ix_worker_queue_ready_session')
  AND s.index_level = 0
ORDER BY s.version_ghost_record_count DESC;

SELECT t.session_id, t.elapsed_time_seconds, p.program_name, p.login_name, p.host_name
FROM sys.dm_tran_active_snapshot_database_transactions AS t
INNER JOIN sys.dm_exec_sessions AS p ON p.session_id = t.session_id
ORDER BY t.elapsed_time_seconds DESC;
