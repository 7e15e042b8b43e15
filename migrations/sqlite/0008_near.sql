-- online
-- What a live text is like: derived, and made after the commit, so that publishing does not wait for it. A block is 16 bits of the hash: near texts share one.
CREATE TABLE near_text (
	resource_id INTEGER PRIMARY KEY,
	locale TEXT NOT NULL,
	content_hash TEXT NOT NULL,
	hash INTEGER NOT NULL
) STRICT;
CREATE TABLE near_block (
	locale TEXT NOT NULL,
	block INTEGER NOT NULL,
	bits INTEGER NOT NULL,
	resource_id INTEGER NOT NULL,
	hash INTEGER NOT NULL,
	PRIMARY KEY (locale, block, bits, resource_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX near_block_by_resource ON near_block (resource_id);
