-- Adds a message that could not be decoded. The caller deletes it from its queue.
--
-- name: AddDeadLetter :exec
INSERT INTO dead_letters (queue, queue_id, instance_id, work_item, error, created_at)
VALUES (@queue, @queue_id, @instance_id, @work_item, @error, @created_at);

-- name: ListDeadLetters :many
SELECT *
FROM dead_letters
ORDER BY id;
