-- What the driver itself keeps: applied migrations, and the log of what changed.

-- name: migration_list
SELECT version, name, sha256 FROM schema_migration ORDER BY version

-- name: migration_current
SELECT coalesce(max(version), 0) FROM schema_migration

-- name: migration_insert
INSERT INTO schema_migration (version, name, sha256, applied_at) VALUES ($1, $2, $3, $4)

-- name: change_log_insert
INSERT INTO change_log (dependencies, created_at) VALUES ($1, $2) RETURNING seq

-- name: change_log_after
SELECT seq, dependencies FROM change_log WHERE seq > $1 ORDER BY seq LIMIT $2

-- name: change_log_last
SELECT coalesce(max(seq), 0) FROM change_log
