-- Claiming, moving and describing path rows.

-- name: path_claim
INSERT INTO path (path, fold, role, resource_id, was_public, was_canonical, created_at) VALUES ($1, $2, 'canonical', $3, $4, 1, $5)
ON CONFLICT DO NOTHING;

-- Is there anything that keeps a canonical row with this path and fold out?
-- name: path_is_taken
SELECT EXISTS (SELECT 1 FROM path WHERE path = $1) OR EXISTS (SELECT 1 FROM path WHERE fold = $2 AND was_canonical = 1);

-- name: path_holder
SELECT p.path, p.role, r.uid, r.kind, r.state, p.was_public, p.was_canonical, p.uid
FROM path p LEFT JOIN resource r ON r.id = p.resource_id
WHERE p.path = $1 OR (p.fold = $2 AND p.was_canonical = 1)
ORDER BY p.path <> $1
LIMIT 1;

-- name: path_of_resource
SELECT path, fold, was_public FROM path WHERE resource_id = $1 AND role = 'canonical';

-- name: path_set_public
UPDATE path SET was_public = 1 WHERE resource_id = $1 AND role = 'canonical' AND was_public = 0;

-- Only a path that no one ever saw may change or be given back.
-- name: path_free
DELETE FROM path WHERE resource_id = $1 AND role = 'canonical' AND was_public = 0;

-- One statement with RETURNING would do, but SQLite keeps what that returns in a table made for each run.
-- name: sitemap_part_of
SELECT first_id, last_id, changed_at FROM sitemap_part WHERE first_id <= $1 ORDER BY first_id DESC LIMIT 1;

-- name: sitemap_part_touch
UPDATE sitemap_part SET changed_at = $1 WHERE first_id = $2;

-- name: sitemap_part_insert
INSERT INTO sitemap_part (first_id, last_id, changed_at) VALUES ($1, $2, $3);

-- Who else keeps a path from becoming the address of $3?
-- name: path_other_holder
SELECT p.path, p.role, r.uid, r.kind, r.state, p.was_public, p.was_canonical, p.uid
FROM path p LEFT JOIN resource r ON r.id = p.resource_id
WHERE (p.path = $1 OR (p.fold = $2 AND p.was_canonical = 1)) AND (p.resource_id IS NULL OR p.resource_id <> $3)
ORDER BY p.path <> $1
LIMIT 1;

-- An address that was seen stays: it leads to wherever its resource is.
-- name: path_demote
UPDATE path SET role = 'alias', status = 301, changed_at = $1 WHERE resource_id = $2 AND role = 'canonical' AND was_public = 1;

-- Old addresses of the resource that its new one covers, by spelling or by fold.
-- name: path_take_back
DELETE FROM path WHERE resource_id = $1 AND role = 'alias' AND (path = $2 OR (fold = $3 AND was_canonical = 1)) RETURNING was_public;

-- The same address in another spelling.
-- name: path_respell
UPDATE path SET path = $1 WHERE resource_id = $2 AND role = 'canonical';

-- name: path_remove_all
DELETE FROM path WHERE resource_id = $1;
