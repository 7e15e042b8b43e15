-- Records of keyed requests.

-- name: idempotency_claim
INSERT INTO idempotency_record (user_id, method, route, idempotency_key, request_hash, hash_version, status, first_request_id, last_request_id,
	created_at, updated_at, expired_at)
VALUES ($1, $2, $3, $4, $5, $6, 'PROCESSING', $7, $7, $8, $8, $9)
ON CONFLICT (user_id, method, route, idempotency_key) DO UPDATE
SET request_hash = excluded.request_hash, hash_version = excluded.hash_version, status = 'PROCESSING', retryable = 0, response_status = NULL,
	response_headers = '{}', response_body = '', resource_type = NULL, resource_id = NULL, operation_id = NULL, owner_token = NULL, generation = 1,
	lease_until = NULL, attempts = 1, first_request_id = excluded.first_request_id, last_request_id = excluded.last_request_id, replay_count = 0,
	conflict_count = 0, created_at = excluded.created_at, updated_at = excluded.updated_at, expired_at = excluded.expired_at
WHERE idempotency_record.expired_at <= $8 AND idempotency_record.status <> 'PROCESSING';

-- name: idempotency_finish
UPDATE idempotency_record
SET status = $1, response_status = $2, response_headers = $3, response_body = $4, resource_type = $5, resource_id = $6
WHERE user_id = $7 AND method = $8 AND route = $9 AND idempotency_key = $10 AND status = 'PROCESSING';

-- name: idempotency_load
SELECT request_hash, status, response_status, response_headers, response_body, resource_type, resource_id, expired_at, operation_id,
	retryable
FROM idempotency_record
WHERE user_id = $1 AND method = $2 AND route = $3 AND idempotency_key = $4;

-- name: idempotency_count
UPDATE idempotency_record
SET replay_count = replay_count + $1, conflict_count = conflict_count + $2, last_request_id = $3, updated_at = $4
WHERE user_id = $5 AND method = $6 AND route = $7 AND idempotency_key = $8;

-- name: idempotency_purge
DELETE FROM idempotency_record
WHERE rowid IN (SELECT rowid FROM idempotency_record WHERE expired_at <= $1 AND status <> 'PROCESSING' ORDER BY expired_at LIMIT $2);

-- The unique indexes that must stand before a record may be forgotten, as sqlite_schema has them.
-- name: idempotency_guards
SELECT count(*) FROM pragma_index_list($1) i
WHERE i.name = $2 AND i."unique" = 1;
