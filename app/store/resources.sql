-- Resource rows. Columns of the five loading statements are the same, in the order that resources.c reads.

-- name: resource_by_id
SELECT r.id, r.uid, r.kind, r.locale, r.state, r.slug, r.parent_id, r.edit_version, r.event_version, r.head_revision, r.live_revision,
	r.scheduled_revision, r.publish_at, r.withdraw_at, r.first_published_at, r.live_changed_at, r.live_title, r.live_summary, r.live_noindex,
	r.live_canonical, r.live_author, r.is_sticky, r.content_hash, r.hash_since, r.duplicate_of, r.distinct_reason, r.merged_into, r.client_ref, r.ref_hash,
	r.ref_source, r.guid, r.owner_user, r.created_at, r.changed_at, p.path
FROM resource r LEFT JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
WHERE r.id = $1;

-- name: resource_by_uid
SELECT r.id, r.uid, r.kind, r.locale, r.state, r.slug, r.parent_id, r.edit_version, r.event_version, r.head_revision, r.live_revision,
	r.scheduled_revision, r.publish_at, r.withdraw_at, r.first_published_at, r.live_changed_at, r.live_title, r.live_summary, r.live_noindex,
	r.live_canonical, r.live_author, r.is_sticky, r.content_hash, r.hash_since, r.duplicate_of, r.distinct_reason, r.merged_into, r.client_ref, r.ref_hash,
	r.ref_source, r.guid, r.owner_user, r.created_at, r.changed_at, p.path
FROM resource r LEFT JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
WHERE r.uid = $1 AND r.kind = $2;

-- Pages under different parents may share a slug: the live one answers first, then the eldest.
-- name: resource_by_slug
SELECT r.id, r.uid, r.kind, r.locale, r.state, r.slug, r.parent_id, r.edit_version, r.event_version, r.head_revision, r.live_revision,
	r.scheduled_revision, r.publish_at, r.withdraw_at, r.first_published_at, r.live_changed_at, r.live_title, r.live_summary, r.live_noindex,
	r.live_canonical, r.live_author, r.is_sticky, r.content_hash, r.hash_since, r.duplicate_of, r.distinct_reason, r.merged_into, r.client_ref, r.ref_hash,
	r.ref_source, r.guid, r.owner_user, r.created_at, r.changed_at, p.path
FROM resource r LEFT JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
WHERE r.kind = $1 AND r.slug = $2
ORDER BY r.state <> 'published', r.id
LIMIT 1;

-- name: resource_by_ref
SELECT r.id, r.uid, r.kind, r.locale, r.state, r.slug, r.parent_id, r.edit_version, r.event_version, r.head_revision, r.live_revision,
	r.scheduled_revision, r.publish_at, r.withdraw_at, r.first_published_at, r.live_changed_at, r.live_title, r.live_summary, r.live_noindex,
	r.live_canonical, r.live_author, r.is_sticky, r.content_hash, r.hash_since, r.duplicate_of, r.distinct_reason, r.merged_into, r.client_ref, r.ref_hash,
	r.ref_source, r.guid, r.owner_user, r.created_at, r.changed_at, p.path
FROM resource r LEFT JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
WHERE r.ref_source = $1 AND r.client_ref = $2;

-- name: resource_by_path
SELECT r.id, r.uid, r.kind, r.locale, r.state, r.slug, r.parent_id, r.edit_version, r.event_version, r.head_revision, r.live_revision,
	r.scheduled_revision, r.publish_at, r.withdraw_at, r.first_published_at, r.live_changed_at, r.live_title, r.live_summary, r.live_noindex,
	r.live_canonical, r.live_author, r.is_sticky, r.content_hash, r.hash_since, r.duplicate_of, r.distinct_reason, r.merged_into, r.client_ref, r.ref_hash,
	r.ref_source, r.guid, r.owner_user, r.created_at, r.changed_at, p.path
FROM resource r LEFT JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
WHERE r.id = (SELECT resource_id FROM path WHERE path = $1) AND r.kind = $2;

-- name: resource_insert
INSERT INTO resource (uid, kind, locale, state, slug, parent_id, edit_version, event_version, head_revision, live_revision, scheduled_revision,
	publish_at, first_published_at, live_changed_at, live_title, live_summary, live_noindex, live_canonical, live_author, is_sticky, content_hash,
	hash_since, ref_source, client_ref, ref_hash, guid, name_fold, owner_user, created_at, changed_at)
