-- Adds a message that could not be decoded. The caller deletes it from its queue.
--
-- name: AddDeadLetter :exec
INSERT INTO dead_letters (queue, queue_id, instance_id, work_item, payload_id, error, created_at)
VALUES (@queue, @queue_id, @instance_id, @work_item, @payload_id, @error, @created_at);

-- name: CountDeadLetters :one
SELECT count(*) FROM dead_letters;

-- Lists letters, oldest first, with the beginning of their texts, which names their kinds.
--
-- name: ListDeadLetters :many
SELECT id, queue, instance_id, CAST(substr(work_item, 1, 80) AS TEXT) AS head, error, created_at
FROM dead_letters
WHERE id > @after
ORDER BY id
LIMIT @most;

-- ListDeadLetters for one instance.
--
-- name: ListInstanceDeadLetters :many
SELECT id, queue, instance_id, CAST(substr(work_item, 1, 80) AS TEXT) AS head, error, created_at
FROM dead_letters
WHERE instance_id = @instance_id AND id > @after
ORDER BY id
LIMIT @most;

-- name: GetDeadLetter :one
SELECT d.id, d.queue, d.instance_id, d.work_item, p.text AS payload, d.error, d.created_at
FROM dead_letters AS d
LEFT JOIN payload_texts AS p ON p.id = d.payload_id
WHERE d.id = @id;

-- name: DeleteDeadLettersOf :exec
DELETE FROM dead_letters
WHERE instance_id IN (SELECT j.value FROM json_each(CAST(@instances AS TEXT)) AS j);

-- name: DeleteDeadLetter :execrows
DELETE FROM dead_letters
WHERE id = @id;
