-- Turns milliseconds since the Unix epoch into a time that people read, in UTC; NULL
-- stays NULL. For the views. Days, seconds and milliseconds are added one by one,
-- because the milliseconds since 1970 do not fit DATEADD's int (rule T2). A time
-- beyond the year 9999, which a timer may have, is shown as that year's last second.
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
