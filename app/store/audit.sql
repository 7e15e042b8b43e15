-- What must never be true of the rows: each statement gives a resource id (0 = none), who it is, and what is wrong. $1 and $2 bound the ids.

-- name: audit_last_resource
SELECT coalesce(max(id), 0) FROM resource;

-- name: audit_canonical
SELECT r.id, r.kind || ' ' || r.uid, 'has ' || (SELECT count(*) FROM path p WHERE p.resource_id = r.id AND p.role = 'canonical') || ' canonical paths'
FROM resource r
WHERE r.id > $1 AND r.id <= $2 AND (SELECT count(*) FROM path p WHERE p.resource_id = r.id AND p.role = 'canonical') <> 1
ORDER BY r.id;

-- name: audit_public
SELECT r.id, r.kind || ' ' || r.uid, 'was public, and its address ' || p.path || ' is not marked so'
FROM resource r JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
WHERE r.id > $1 AND r.id <= $2 AND r.first_published_at IS NOT NULL AND p.was_public = 0;

-- name: audit_revision
SELECT r.id, r.kind || ' ' || r.uid, 'refers to a revision that is not there'
FROM resource r
WHERE r.id > $1 AND r.id <= $2 AND (NOT EXISTS (SELECT 1 FROM revision v WHERE v.resource_id = r.id AND v.number = r.head_revision)
	OR (r.live_revision IS NOT NULL AND NOT EXISTS (SELECT 1 FROM revision v WHERE v.resource_id = r.id AND v.number = r.live_revision))
	OR (r.scheduled_revision IS NOT NULL AND NOT EXISTS (SELECT 1 FROM revision v WHERE v.resource_id = r.id AND v.number = r.scheduled_revision)));

-- name: audit_live
SELECT r.id, r.kind || ' ' || r.uid, 'shows another title, summary, noindex or author than its live revision'
FROM resource r JOIN revision v ON v.resource_id = r.id AND v.number = r.live_revision
WHERE r.id > $1 AND r.id <= $2 AND r.state = 'published' AND (r.live_title IS DISTINCT FROM v.title OR r.live_summary IS DISTINCT FROM v.summary
	OR r.live_noindex <> v.noindex OR r.live_author IS DISTINCT FROM v.author_id);

-- name: audit_override
SELECT r.id, r.kind || ' ' || r.uid, 'has the canonical ' || r.live_canonical || ', which its live revision does not say'
FROM resource r JOIN revision v ON v.resource_id = r.id AND v.number = r.live_revision
WHERE r.id > $1 AND r.id <= $2 AND r.state = 'published' AND r.live_canonical IS NOT NULL AND v.canonical IS DISTINCT FROM r.live_canonical
ORDER BY r.id;

-- Whether it is the own address is not for SQL to say.
-- name: audit_own_override
SELECT r.id, r.kind || ' ' || r.uid, 'has its own address as an override'
FROM resource r
WHERE r.id > $1 AND r.id <= $2 AND r.state = 'published' AND r.live_canonical IS NOT NULL
ORDER BY r.id;

-- name: audit_rendered
SELECT r.id, r.kind || ' ' || r.uid, 'is live and was never rendered'
FROM resource r
WHERE r.id > $1 AND r.id <= $2 AND r.state = 'published'
	AND NOT EXISTS (SELECT 1 FROM rendered d WHERE d.resource_id = r.id AND d.number = r.live_revision);

-- name: audit_tags
SELECT r.id, r.kind || ' ' || r.uid, 'stands in other tag lists than its live revision says'
FROM resource r JOIN revision v ON v.resource_id = r.id AND v.number = r.live_revision
WHERE r.id > $1 AND r.id <= $2 AND r.kind IN ('article', 'page') AND r.state = 'published' AND (
	(SELECT count(*) FROM live_tag t WHERE t.resource_id = r.id)
		<> (SELECT count(DISTINCT g.id) FROM json_each(v.tags) j JOIN resource g ON g.id = j.value AND g.kind = 'tag')
	OR EXISTS (SELECT 1 FROM live_tag t WHERE t.resource_id = r.id AND t.published_at <> r.first_published_at)
	OR EXISTS (SELECT 1 FROM json_each(v.tags) j JOIN resource g ON g.id = j.value AND g.kind = 'tag'
		WHERE NOT EXISTS (SELECT 1 FROM live_tag t WHERE t.resource_id = r.id AND t.tag_id = g.id)))
UNION ALL
SELECT r.id, r.kind || ' ' || r.uid, 'stands in tag lists and is ' || r.state
FROM resource r
WHERE r.id > $1 AND r.id <= $2 AND r.state <> 'published' AND EXISTS (SELECT 1 FROM live_tag t WHERE t.resource_id = r.id);

-- name: audit_copy
SELECT d.id, d.kind || ' ' || d.uid, 'is called a copy of ' || o.uid || ', which is no live original of its text'
FROM resource d JOIN resource o ON o.id = d.duplicate_of
WHERE d.id > $1 AND d.id <= $2 AND (d.state <> 'published' OR o.state <> 'published' OR o.duplicate_of IS NOT NULL
	OR o.content_hash IS DISTINCT FROM d.content_hash OR o.locale <> d.locale OR o.live_noindex = 1 OR o.live_canonical IS NOT NULL)
ORDER BY d.id;

