-- Settings that live in the database.

-- name: setting_list
SELECT key, value FROM setting ORDER BY key;

-- name: setting_put
INSERT INTO setting (key, value, changed_at) VALUES ($1, $2, $3)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at;
