-- Public lists: pages of live resources, newest first, and pages of terms. Places are skipped inside an index, then only the rows shown are read.

-- name: list_articles
SELECT r.id, r.live_title, p.path, r.live_summary, d.excerpt, r.first_published_at, r.live_author
FROM (SELECT id, is_sticky, first_published_at FROM resource
	WHERE kind = 'article' AND state = 'published'
	ORDER BY is_sticky DESC, first_published_at DESC, id DESC LIMIT $1 OFFSET $2) x
CROSS JOIN resource r ON r.id = x.id
JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
LEFT JOIN rendered d ON d.resource_id = r.id AND d.number = r.live_revision
ORDER BY x.is_sticky DESC, x.first_published_at DESC, x.id DESC;

-- name: list_tagged
SELECT r.id, r.live_title, p.path, r.live_summary, d.excerpt, r.first_published_at, r.live_author
FROM (SELECT resource_id, published_at FROM live_tag
	WHERE tag_id = $3
	ORDER BY published_at DESC, resource_id DESC LIMIT $1 OFFSET $2) x
CROSS JOIN resource r ON r.id = x.resource_id AND r.state = 'published'
JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
LEFT JOIN rendered d ON d.resource_id = r.id AND d.number = r.live_revision
ORDER BY x.published_at DESC, x.resource_id DESC;

-- name: list_written
SELECT r.id, r.live_title, p.path, r.live_summary, d.excerpt, r.first_published_at, r.live_author
FROM (SELECT id, first_published_at FROM resource
	WHERE live_author = $3 AND state = 'published'
	ORDER BY first_published_at DESC, id DESC LIMIT $1 OFFSET $2) x
CROSS JOIN resource r ON r.id = x.id
JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
LEFT JOIN rendered d ON d.resource_id = r.id AND d.number = r.live_revision
ORDER BY x.first_published_at DESC, x.id DESC;

-- name: list_articles_count
SELECT count(*) FROM (SELECT 1 FROM resource WHERE kind = 'article' AND state = 'published' LIMIT $1) x;

-- name: list_tagged_count
SELECT count(*) FROM (SELECT 1 FROM live_tag WHERE tag_id = $2 LIMIT $1) x;

-- name: list_written_count
SELECT count(*) FROM (SELECT 1 FROM resource WHERE live_author = $2 AND state = 'published' LIMIT $1) x;

-- name: list_tags
SELECT r.live_title, p.path, (SELECT count(*) FROM live_tag t WHERE t.tag_id = r.id)
FROM (SELECT id, slug FROM resource
	WHERE kind = 'tag' AND state = 'published' AND EXISTS (SELECT 1 FROM live_tag t WHERE t.tag_id = resource.id)
	ORDER BY slug, id LIMIT $1 OFFSET $2) x
CROSS JOIN resource r ON r.id = x.id
JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
ORDER BY x.slug, x.id;

-- name: list_authors
SELECT r.live_title, p.path, (SELECT count(*) FROM resource a WHERE a.live_author = r.id AND a.state = 'published')
FROM (SELECT id, slug FROM resource
	WHERE kind = 'author' AND state = 'published'
		AND EXISTS (SELECT 1 FROM resource a WHERE a.live_author = resource.id AND a.state = 'published')
	ORDER BY slug, id LIMIT $1 OFFSET $2) x
CROSS JOIN resource r ON r.id = x.id
JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
ORDER BY x.slug, x.id;

-- name: list_tags_count
SELECT count(*) FROM (SELECT 1 FROM resource
	WHERE kind = 'tag' AND state = 'published' AND EXISTS (SELECT 1 FROM live_tag t WHERE t.tag_id = resource.id) LIMIT $1) x;

-- name: list_authors_count
SELECT count(*) FROM (SELECT 1 FROM resource
	WHERE kind = 'author' AND state = 'published'
		AND EXISTS (SELECT 1 FROM resource a WHERE a.live_author = resource.id AND a.state = 'published') LIMIT $1) x;

-- A tag that left is named no more, but when it left still counts.
-- name: list_tags_of
SELECT t.id, t.live_title, p.path, t.changed_at, t.state
FROM live_tag l
JOIN resource t ON t.id = l.tag_id
JOIN path p ON p.resource_id = t.id AND p.role = 'canonical'
WHERE l.resource_id = $1
ORDER BY l.position, l.tag_id
LIMIT $2;

-- name: list_name
SELECT r.id, r.live_title, p.path, r.changed_at, r.state
FROM resource r
JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
WHERE r.id = $1;

-- name: list_changed_at
SELECT max(
	coalesce((SELECT max(changed_at) FROM resource WHERE kind = 'article'), 0),
	coalesce((SELECT max(changed_at) FROM resource WHERE kind = 'page'), 0),
	coalesce((SELECT max(changed_at) FROM resource WHERE kind = 'tag'), 0),
	coalesce((SELECT max(changed_at) FROM resource WHERE kind = 'author'), 0));

-- name: settings_changed_at
SELECT coalesce(max(changed_at), 0) FROM setting;
