-- online
-- Whoever removes a resource that was never public asks who refers to it, and so does the database: each reference needs its index.
CREATE INDEX revision_by_author ON revision (author_id) WHERE author_id IS NOT NULL;
DROP INDEX resource_live_author;
CREATE INDEX resource_live_author ON resource (live_author, state, first_published_at, id) WHERE live_author IS NOT NULL;
CREATE INDEX autosave_by_uid ON autosave (uid);