VALUES ($1, $2, $3, $4, $5, $6, 1, 1, 1, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)
ON CONFLICT (ref_source, client_ref) WHERE client_ref IS NOT NULL DO NOTHING;

-- name: resource_set_address
UPDATE resource SET slug = $1, live_canonical = $2 WHERE id = $3;

-- name: resource_readdress
UPDATE resource
SET slug = $1, parent_id = $2, live_canonical = $3, edit_version = edit_version + 1, event_version = event_version + 1, changed_at = $4
WHERE id = $5 AND edit_version = $6;

-- name: resource_edit
UPDATE resource
SET head_revision = $1, slug = $2, parent_id = $3, name_fold = CASE WHEN live_revision IS NULL THEN $4 ELSE name_fold END, edit_version = edit_version + 1, changed_at = $5
WHERE id = $6 AND edit_version = $7;

-- name: resource_publish
UPDATE resource
SET state = 'published', live_revision = $1, scheduled_revision = NULL, publish_at = NULL, first_published_at = $2, live_changed_at = $3,
	live_title = $4, live_summary = $5, live_noindex = $6, live_canonical = $7, live_author = $8, content_hash = $9, hash_since = $10,
	name_fold = $11, duplicate_of = NULL, edit_version = edit_version + 1, event_version = event_version + 1, changed_at = $12
WHERE id = $13 AND state = $14 AND edit_version = $15;

-- Away from the public, or back from the dead.
-- name: resource_leave
UPDATE resource
SET state = $1, withdraw_at = NULL, publish_at = NULL, scheduled_revision = NULL, content_hash = NULL, hash_since = NULL,
	duplicate_of = NULL, merged_into = $2, edit_version = edit_version + 1, event_version = event_version + 1, changed_at = $3
WHERE id = $4 AND state = $5 AND edit_version = $6;

-- name: resource_schedule
UPDATE resource
SET state = $1, scheduled_revision = $2, publish_at = $3, withdraw_at = $4, edit_version = edit_version + 1,
	event_version = event_version + 1, changed_at = $5
WHERE id = $6 AND state = $7 AND edit_version = $8;

-- Does anything refer to it that would miss it?
-- name: resource_is_used
SELECT EXISTS (SELECT 1 FROM path WHERE resource_id = $1 AND (was_public = 1 OR role <> 'canonical'))
	OR EXISTS (SELECT 1 FROM path_query WHERE resource_id = $1) OR EXISTS (SELECT 1 FROM path_rule WHERE resource_id = $1)
	OR EXISTS (SELECT 1 FROM resource WHERE parent_id = $1) OR EXISTS (SELECT 1 FROM resource WHERE live_author = $1)
	OR EXISTS (SELECT 1 FROM resource WHERE duplicate_of = $1) OR EXISTS (SELECT 1 FROM resource WHERE merged_into = $1)
	OR EXISTS (SELECT 1 FROM revision WHERE author_id = $1)
	OR EXISTS (SELECT 1 FROM user WHERE author_id = $1) OR EXISTS (SELECT 1 FROM live_tag WHERE tag_id = $1);

-- name: resource_remove_links
DELETE FROM link WHERE resource_id = $1;

-- name: resource_remove_rendered
DELETE FROM rendered WHERE resource_id = $1;

-- name: resource_remove_revisions
DELETE FROM revision WHERE resource_id = $1;

-- name: resource_remove_autosaves
DELETE FROM autosave WHERE uid = $1;

-- name: resource_remove
DELETE FROM resource WHERE id = $1 AND edit_version = $2;

-- name: resource_note
UPDATE resource SET event_version = event_version + 1 WHERE id = $1 RETURNING event_version;

-- name: resource_due
SELECT id, scheduled_revision FROM resource
WHERE publish_at <= $1 AND (state = 'scheduled' OR (state = 'published' AND scheduled_revision > live_revision))
ORDER BY publish_at, id
LIMIT $2;

-- name: resource_due_out
SELECT id FROM resource WHERE withdraw_at <= $1 AND state = 'published' ORDER BY withdraw_at, id LIMIT $2;