-- name: audit_twin
SELECT r.id, r.kind || ' ' || r.uid, 'has the text of a live original and is not called its copy'
FROM resource r
WHERE r.id > $1 AND r.id <= $2 AND r.state = 'published' AND r.content_hash IS NOT NULL AND r.duplicate_of IS NULL
	AND r.distinct_reason IS NULL AND r.live_canonical IS NULL AND EXISTS (SELECT 1 FROM resource o
		WHERE o.locale = r.locale AND o.content_hash = r.content_hash AND o.content_hash IS NOT NULL AND o.duplicate_of IS NULL
		AND o.id <> r.id AND o.state = 'published' AND o.live_canonical IS NULL AND o.live_noindex = 0
		AND (r.live_noindex = 1 OR o.hash_since < r.hash_since OR (o.hash_since = r.hash_since AND o.id < r.id)))
ORDER BY r.id;

-- name: audit_merged
SELECT d.id, d.kind || ' ' || d.uid, 'was given up for ' || o.uid || ', which was given up itself'
FROM resource d JOIN resource o ON o.id = d.merged_into
WHERE d.id > $1 AND d.id <= $2 AND o.merged_into IS NOT NULL;

-- name: audit_hash
SELECT r.id, r.kind || ' ' || r.uid, 'is ' || r.state || ' and still counts as having a text'
FROM resource r WHERE r.id > $1 AND r.id <= $2 AND r.state <> 'published' AND (r.content_hash IS NOT NULL OR r.duplicate_of IS NOT NULL);

-- name: audit_part
SELECT r.id, r.kind || ' ' || r.uid, 'is published and stands in no part of the sitemap'
FROM resource r
WHERE r.id > $1 AND r.id <= $2 AND r.state = 'published'
	AND NOT EXISTS (SELECT 1 FROM sitemap_part s WHERE s.first_id <= r.id AND s.last_id >= r.id);

-- name: audit_link
SELECT l.resource_id, 'resource ' || l.resource_id, 'links to resource ' || l.target_id || ', which does not exist'
FROM link l
WHERE l.resource_id > $1 AND l.resource_id <= $2 AND NOT EXISTS (SELECT 1 FROM resource r WHERE r.id = l.target_id);

-- Addresses that the world was told of, by what was said then: an absolute URL that ends with the path, with or without a slash.
-- name: audit_reuse
SELECT r.id, r.kind || ' ' || r.uid, 'was published at ' || u.value || ', which is no address of it any more'
FROM resource r
JOIN outbox o ON o.aggregate = 'resource' AND o.aggregate_id = r.id AND o.topic IN ('resource.published', 'resource.moved')
JOIN json_each(json_array(json_extract(o.payload, '$.url'), json_extract(o.payload, '$.from'))) u ON u.value IS NOT NULL
WHERE r.id > $1 AND r.id <= $2 AND NOT EXISTS (SELECT 1 FROM path p WHERE p.resource_id = r.id
	AND ((substr(u.value, -length(p.path)) = p.path AND instr(substr(u.value, 9, length(u.value) - 8 - length(p.path)), '/') = 0)
		OR (substr(u.value, -length(p.path) - 1) = p.path || '/' AND instr(substr(u.value, 9, length(u.value) - 9 - length(p.path)), '/') = 0)));

-- name: audit_event
SELECT r.id, r.kind || ' ' || r.uid, 'has an event of version ' || o.event_version || ' and is at ' || r.event_version
FROM resource r JOIN outbox o ON o.aggregate = 'resource' AND o.aggregate_id = r.id AND o.event_version > r.event_version
WHERE r.id > $1 AND r.id <= $2;

-- name: audit_overdue
SELECT r.id, r.kind || ' ' || r.uid, 'should have been published by now'
FROM resource r
WHERE r.publish_at <= $1 - 120000 AND (r.state = 'scheduled' OR (r.state = 'published' AND r.scheduled_revision > r.live_revision))
UNION ALL
SELECT r.id, r.kind || ' ' || r.uid, 'should have been withdrawn by now'
FROM resource r WHERE r.withdraw_at <= $1 - 120000 AND r.state = 'published';

-- name: audit_request
SELECT 0, i.method || ' ' || i.route || ' ' || i.idempotency_key, 'is PROCESSING, and no operation is'
FROM idempotency_record i
WHERE i.status = 'PROCESSING' AND i.created_at <= $1
	AND NOT EXISTS (SELECT 1 FROM operation o WHERE o.id = i.operation_id AND o.state = 'PROCESSING');

-- name: audit_foreign_key
SELECT 0, f."table", 'row ' || coalesce(f.rowid, 0) || ' refers to a row of ' || f.parent || ' that is not there'
FROM pragma_foreign_key_check f WHERE $1 > 0;

-- name: audit_integrity
SELECT 0, 'database', i.integrity_check FROM pragma_integrity_check i WHERE i.integrity_check <> 'ok' AND $1 > 0;

-- Everything that the migrations make.
-- name: audit_schema
SELECT name, type, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name;

-- Addresses in their order.
-- name: audit_paths
SELECT path, role, coalesce(resource_id, 0), target, fold FROM path WHERE path > $1 ORDER BY path LIMIT $2;

-- Redirects that need their query, and rules.
-- name: audit_path_queries
SELECT path, pairs, target FROM path_query WHERE (path, pairs) > ($1, $2) ORDER BY path, pairs LIMIT $3;
