-- What reports look through, a range of ids at a time.

-- name: report_unlisted
SELECT r.id FROM resource r
WHERE r.id < $1 AND r.id >= $2 AND r.state = 'published' AND ($3 = 1 OR r.live_noindex = 1 OR r.live_canonical IS NOT NULL OR r.duplicate_of IS NOT NULL
	OR (r.kind = 'tag' AND NOT EXISTS (SELECT 1 FROM live_tag t WHERE t.tag_id = r.id))
	OR (r.kind = 'author' AND NOT EXISTS (SELECT 1 FROM resource a WHERE a.live_author = r.id AND a.state = 'published')))
ORDER BY r.id DESC LIMIT $4;