-- name: resource_owner
SELECT owner_user FROM resource WHERE id = $1;

-- name: resource_live_by_author
SELECT id FROM resource WHERE live_author = $1 AND state = 'published' AND id <> $2 LIMIT 1;

-- A page's ancestors, the nearest first, itself not among them.
-- name: resource_ancestors
WITH RECURSIVE up (id, depth) AS (
	SELECT parent_id, 1 FROM resource WHERE id = $1
	UNION ALL
	SELECT r.parent_id, up.depth + 1 FROM up JOIN resource r ON r.id = up.id WHERE up.id IS NOT NULL AND up.depth < 40
)
SELECT id, depth FROM up WHERE id IS NOT NULL ORDER BY depth;

-- The paths of everything below a page.
-- name: resource_descendants
WITH RECURSIVE down (id, depth) AS (
	SELECT id, 1 FROM resource WHERE parent_id = $1
	UNION ALL
	SELECT r.id, down.depth + 1 FROM down JOIN resource r ON r.parent_id = down.id WHERE down.depth < 40
)
SELECT down.id, p.path, p.fold, p.was_public, down.depth
FROM down JOIN path p ON p.resource_id = down.id AND p.role = 'canonical'
ORDER BY down.depth, down.id
LIMIT $2;

-- Lists of the API. $2 is the state or NULL, $3 the tag, $4 the author, $5 the locale, $6 the lower bound of changed_at, $7 the reader
-- who sees everything (1) or what is live and own (0, $8). $9 and $10 are the place to go on from.

-- name: resource_list_created_down
SELECT r.id FROM resource r
WHERE r.kind = $1 AND ($2 IS NULL OR r.state = $2)
	AND ($3 IS NULL OR EXISTS (SELECT 1 FROM live_tag t WHERE t.resource_id = r.id AND t.tag_id = $3))
	AND ($4 IS NULL OR r.live_author = $4) AND ($5 IS NULL OR r.locale = $5) AND r.changed_at >= $6
	AND ($7 = 1 OR r.state = 'published' OR r.owner_user = $8)
	AND (r.created_at, r.id) < ($9, $10)
ORDER BY r.created_at DESC, r.id DESC LIMIT $11;

-- name: resource_list_created_up
SELECT r.id FROM resource r
WHERE r.kind = $1 AND ($2 IS NULL OR r.state = $2)
	AND ($3 IS NULL OR EXISTS (SELECT 1 FROM live_tag t WHERE t.resource_id = r.id AND t.tag_id = $3))
	AND ($4 IS NULL OR r.live_author = $4) AND ($5 IS NULL OR r.locale = $5) AND r.changed_at >= $6
	AND ($7 = 1 OR r.state = 'published' OR r.owner_user = $8)
	AND (r.created_at, r.id) > ($9, $10)
ORDER BY r.created_at, r.id LIMIT $11;

-- name: resource_list_changed_down
SELECT r.id FROM resource r
WHERE r.kind = $1 AND ($2 IS NULL OR r.state = $2)
	AND ($3 IS NULL OR EXISTS (SELECT 1 FROM live_tag t WHERE t.resource_id = r.id AND t.tag_id = $3))
	AND ($4 IS NULL OR r.live_author = $4) AND ($5 IS NULL OR r.locale = $5) AND r.changed_at >= $6
	AND ($7 = 1 OR r.state = 'published' OR r.owner_user = $8)
	AND (r.changed_at, r.id) < ($9, $10)
ORDER BY r.changed_at DESC, r.id DESC LIMIT $11;

-- name: resource_list_changed_up
SELECT r.id FROM resource r
WHERE r.kind = $1 AND ($2 IS NULL OR r.state = $2)
	AND ($3 IS NULL OR EXISTS (SELECT 1 FROM live_tag t WHERE t.resource_id = r.id AND t.tag_id = $3))
	AND ($4 IS NULL OR r.live_author = $4) AND ($5 IS NULL OR r.locale = $5) AND r.changed_at >= $6
	AND ($7 = 1 OR r.state = 'published' OR r.owner_user = $8)
	AND (r.changed_at, r.id) > ($9, $10)
ORDER BY r.changed_at, r.id LIMIT $11;
