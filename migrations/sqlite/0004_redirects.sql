-- online
-- A redirect has an id, a version and a count of its hits. Rows that give a resource its own address have no id: they are read and written as that
-- resource, and creating one costs no more than before.
ALTER TABLE path ADD COLUMN uid TEXT;
ALTER TABLE path ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE path ADD COLUMN changed_at INTEGER;
ALTER TABLE path ADD COLUMN hits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE path ADD COLUMN last_hit_at INTEGER;
ALTER TABLE path_query ADD COLUMN uid TEXT;
ALTER TABLE path_query ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE path_query ADD COLUMN changed_at INTEGER;
ALTER TABLE path_query ADD COLUMN hits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE path_query ADD COLUMN last_hit_at INTEGER;
ALTER TABLE path_rule ADD COLUMN resource_id INTEGER REFERENCES resource (id);
ALTER TABLE path_rule ADD COLUMN uid TEXT;
ALTER TABLE path_rule ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE path_rule ADD COLUMN changed_at INTEGER;
ALTER TABLE path_rule ADD COLUMN hits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE path_rule ADD COLUMN last_hit_at INTEGER;
-- UUIDv7 of the time the row was made.
UPDATE path SET uid = substr(printf('%012x', created_at), 1, 8) || '-' || substr(printf('%012x', created_at), 9, 4) || '-7' ||
	substr(lower(hex(randomblob(2))), 1, 3) || '-8' || substr(lower(hex(randomblob(2))), 1, 3) || '-' || lower(hex(randomblob(6)))
WHERE role <> 'canonical';
UPDATE path_query SET uid = substr(printf('%012x', created_at), 1, 8) || '-' || substr(printf('%012x', created_at), 9, 4) || '-7' ||
	substr(lower(hex(randomblob(2))), 1, 3) || '-8' || substr(lower(hex(randomblob(2))), 1, 3) || '-' || lower(hex(randomblob(6)));
UPDATE path_rule SET uid = substr(printf('%012x', created_at), 1, 8) || '-' || substr(printf('%012x', created_at), 9, 4) || '-7' ||
	substr(lower(hex(randomblob(2))), 1, 3) || '-8' || substr(lower(hex(randomblob(2))), 1, 3) || '-' || lower(hex(randomblob(6)));
CREATE UNIQUE INDEX path_uid ON path (uid) WHERE uid IS NOT NULL;
CREATE UNIQUE INDEX path_query_uid ON path_query (uid) WHERE uid IS NOT NULL;
CREATE UNIQUE INDEX path_rule_uid ON path_rule (uid) WHERE uid IS NOT NULL;
-- The list of redirects skips the addresses that resources have.
CREATE INDEX path_redirects ON path (path) WHERE role <> 'canonical';
CREATE INDEX path_rule_by_resource ON path_rule (resource_id) WHERE resource_id IS NOT NULL;
-- The log of what was not found: the most asked for first.
CREATE INDEX not_found_by_hits ON not_found (hits, last_at, path);
