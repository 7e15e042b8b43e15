-- Redirects: rows of path that give no resource its own address, of path_query, and of path_rule. Every SELECT has the same columns.

-- name: redirect_by_path
SELECT p.path, NULL, p.uid, p.resource_id, p.target, p.status, p.was_public, p.note, p.version, p.hits, p.last_hit_at, p.created_at, p.changed_at,
	r.uid, r.kind, r.state, c.path
FROM path p
LEFT JOIN resource o ON o.id = p.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE p.path = $1 AND p.role <> 'canonical';

-- name: redirect_by_query
SELECT p.path, p.pairs, p.uid, p.resource_id, p.target, p.status, 0, p.note, p.version, p.hits, p.last_hit_at, p.created_at, p.changed_at,
	r.uid, r.kind, r.state, c.path
FROM path_query p
LEFT JOIN resource o ON o.id = p.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE p.path = $1 AND p.pairs = $2;

-- name: redirect_by_pattern
SELECT p.pattern, NULL, p.uid, p.resource_id, p.target, p.status, 0, p.note, p.version, p.hits, p.last_hit_at, p.created_at, p.changed_at,
	r.uid, r.kind, r.state, c.path
FROM path_rule p
LEFT JOIN resource o ON o.id = p.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE p.pattern = $1;

-- Which table an id belongs to, and the row's key there.
-- name: redirect_key_of_uid
SELECT 0, path, NULL FROM path WHERE uid = $1
UNION ALL
SELECT 1, path, pairs FROM path_query WHERE uid = $1
UNION ALL
SELECT 2, pattern, NULL FROM path_rule WHERE uid = $1;

-- name: redirects_of_path
SELECT p.path, NULL, p.uid, p.resource_id, p.target, p.status, p.was_public, p.note, p.version, p.hits, p.last_hit_at, p.created_at, p.changed_at,
	r.uid, r.kind, r.state, c.path
FROM path p INDEXED BY path_redirects
LEFT JOIN resource o ON o.id = p.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE p.role <> 'canonical' AND p.path > $1
ORDER BY p.path
LIMIT $2;

-- name: redirects_of_query
SELECT p.path, p.pairs, p.uid, p.resource_id, p.target, p.status, 0, p.note, p.version, p.hits, p.last_hit_at, p.created_at, p.changed_at,
	r.uid, r.kind, r.state, c.path
FROM path_query p
LEFT JOIN resource o ON o.id = p.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE p.path >= $1 AND (p.path > $1 OR p.pairs > $2)
ORDER BY p.path, p.pairs
LIMIT $3;

-- name: redirects_of_rules
SELECT p.pattern, NULL, p.uid, p.resource_id, p.target, p.status, 0, p.note, p.version, p.hits, p.last_hit_at, p.created_at, p.changed_at,
	r.uid, r.kind, r.state, c.path
FROM path_rule p
LEFT JOIN resource o ON o.id = p.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE p.pattern > $1
ORDER BY p.pattern
LIMIT $2;

-- name: redirects_of_resource_path
SELECT p.path, NULL, p.uid, p.resource_id, p.target, p.status, p.was_public, p.note, p.version, p.hits, p.last_hit_at, p.created_at, p.changed_at,
	r.uid, r.kind, r.state, c.path
FROM path p
LEFT JOIN resource o ON o.id = p.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE p.resource_id = $1 AND p.role <> 'canonical' AND p.path > $2
ORDER BY p.path
LIMIT $3;

-- name: redirects_of_resource_query
SELECT p.path, p.pairs, p.uid, p.resource_id, p.target, p.status, 0, p.note, p.version, p.hits, p.last_hit_at, p.created_at, p.changed_at,
	r.uid, r.kind, r.state, c.path
FROM path_query p
LEFT JOIN resource o ON o.id = p.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE p.resource_id = $1 AND p.path >= $2 AND (p.path > $2 OR p.pairs > $3)
ORDER BY p.path, p.pairs
LIMIT $4;

-- A source whose fold belongs to a page, or did, would take that page's other spellings away.
-- name: redirect_insert_path
INSERT INTO path (path, fold, role, resource_id, target, status, note, uid, created_at, changed_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $9
WHERE NOT EXISTS (SELECT 1 FROM path WHERE fold = $2 AND was_canonical = 1)
ON CONFLICT (path) DO NOTHING;

-- name: redirect_insert_query
INSERT INTO path_query (path, pairs, resource_id, target, status, note, uid, created_at, changed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
ON CONFLICT (path, pairs) DO NOTHING;

-- name: redirect_insert_rule
INSERT INTO path_rule (pattern, resource_id, target, status, note, uid, created_at, changed_at) VALUES ($1, $2, coalesce($3, ''), $4, $5, $6, $7, $7)
ON CONFLICT (pattern) DO NOTHING;

-- name: redirect_update_path
UPDATE path
SET role = $1, resource_id = $2, target = $3, status = $4, note = $5, uid = coalesce(uid, $6), changed_at = $7, version = version + 1
WHERE path = $8 AND version = $9 AND role <> 'canonical';

-- name: redirect_update_query
UPDATE path_query
SET resource_id = $1, target = $2, status = $3, note = $4, uid = coalesce(uid, $5), changed_at = $6, version = version + 1
WHERE path = $7 AND pairs = $8 AND version = $9;

-- name: redirect_update_rule
UPDATE path_rule
SET resource_id = $1, target = coalesce($2, ''), status = $3, note = $4, uid = coalesce(uid, $5), changed_at = $6, version = version + 1
WHERE pattern = $7 AND version = $8;

-- What was public is for good.
-- name: redirect_remove_path
DELETE FROM path WHERE path = $1 AND version = $2 AND role <> 'canonical' AND was_public = 0;

-- name: redirect_remove_query
DELETE FROM path_query WHERE path = $1 AND pairs = $2 AND version = $3;

-- name: redirect_remove_rule
DELETE FROM path_rule WHERE pattern = $1 AND version = $2;

-- name: redirect_rule_count
SELECT count(*) FROM path_rule;

-- name: redirect_resource
SELECT id FROM resource WHERE uid = $1;

-- name: not_found_forget
DELETE FROM not_found WHERE path = $1;
