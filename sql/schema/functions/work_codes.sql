-- Lists the tags and codes of which a worker may take activities. A worker that names its code takes that, and what
-- any worker may take (code 0). One that names none takes what is ready and others have not named in the last 75
-- seconds.
-- Helper of: fetch_work_item.
-- Parameters:
--   @known_id    the set of names; NULL for a worker that names none
--   @now         the present time, in milliseconds since 1970 UTC
--   @unknown_ms  if positive, lists code that no worker has known for so many milliseconds instead
--   @any_tag     1 for all tags
--   @tag1, @tag2, @tag3, @tag4, @tag5, @tag6
--                the tags; NULL for none, the empty text for activities without a tag
-- Returns: each tag with each of its codes, as code_names.id.
-- Locks: known_code_names, known_code, code_names, and those of ready_work (read).
CREATE OR ALTER FUNCTION duroxide.work_codes (
    @known_id INT, @now BIGINT, @unknown_ms BIGINT, @any_tag BIT,
    @tag1 NVARCHAR(400), @tag2 NVARCHAR(400), @tag3 NVARCHAR(400), @tag4 NVARCHAR(400), @tag5 NVARCHAR(400), @tag6 NVARCHAR(400)
)
RETURNS TABLE
AS
RETURN (
    SELECT t.tag COLLATE Latin1_General_100_BIN2 AS tag, k.code_id
    FROM (VALUES (@tag1), (@tag2), (@tag3), (@tag4), (@tag5), (@tag6)) AS t (tag)
    CROSS JOIN (
        SELECT 0 AS code_id
        UNION ALL
        SELECT n.code_id
        FROM duroxide.known_code_names AS n
        WHERE n.known_id = @known_id
    ) AS k
    WHERE t.tag IS NOT NULL AND @known_id IS NOT NULL AND @any_tag = 0 AND @unknown_ms = 0
    UNION ALL
    SELECT r.tag, r.code_id
    FROM (VALUES (1, @tag1), (2, @tag2), (3, @tag3), (4, @tag4), (5, @tag5), (6, @tag6)) AS t (place, tag)
    CROSS APPLY duroxide.ready_work(t.tag) AS r
    WHERE (t.tag IS NOT NULL OR (@any_tag = 1 AND t.place = 1))
      AND (@known_id IS NULL OR @any_tag = 1 OR @unknown_ms > 0) AND 1 = CASE
          WHEN @unknown_ms > 0 THEN CASE WHEN EXISTS (SELECT 1 FROM duroxide.unknown_codes(1, @now - @unknown_ms) AS u WHERE u.code_id = r.code_id) THEN 1 END
          WHEN @known_id IS NULL THEN CASE WHEN NOT EXISTS (SELECT 1 FROM duroxide.known_codes(1, @now - 75000) AS k WHERE k.code_id = r.code_id) THEN 1 END
          WHEN r.code_id = 0 OR EXISTS (SELECT 1 FROM duroxide.known_code_names AS n WHERE n.known_id = @known_id AND n.code_id = r.code_id) THEN 1
      END
);
