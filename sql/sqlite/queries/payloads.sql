-- Names a payload, and adds it if there is none with the digest. If uses is 1, the caller adds its text
-- (AddPayloadText).
--
-- name: UsePayload :one
INSERT INTO payloads (digest, uses)
VALUES (@digest, 1)
ON CONFLICT (digest) DO UPDATE SET uses = uses + 1
RETURNING id, uses;

-- name: AddPayloadText :exec
INSERT INTO payload_texts (id, text, json_bytes)
VALUES (@id, @text, @json_bytes);

-- Names a payload that another row names as well.
--
-- name: SharePayload :exec
UPDATE payloads
SET uses = uses + 1
WHERE id = @id;

-- name: GetPayloadText :one
SELECT text
FROM payload_texts
WHERE id = @id;
