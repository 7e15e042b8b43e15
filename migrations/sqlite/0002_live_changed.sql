-- online
-- When the home page last changed is the time of the latest live article: without this index all of them are read to know it.
CREATE INDEX resource_live_changed ON resource (kind, live_changed_at) WHERE state = 'published';
