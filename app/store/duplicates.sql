-- Who had a text first. The two partial indexes on (locale, content_hash) serve these, so that the number of copies does not matter.

-- Those that are nobody's copy, longest first. Who has an override neither leads nor follows, so any number of them would only stand
-- before the others. The third column: may be the original of others; the fourth: is exempt from being a copy.
-- name: duplicates_originals
SELECT id, hash_since, live_noindex = 0, distinct_reason IS NOT NULL
FROM resource
WHERE locale = $1 AND content_hash = $2 AND duplicate_of IS NULL AND live_canonical IS NULL
ORDER BY hash_since, id LIMIT $3;

-- The longest holder among copies of the next original after $3.
-- name: duplicates_next_group
SELECT duplicate_of FROM resource
WHERE locale = $1 AND content_hash = $2 AND duplicate_of IS NOT NULL AND duplicate_of > $3
ORDER BY duplicate_of LIMIT 1;

-- name: duplicates_first_of_group
SELECT id, hash_since FROM resource
WHERE locale = $1 AND content_hash = $2 AND duplicate_of = $3 AND live_noindex = 0 AND live_canonical IS NULL
ORDER BY hash_since, id LIMIT 1;

-- name: duplicates_set
UPDATE resource SET duplicate_of = $1 WHERE id = $2;

-- name: duplicates_regroup
UPDATE resource SET duplicate_of = $1, event_version = event_version + 1
WHERE locale = $2 AND content_hash = $3 AND duplicate_of = $4 AND id <> $1
RETURNING id, event_version;

-- name: duplicates_release
UPDATE resource SET duplicate_of = NULL, event_version = event_version + 1
WHERE locale = $1 AND content_hash = $2 AND duplicate_of = $3
RETURNING id, event_version;

-- name: duplicates_decide
UPDATE resource
SET distinct_reason = $1, duplicate_of = NULL, edit_version = edit_version + 1, event_version = event_version + 1, changed_at = $2
WHERE id = $3 AND edit_version = $4;

-- What was given up for one that is now given up itself.
-- name: duplicates_merge_on
UPDATE resource SET merged_into = $1, event_version = event_version + 1
WHERE merged_into = $2
RETURNING id, event_version;

-- Every copy, by its original.
-- name: duplicates_list
SELECT d.id, d.uid, d.kind, d.live_title, dp.path, o.id, o.uid, o.kind, o.live_title, op.path, d.hash_since
FROM resource d
JOIN path dp ON dp.resource_id = d.id AND dp.role = 'canonical'
JOIN resource o ON o.id = d.duplicate_of
JOIN path op ON op.resource_id = o.id AND op.role = 'canonical'
WHERE d.duplicate_of IS NOT NULL AND (d.duplicate_of > $1 OR (d.duplicate_of = $1 AND d.id > $2))
ORDER BY d.duplicate_of, d.id LIMIT $3;

-- name: duplicates_count
SELECT count(*) FROM resource WHERE duplicate_of IS NOT NULL;
