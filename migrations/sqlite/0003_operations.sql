-- online
-- Long work: the keyed request that waits for it, how far it came, how often it was taken over, and its report line by line. The table was there
-- before, but nothing has ever been in it.
DROP TABLE operation;
CREATE TABLE operation (
	id TEXT PRIMARY KEY CHECK (length(id) = 36),
	kind TEXT NOT NULL,
	user_id INTEGER NOT NULL,
	scopes INTEGER NOT NULL,
	method TEXT,
	route TEXT,
	idempotency_key TEXT,
	request_id TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state = 'PROCESSING' OR state = 'SUCCESS' OR state = 'FAILED'),
	done INTEGER NOT NULL DEFAULT 0,
	total INTEGER NOT NULL DEFAULT 0,
	input TEXT NOT NULL DEFAULT '{}' CHECK (length(input) <= 4096),
	has_file INTEGER NOT NULL DEFAULT 0 CHECK (has_file IN (0, 1)),
	position TEXT NOT NULL DEFAULT '',
	report TEXT NOT NULL DEFAULT '',
	entries INTEGER NOT NULL DEFAULT 0,
	error TEXT,
	retryable INTEGER NOT NULL DEFAULT 0 CHECK (retryable IN (0, 1)),
	lease_until INTEGER NOT NULL DEFAULT 0, -- 0 while nobody carries it out
	generation INTEGER NOT NULL DEFAULT 1,
	attempts INTEGER NOT NULL DEFAULT 1,
	owner_token TEXT,
	created_at INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX operation_open ON operation (lease_until, id) WHERE state = 'PROCESSING';
CREATE INDEX operation_by_user ON operation (user_id, id);
CREATE INDEX operation_finished ON operation (changed_at) WHERE state <> 'PROCESSING';

CREATE TABLE operation_entry (
	operation_id TEXT NOT NULL,
	number INTEGER NOT NULL,
	part INTEGER NOT NULL,
	result TEXT NOT NULL,
	subject TEXT,
	code TEXT,
	detail TEXT,
	PRIMARY KEY (operation_id, number, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX processed_message_by_time ON processed_message (processed_at);
