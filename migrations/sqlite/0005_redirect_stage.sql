-- online
-- Redirects of a file while it is imported: read first, checked as a whole, then applied in small batches.
CREATE TABLE redirect_stage (
	run TEXT NOT NULL,
	source TEXT NOT NULL,
	line INTEGER NOT NULL,
	fold TEXT,
	target TEXT,
	status INTEGER NOT NULL,
	note TEXT,
	PRIMARY KEY (run, source)
) STRICT, WITHOUT ROWID;
