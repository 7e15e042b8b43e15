-- Texts that are like others.

-- Those whose row does not say what is live.
-- name: near_stale
SELECT r.id, r.locale, r.content_hash, r.live_revision
FROM resource r LEFT JOIN near_text n ON n.resource_id = r.id
WHERE r.id > $1 AND r.id <= $2 AND r.content_hash IS DISTINCT FROM n.content_hash
ORDER BY r.id LIMIT $3;

-- name: near_remove_text
DELETE FROM near_text WHERE resource_id = $1;

-- name: near_remove_blocks
DELETE FROM near_block WHERE resource_id = $1;

-- name: near_insert_text
INSERT INTO near_text (resource_id, locale, content_hash, hash)
SELECT id, locale, content_hash, $1 FROM resource WHERE id = $2 AND content_hash = $3;

-- name: near_insert_block
INSERT INTO near_block (locale, block, bits, resource_id, hash)
SELECT locale, $1, $2, resource_id, hash FROM near_text WHERE resource_id = $3;

-- name: near_texts
SELECT resource_id, locale, hash, content_hash FROM near_text WHERE resource_id >= $1 ORDER BY resource_id LIMIT $2;

-- name: near_in_block
SELECT b.resource_id, b.hash
FROM (SELECT resource_id, hash FROM near_block WHERE locale = $1 AND block = $2 AND bits = $3 AND resource_id > $4 ORDER BY resource_id LIMIT $5) b
JOIN near_text n ON n.resource_id = b.resource_id
WHERE n.content_hash <> $6
ORDER BY b.resource_id;
