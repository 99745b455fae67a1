-- name: GetCode :one
SELECT id
FROM code_names
WHERE name = @name
  AND version = @version;

-- name: AddCode :one
INSERT INTO code_names (name, version)
VALUES (@name, @version)
RETURNING id;

-- Records that a set was seen, and adds it if it is new.
--
-- name: PutKnownCode :one
INSERT INTO known_code (kind, digest, seen_at)
VALUES (@kind, @digest, @now)
ON CONFLICT (kind, digest) DO UPDATE SET
    seen_at = excluded.seen_at
RETURNING id;

-- Records that a set was seen. Changes no row if the set is gone.
--
-- name: SeeKnownCode :execrows
UPDATE known_code
SET seen_at = @now
WHERE id = @id;

-- Lists the codes in sets of a kind, and when a set with the code was last seen.
--
-- name: ListNamedCodes :many
SELECT k.code_id, CAST(max(s.seen_at) AS INTEGER) AS seen_at
FROM known_code AS s
JOIN known_code_names AS k ON k.known_id = s.id
WHERE s.kind = @kind
  AND s.seen_at > @seen_after
  AND k.code_id > 0
GROUP BY k.code_id;

-- Adds code to a set.
--
-- name: AddKnownCodeName :exec
INSERT INTO known_code_names (known_id, code_id)
VALUES (@known_id, @code_id)
ON CONFLICT (known_id, code_id) DO NOTHING;

-- Adds a tag to a set.
--
-- name: AddKnownCodeTag :exec
INSERT INTO known_code_tags (known_id, tag)
VALUES (@known_id, @tag)
ON CONFLICT (known_id, tag) DO NOTHING;

-- Deletes sets that were last seen long ago. The caller deletes their names with
-- DeleteKnownCodeNames, and their tags with DeleteKnownCodeTags.
--
-- name: DeleteKnownCode :execrows
DELETE FROM known_code
WHERE kind IN (0, 1)
  AND seen_at <= @seen_before;

-- Deletes names whose set is gone.
--
-- name: DeleteKnownCodeNames :exec
DELETE FROM known_code_names
WHERE NOT EXISTS (SELECT 1 FROM known_code AS s WHERE s.id = known_code_names.known_id);

-- Deletes tags whose set is gone.
--
-- name: DeleteKnownCodeTags :exec
DELETE FROM known_code_tags
WHERE NOT EXISTS (SELECT 1 FROM known_code AS s WHERE s.id = known_code_tags.known_id);

-- Finds when a set of the kind with the code was last seen; 0 for never.
--
-- name: CodeSeenAt :one
SELECT CAST(coalesce(max(s.seen_at), 0) AS INTEGER) AS seen_at
FROM known_code AS s
WHERE s.kind = @kind
  AND EXISTS (
      SELECT 1
      FROM known_code_names AS k
      WHERE k.known_id = s.id
        AND k.code_id = @code_id
  );

-- Lists the versions of an orchestration that are in sets which were seen since a time.
--
-- name: ListKnownVersions :many
SELECT n.version
FROM code_names AS n
WHERE n.name = @name
  AND n.version <> ''
  AND EXISTS (
      SELECT 1
      FROM known_code AS s
      JOIN known_code_names AS k ON k.known_id = s.id
      WHERE s.kind = 0
        AND s.seen_at > @seen_after
        AND k.code_id = n.id
  )
ORDER BY n.version;
