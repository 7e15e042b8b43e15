-- online
-- A copy that was given up for its original: it is gone, and all its addresses lead to where the original is.
ALTER TABLE resource ADD COLUMN merged_into INTEGER REFERENCES resource (id) CHECK (merged_into IS NULL OR (state = 'gone' AND merged_into <> id));
CREATE INDEX resource_by_merged ON resource (merged_into) WHERE merged_into IS NOT NULL;
