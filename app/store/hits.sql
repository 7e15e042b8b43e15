-- How often redirects were used, and what was not found.

-- name: hit_path
UPDATE path SET hits = hits + $1, last_hit_at = max(coalesce(last_hit_at, 0), $2) WHERE path = $3 AND role <> 'canonical';

-- name: hit_query
UPDATE path_query SET hits = hits + $1, last_hit_at = max(coalesce(last_hit_at, 0), $2) WHERE path = $3 AND pairs = $4;

-- name: hit_rule
UPDATE path_rule SET hits = hits + $1, last_hit_at = max(coalesce(last_hit_at, 0), $2) WHERE pattern = $3;

-- Counted before somebody made a redirect of it: then it is no longer among those that are not found.
-- name: not_found_add
INSERT INTO not_found (path, hits, first_at, last_at)
SELECT $1, $2, $3, $4
WHERE NOT EXISTS (SELECT 1 FROM path WHERE path = $1 AND role <> 'canonical')
ON CONFLICT (path) DO UPDATE SET hits = hits + excluded.hits, last_at = max(last_at, excluded.last_at);

-- name: not_found_list
SELECT path, hits, first_at, last_at FROM not_found
WHERE (hits, last_at, path) < ($1, $2, $3)
ORDER BY hits DESC, last_at DESC, path DESC
LIMIT $4;

-- name: not_found_prune_old
DELETE FROM not_found WHERE path IN (SELECT path FROM not_found WHERE hits > 0 AND last_at < $1 LIMIT $2);

-- Beyond so many, those least asked for.
-- name: not_found_prune_many
DELETE FROM not_found
WHERE path IN (SELECT path FROM not_found WHERE hits > 0 ORDER BY hits DESC, last_at DESC, path DESC LIMIT $1 OFFSET $2);
