-- Turns milliseconds since 1970 into a time that people read, in days, seconds and milliseconds, because DATEADD
-- takes an int.
-- Helper of: v_dead_letters, v_executions, v_history, v_instances, v_queues.
-- Returns: the time in UTC; NULL for NULL. A time beyond the year 9999, which a timer may have, is shown as the last
--   second of that year.
CREATE OR ALTER FUNCTION duroxide.utc_time (@ms BIGINT)
RETURNS TABLE
AS
RETURN (
    SELECT DATEADD(
        MILLISECOND, t.ms % 1000,
        DATEADD(SECOND, t.ms % 86400000 / 1000, DATEADD(DAY, t.ms / 86400000, CAST('19700101' AS DATETIME2(3))))
    ) AS utc
    FROM (
        SELECT CASE WHEN @ms > CAST(253402300799000 AS BIGINT) THEN CAST(253402300799000 AS BIGINT) ELSE @ms END AS ms
    ) AS t
);
