-- Truth: what people wrote, decided and were promised. Times are Unix ms UTC.
-- Checks say OR where a list would do: SQLite builds a temporary table for a list of three and more, for every row written.

CREATE TABLE schema_migration (
	version INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
	applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE setting (
	key TEXT PRIMARY KEY,
	value TEXT NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE user (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64),
	role TEXT NOT NULL CHECK (role = 'admin' OR role = 'editor' OR role = 'author' OR role = 'viewer'),
	password TEXT,
	is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
	author_id INTEGER REFERENCES resource (id),
	created_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;

CREATE TABLE session (
	id_hash TEXT PRIMARY KEY CHECK (length(id_hash) = 64),
	user_id INTEGER NOT NULL REFERENCES user (id),
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_token (
	token_hash TEXT PRIMARY KEY CHECK (length(token_hash) = 64),
	user_id INTEGER NOT NULL REFERENCES user (id),
	scopes TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER,
	revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_entry (
	id INTEGER PRIMARY KEY,
	at INTEGER NOT NULL,
	user_id INTEGER,
	action TEXT NOT NULL,
	subject TEXT NOT NULL,
	detail TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE resource (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	uid TEXT NOT NULL UNIQUE CHECK (length(uid) = 36),
	kind TEXT NOT NULL CHECK (kind = 'article' OR kind = 'page' OR kind = 'tag' OR kind = 'author'),
	locale TEXT NOT NULL,
	translation_group INTEGER,
	state TEXT NOT NULL CHECK (state = 'draft' OR state = 'scheduled' OR state = 'published' OR state = 'withdrawn' OR state = 'gone'),
	slug TEXT NOT NULL CHECK (length(slug) > 0),
	parent_id INTEGER REFERENCES resource (id),
	edit_version INTEGER NOT NULL DEFAULT 1 CHECK (edit_version >= 1),
	event_version INTEGER NOT NULL DEFAULT 1 CHECK (event_version >= 1),
	head_revision INTEGER NOT NULL,
	live_revision INTEGER,
	scheduled_revision INTEGER,
	publish_at INTEGER,
	withdraw_at INTEGER,
	first_published_at INTEGER,
	live_changed_at INTEGER,
	live_title TEXT,
	live_summary TEXT,
	live_noindex INTEGER NOT NULL DEFAULT 0 CHECK (live_noindex IN (0, 1)),
	live_canonical TEXT,
	live_author INTEGER REFERENCES resource (id),
	is_sticky INTEGER NOT NULL DEFAULT 0 CHECK (is_sticky IN (0, 1)),
	content_hash TEXT,
	hash_since INTEGER,
	duplicate_of INTEGER REFERENCES resource (id) CHECK (duplicate_of IS NULL OR duplicate_of <> id),
	distinct_reason TEXT,
	ref_source TEXT,
	client_ref TEXT,
	ref_hash TEXT,
	guid TEXT,
	name_fold TEXT,
	owner_user INTEGER REFERENCES user (id),
	created_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL,
	CHECK (state <> 'published' OR (live_revision IS NOT NULL AND first_published_at IS NOT NULL AND live_changed_at IS NOT NULL)),
	CHECK (state <> 'scheduled' OR (scheduled_revision IS NOT NULL AND publish_at IS NOT NULL)),
	CHECK (client_ref IS NULL OR (ref_source IS NOT NULL AND ref_hash IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX resource_client_ref ON resource (ref_source, client_ref) WHERE client_ref IS NOT NULL;
CREATE INDEX resource_by_kind_created ON resource (kind, created_at, id);
CREATE INDEX resource_by_kind_changed ON resource (kind, changed_at, id);
CREATE INDEX resource_live ON resource (kind, is_sticky, first_published_at, id) WHERE state = 'published';
CREATE INDEX resource_live_author ON resource (live_author, first_published_at, id) WHERE state = 'published';
-- Who has a text, longest first: one index for those who count as its original, one for those who do not.
CREATE INDEX resource_originals ON resource (locale, content_hash, hash_since, id) WHERE content_hash IS NOT NULL AND duplicate_of IS NULL;
CREATE INDEX resource_copies ON resource (locale, content_hash, duplicate_of, hash_since, id) WHERE content_hash IS NOT NULL AND duplicate_of IS NOT NULL;
-- Tags and authors are found by the fold of their name.
CREATE INDEX resource_by_name ON resource (kind, locale, name_fold) WHERE name_fold IS NOT NULL;
CREATE INDEX resource_duplicates ON resource (duplicate_of) WHERE duplicate_of IS NOT NULL;
CREATE INDEX resource_children ON resource (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX resource_due ON resource (publish_at) WHERE publish_at IS NOT NULL;
CREATE INDEX resource_due_out ON resource (withdraw_at) WHERE withdraw_at IS NOT NULL;
CREATE INDEX resource_by_slug ON resource (kind, slug);

CREATE TABLE revision (
	resource_id INTEGER NOT NULL REFERENCES resource (id),
	number INTEGER NOT NULL CHECK (number >= 1),
	title TEXT NOT NULL,
	format TEXT NOT NULL CHECK (format IN ('markdown', 'html')),
	summary TEXT,
	author_id INTEGER REFERENCES resource (id),
	tags TEXT NOT NULL DEFAULT '[]',
	noindex INTEGER NOT NULL DEFAULT 0 CHECK (noindex IN (0, 1)),
	canonical TEXT,
	seo TEXT NOT NULL DEFAULT '{}',
	fields TEXT NOT NULL DEFAULT '{}',
	editor_user INTEGER REFERENCES user (id),
	created_at INTEGER NOT NULL,
	source TEXT NOT NULL, -- last: what stands behind a long value costs a walk through its pages
	PRIMARY KEY (resource_id, number)
) STRICT;
CREATE TRIGGER revision_is_immutable BEFORE UPDATE ON revision
BEGIN
	SELECT raise(ABORT, 'a revision never changes');
END;

CREATE TABLE autosave (
	user_id INTEGER NOT NULL REFERENCES user (id),
	uid TEXT NOT NULL,
	seq INTEGER NOT NULL,
	fields TEXT NOT NULL,
	changed_at INTEGER NOT NULL,
	PRIMARY KEY (user_id, uid)
) STRICT, WITHOUT ROWID;

-- One meaning per path. The home page and reserved names are routes and cannot be stored. `role` says how the address came to be; a resource's state says what it answers.
CREATE TABLE path (
	path TEXT PRIMARY KEY CHECK (substr(path, 1, 1) = '/' AND length(path) BETWEEN 2 AND 2000 AND substr(path, -1) <> '/'),
	fold TEXT NOT NULL,
	role TEXT NOT NULL CHECK (role = 'canonical' OR role = 'alias' OR role = 'external' OR role = 'gone'),
	resource_id INTEGER REFERENCES resource (id),
	target TEXT,
	status INTEGER NOT NULL DEFAULT 301 CHECK (status = 301 OR status = 302 OR status = 307 OR status = 308 OR status = 410 OR status = 451),
	was_public INTEGER NOT NULL DEFAULT 0 CHECK (was_public IN (0, 1)),
	was_canonical INTEGER NOT NULL DEFAULT 0 CHECK (was_canonical IN (0, 1)),
	note TEXT,
	created_at INTEGER NOT NULL,
	CHECK (CASE role
		WHEN 'canonical' THEN resource_id IS NOT NULL AND target IS NULL AND was_canonical = 1
		WHEN 'alias' THEN resource_id IS NOT NULL AND target IS NULL AND (status = 301 OR status = 302 OR status = 307 OR status = 308)
		WHEN 'external' THEN resource_id IS NULL AND target IS NOT NULL AND (status = 301 OR status = 302 OR status = 307 OR status = 308)
		ELSE resource_id IS NULL AND target IS NULL AND status IN (410, 451) END)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX path_one_canonical ON path (resource_id) WHERE role = 'canonical';
CREATE UNIQUE INDEX path_fold_canonical ON path (fold) WHERE was_canonical = 1;
CREATE INDEX path_by_fold ON path (fold);
CREATE INDEX path_by_resource ON path (resource_id);

-- Old addresses that need their query to be told apart: /?p=12. `pairs` is the sorted raw query, "p=12".
CREATE TABLE path_query (
	path TEXT NOT NULL,
	pairs TEXT NOT NULL CHECK (length(pairs) > 0),
	resource_id INTEGER REFERENCES resource (id),
	target TEXT,
	status INTEGER NOT NULL DEFAULT 301 CHECK (status = 301 OR status = 302 OR status = 307 OR status = 308),
	note TEXT,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (path, pairs),
	CHECK ((resource_id IS NULL) <> (target IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX path_query_by_resource ON path_query (resource_id);

CREATE TABLE path_rule (
	id INTEGER PRIMARY KEY,
	pattern TEXT NOT NULL UNIQUE,
	target TEXT NOT NULL,
	status INTEGER NOT NULL DEFAULT 301 CHECK (status = 301 OR status = 302 OR status = 307 OR status = 308 OR status = 410 OR status = 451),
	note TEXT,
	created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE idempotency_record (
	user_id INTEGER NOT NULL,
	method TEXT NOT NULL,
	route TEXT NOT NULL,
	idempotency_key TEXT NOT NULL CHECK (length(idempotency_key) BETWEEN 16 AND 64),
	request_hash TEXT NOT NULL CHECK (length(request_hash) = 64),
	hash_version INTEGER NOT NULL,
	status TEXT NOT NULL CHECK (status = 'PROCESSING' OR status = 'SUCCESS' OR status = 'FAILED'),
	retryable INTEGER NOT NULL DEFAULT 0 CHECK (retryable IN (0, 1)),
	response_status INTEGER,
	response_headers TEXT NOT NULL DEFAULT '{}',
	response_body TEXT NOT NULL DEFAULT '' CHECK (length(response_body) <= 4096),
	resource_type TEXT,
	resource_id INTEGER,
	operation_id TEXT,
	owner_token TEXT,
	generation INTEGER NOT NULL DEFAULT 1,
	lease_until INTEGER,
	attempts INTEGER NOT NULL DEFAULT 1,
	first_request_id TEXT NOT NULL,
	last_request_id TEXT NOT NULL,
	replay_count INTEGER NOT NULL DEFAULT 0,
	conflict_count INTEGER NOT NULL DEFAULT 0,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	expired_at INTEGER NOT NULL,
	CHECK (status = 'PROCESSING' OR response_status IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX idempotency_scope ON idempotency_record (user_id, method, route, idempotency_key);
CREATE INDEX idempotency_expiry ON idempotency_record (expired_at);

CREATE TABLE processed_message (
	source TEXT NOT NULL,
	message_id TEXT NOT NULL CHECK (length(message_id) BETWEEN 1 AND 128),
	processed_at INTEGER NOT NULL,
	PRIMARY KEY (source, message_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	aggregate TEXT NOT NULL,
	aggregate_id INTEGER NOT NULL,
	event_version INTEGER NOT NULL,
	topic TEXT NOT NULL,
	payload TEXT NOT NULL,
	created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX outbox_once ON outbox (aggregate, aggregate_id, event_version, topic);

CREATE TABLE delivery (
	outbox_id INTEGER NOT NULL REFERENCES outbox (id),
	sink TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state = 'pending' OR state = 'claimed' OR state = 'done' OR state = 'dead'),
	attempts INTEGER NOT NULL DEFAULT 0,
	next_at INTEGER NOT NULL,
	lease_until INTEGER,
	owner TEXT,
	last_error TEXT,
	PRIMARY KEY (outbox_id, sink)
) STRICT, WITHOUT ROWID;

CREATE TABLE operation (
	id TEXT PRIMARY KEY,
	kind TEXT NOT NULL,
	user_id INTEGER NOT NULL,
	state TEXT NOT NULL CHECK (state = 'PROCESSING' OR state = 'SUCCESS' OR state = 'FAILED'),
	done INTEGER NOT NULL DEFAULT 0,
	total INTEGER NOT NULL DEFAULT 0,
	input TEXT NOT NULL DEFAULT '',
	report TEXT NOT NULL DEFAULT '',
	error TEXT,
	retryable INTEGER NOT NULL DEFAULT 0 CHECK (retryable IN (0, 1)),
	lease_until INTEGER,
	generation INTEGER NOT NULL DEFAULT 1,
	owner_token TEXT,
	created_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE change_log (
	seq INTEGER PRIMARY KEY AUTOINCREMENT,
	dependencies TEXT NOT NULL,
	created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE media (
	id INTEGER PRIMARY KEY,
	sha256 TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64),
	name TEXT NOT NULL,
	type TEXT NOT NULL,
	bytes INTEGER NOT NULL,
	width INTEGER,
	height INTEGER,
	source_url TEXT,
	created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX media_by_source ON media (source_url) WHERE source_url IS NOT NULL;

CREATE TABLE webhook (
	id INTEGER PRIMARY KEY,
	url TEXT NOT NULL UNIQUE,
	topics TEXT NOT NULL,
	is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
	created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE not_found (
	path TEXT PRIMARY KEY,
	hits INTEGER NOT NULL,
	first_at INTEGER NOT NULL,
	last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Derived: may be dropped and made again from the tables above.

CREATE TABLE rendered (
	resource_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	renderer_version INTEGER NOT NULL,
	excerpt TEXT NOT NULL,
	links TEXT NOT NULL,
	images TEXT NOT NULL,
	html TEXT NOT NULL,
	PRIMARY KEY (resource_id, number)
) STRICT;

CREATE TABLE live_tag (
	tag_id INTEGER NOT NULL,
	published_at INTEGER NOT NULL,
	resource_id INTEGER NOT NULL,
	position INTEGER NOT NULL,
	PRIMARY KEY (tag_id, published_at, resource_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX live_tag_by_resource ON live_tag (resource_id, tag_id);

CREATE TABLE link (
	resource_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	position INTEGER NOT NULL,
	target_id INTEGER NOT NULL,
	PRIMARY KEY (resource_id, number, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_by_target ON link (target_id);

CREATE TABLE sitemap_part (
	first_id INTEGER PRIMARY KEY,
	last_id INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;

-- Published, indexable, self-canonical, unique: nothing else feeds the sitemap. Home has id 0.
CREATE VIEW sitemap_entry AS
SELECT r.id AS id, r.kind AS kind, p.path AS path, r.live_changed_at AS changed_at
FROM resource r
JOIN path p ON p.resource_id = r.id AND p.role = 'canonical'
WHERE r.state = 'published'
	AND r.live_noindex = 0
	AND r.live_canonical IS NULL
	AND r.duplicate_of IS NULL
	AND CASE r.kind
		WHEN 'tag' THEN EXISTS (SELECT 1 FROM live_tag t WHERE t.tag_id = r.id)
		WHEN 'author' THEN EXISTS (SELECT 1 FROM resource a WHERE a.live_author = r.id AND a.state = 'published')
		ELSE 1 END
UNION ALL
SELECT 0, 'home', '/', coalesce((SELECT max(live_changed_at) FROM resource WHERE kind = 'article' AND state = 'published'), 0);
