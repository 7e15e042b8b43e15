-- What an import needs to know of earlier runs, and the old addresses it leaves.

-- name: import_find
SELECT id, ref_hash, state FROM resource WHERE ref_source = $1 AND client_ref = $2

-- name: import_newest
SELECT coalesce(max(id), 0) FROM resource

-- name: import_find_slug
SELECT id FROM resource WHERE kind = $1 AND slug = $2 AND state <> 'gone' ORDER BY id LIMIT 1

-- name: import_alias
INSERT INTO path (path, fold, role, resource_id, status, was_public, was_canonical, note, created_at)
VALUES ($1, $2, 'alias', $3, 301, $4, 0, $5, $6)
ON CONFLICT DO NOTHING

-- name: import_external
INSERT INTO path (path, fold, role, target, status, was_public, was_canonical, note, created_at)
VALUES ($1, $2, 'external', $3, 301, 1, 0, $4, $5)
ON CONFLICT DO NOTHING

-- name: import_path_holder
SELECT coalesce(resource_id, 0) FROM path WHERE path = $1

-- name: import_query
INSERT INTO path_query (path, pairs, resource_id, status, note, created_at)
VALUES ($1, $2, $3, 301, $4, $5)
ON CONFLICT DO NOTHING

-- name: import_query_holder
SELECT coalesce(resource_id, 0) FROM path_query WHERE path = $1 AND pairs = $2

-- name: import_longest_alias
SELECT path FROM path WHERE resource_id = $1 AND role = 'alias' AND note = $2 ORDER BY length(path) DESC LIMIT 1

-- name: media_find_source
SELECT sha256, type FROM media WHERE source_url = $1 LIMIT 1

-- name: media_is_there
SELECT 1 FROM media WHERE sha256 = $1

-- name: media_insert
INSERT INTO media (sha256, name, type, bytes, source_url, created_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (sha256) DO NOTHING

-- name: import_first_admin
SELECT name FROM user WHERE role = 'admin' AND is_active = 1 ORDER BY id LIMIT 1

-- name: import_copy_database
VACUUM INTO $1
