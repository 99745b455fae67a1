-- Shows what the store's statements cost in the last hour, by Query Store: how often each ran, how long it
-- took, how many pages it read, and how many plans it had. Needs VIEW DATABASE STATE, and Query Store:
--
--     ALTER DATABASE CURRENT SET QUERY_STORE = ON;
--
-- What to look for: a claim that reads more than a few hundred pages has lost its index. Pin the plan of a
-- statement with several plans whose times differ. Long waits for locks come from a long transaction,
-- which sys.dm_tran_active_transactions names.
-- Replace N'duroxide' with the schema of the store.
SELECT TOP (50)
    OBJECT_NAME(q.object_id) AS procedure_name,
    q.query_id,
    COUNT(DISTINCT p.plan_id) AS plans,
    SUM(s.count_executions) AS executions,
    SUM(s.count_executions * s.avg_duration) / SUM(s.count_executions) / 1000 AS mean_ms,
    MAX(s.max_duration) / 1000.0 AS longest_ms,
    SUM(s.count_executions * s.avg_logical_io_reads) / SUM(s.count_executions) AS mean_pages,
    MAX(s.max_logical_io_reads) AS most_pages,
    SUM(s.count_executions * s.avg_cpu_time) / 1000 AS cpu_ms,
    MIN(t.query_sql_text) AS statement_text
FROM sys.query_store_query AS q
INNER JOIN sys.query_store_query_text AS t ON t.query_text_id = q.query_text_id
INNER JOIN sys.query_store_plan AS p ON p.query_id = q.query_id
INNER JOIN sys.query_store_runtime_stats AS s ON s.plan_id = p.plan_id
INNER JOIN sys.query_store_runtime_stats_interval AS i ON i.runtime_stats_interval_id = s.runtime_stats_interval_id
WHERE OBJECT_SCHEMA_NAME(q.object_id) = N'duroxide'
  AND i.end_time > DATEADD(HOUR, -1, SYSUTCDATETIME())
GROUP BY q.object_id, q.query_id
ORDER BY cpu_ms DESC;

-- What the same statements waited for (SQL Server 2017 and later).
SELECT TOP (50)
    OBJECT_NAME(q.object_id) AS procedure_name,
    q.query_id,
    w.wait_category_desc,
    SUM(w.total_query_wait_time_ms) AS waited_ms,
    MAX(w.max_query_wait_time_ms) AS longest_ms
FROM sys.query_store_query AS q
INNER JOIN sys.query_store_plan AS p ON p.query_id = q.query_id
INNER JOIN sys.query_store_wait_stats AS w ON w.plan_id = p.plan_id
INNER JOIN sys.query_store_runtime_stats_interval AS i ON i.runtime_stats_interval_id = w.runtime_stats_interval_id
WHERE OBJECT_SCHEMA_NAME(q.object_id) = N'duroxide'
  AND i.end_time > DATEADD(HOUR, -1, SYSUTCDATETIME())
GROUP BY q.object_id, q.query_id, w.wait_category_desc
ORDER BY waited_ms DESC;
