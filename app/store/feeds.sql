-- The newest articles that are listed where they are: live, indexable, canonical at their own address. Of each list the newest 500 places are
-- looked at: among more copies than that nobody waits for a feed.

-- name: feed_of_site
SELECT id FROM (
	SELECT * FROM (SELECT id, first_published_at, live_noindex, live_canonical, duplicate_of FROM resource
		WHERE kind = 'article' AND state = 'published' AND is_sticky = 1
		ORDER BY first_published_at DESC, id DESC LIMIT 500)
	UNION ALL
	SELECT * FROM (SELECT id, first_published_at, live_noindex, live_canonical, duplicate_of FROM resource
		WHERE kind = 'article' AND state = 'published' AND is_sticky = 0
		ORDER BY first_published_at DESC, id DESC LIMIT 500)) x
WHERE live_noindex = 0 AND live_canonical IS NULL AND duplicate_of IS NULL
ORDER BY first_published_at DESC, id DESC LIMIT $1;

-- name: feed_of_tag
SELECT r.id
FROM (SELECT resource_id, published_at FROM live_tag WHERE tag_id = $2 ORDER BY published_at DESC, resource_id DESC LIMIT 500) x
CROSS JOIN resource r ON r.id = x.resource_id
WHERE r.kind = 'article' AND r.state = 'published' AND r.live_noindex = 0 AND r.live_canonical IS NULL AND r.duplicate_of IS NULL
ORDER BY x.published_at DESC, x.resource_id DESC LIMIT $1;

-- name: feed_of_author
SELECT r.id
FROM (SELECT id, first_published_at FROM resource WHERE live_author = $2 AND state = 'published'
	ORDER BY first_published_at DESC, id DESC LIMIT 500) x
CROSS JOIN resource r ON r.id = x.id
WHERE r.kind = 'article' AND r.live_noindex = 0 AND r.live_canonical IS NULL AND r.duplicate_of IS NULL
ORDER BY x.first_published_at DESC, x.id DESC LIMIT $1;
