-- What the path tables say about one address. Every row comes with its resource's kind, state and own address. The addresses of what was given up for
-- another (`o`, merged_into) are addresses of that other one (`r`).

-- name: lookup_exact
SELECT p.path, CASE WHEN o.merged_into IS NULL THEN p.role ELSE 'alias' END, r.id, p.target, p.status, r.kind, r.state, c.path
FROM path p
LEFT JOIN resource o ON o.id = p.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE p.path = $1;

-- name: lookup_folded
SELECT p.path, CASE WHEN o.merged_into IS NULL THEN p.role ELSE 'alias' END, r.id, p.target, p.status, r.kind, r.state, c.path, p.was_canonical
FROM path p
LEFT JOIN resource o ON o.id = p.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE p.fold = $1
ORDER BY p.was_canonical DESC, p.path
LIMIT 2;

-- The row that wants all pairs there are.
-- name: lookup_query_exact
SELECT q.pairs, r.id, q.target, q.status, r.kind, r.state, c.path
FROM path_query q
LEFT JOIN resource o ON o.id = q.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE q.path = $1 AND q.pairs = $2;

-- The rows of a path whose first pair is $2: the pair alone, or followed by others ("'" comes right after "&").
-- name: lookup_query_sources
SELECT q.pairs, r.id, q.target, q.status, r.kind, r.state, c.path
FROM path_query q
LEFT JOIN resource o ON o.id = q.resource_id
LEFT JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE q.path = $1 AND (q.pairs = $2 OR (q.pairs >= $2 || '&' AND q.pairs < $2 || ''''))
ORDER BY q.pairs
LIMIT 100;

-- name: lookup_rules
SELECT pattern, target, coalesce(resource_id, 0), status FROM path_rule ORDER BY id LIMIT $1;

-- name: lookup_resource
SELECT r.id, r.kind, r.state, c.path
FROM resource o
JOIN resource r ON r.id = coalesce(o.merged_into, o.id)
LEFT JOIN path c ON c.resource_id = r.id AND c.role = 'canonical'
WHERE o.id = $1;
