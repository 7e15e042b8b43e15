-- Tags and authors as others refer to them.

-- name: term_by_id
SELECT r.id, r.uid, coalesce(r.live_title, v.title), r.slug, p.path, r.state
FROM resource r
JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
JOIN revision v ON v.resource_id = r.id AND v.number = r.head_revision
WHERE r.id = $1;

-- name: term_by_slug
SELECT r.id, r.uid, coalesce(r.live_title, v.title), r.slug, p.path, r.state
FROM resource r
JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
JOIN revision v ON v.resource_id = r.id AND v.number = r.head_revision
WHERE r.kind = $1 AND r.slug = $2 AND ($3 IS NULL OR r.locale = $3) AND r.state <> 'gone'
ORDER BY r.id LIMIT 1;

-- name: term_by_name
SELECT r.id, r.uid, coalesce(r.live_title, v.title), r.slug, p.path, r.state
FROM resource r
JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
JOIN revision v ON v.resource_id = r.id AND v.number = r.head_revision
WHERE r.kind = $1 AND r.locale = $2 AND r.name_fold = $3 AND r.state <> 'gone'
ORDER BY r.id LIMIT 1;

-- name: live_tag_insert
INSERT INTO live_tag (tag_id, published_at, resource_id, position)
SELECT id, $1, $2, $3 FROM resource WHERE id = $4 AND kind = 'tag'
ON CONFLICT DO NOTHING;

-- name: live_tag_remove
DELETE FROM live_tag WHERE resource_id = $1 RETURNING tag_id;

-- name: live_tag_other
SELECT resource_id FROM live_tag WHERE tag_id = $1 AND resource_id <> $2 LIMIT 1;

-- name: live_tag_of
SELECT tag_id FROM live_tag WHERE resource_id = $1;
