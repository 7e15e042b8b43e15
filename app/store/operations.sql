-- Long work and its reports. Only the owner of a lease moves an operation on: every write carries generation and owner.

-- name: operation_insert
INSERT INTO operation (id, kind, user_id, scopes, method, route, idempotency_key, request_id, state, total, input, has_file, lease_until, created_at, changed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'PROCESSING', $9, $10, $11, 0, $12, $12)

-- name: operation_load
SELECT id, kind, user_id, scopes, method, route, idempotency_key, request_id, state, done, total, input, has_file, position, report, error, retryable, entries,
	lease_until, generation, attempts, owner_token, created_at, changed_at
FROM operation WHERE id = $1

-- name: operation_next
SELECT id, kind, user_id, scopes, method, route, idempotency_key, request_id, state, done, total, input, has_file, position, report, error, retryable, entries,
	lease_until, generation, attempts, owner_token, created_at, changed_at
FROM operation WHERE state = 'PROCESSING' AND lease_until <= $1 ORDER BY lease_until, id LIMIT 1

-- name: operation_count_open
SELECT count(*) FROM (SELECT 1 FROM operation WHERE state = 'PROCESSING' AND lease_until >= 0 LIMIT $1)

-- name: operation_list
SELECT id, kind, user_id, scopes, method, route, idempotency_key, request_id, state, done, total, input, has_file, position, report, error, retryable, entries,
	lease_until, generation, attempts, owner_token, created_at, changed_at
FROM operation WHERE user_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3

-- name: operation_take
UPDATE operation
SET generation = generation + (lease_until > 0), attempts = attempts + (lease_until > 0), owner_token = $1, lease_until = $2, changed_at = $3
WHERE id = $4 AND state = 'PROCESSING' AND generation = $5 AND lease_until <= $3 AND (lease_until = 0 OR attempts <= $6)

-- name: operation_free
UPDATE operation
SET generation = generation + 1, attempts = attempts + 1, owner_token = NULL, lease_until = 0, changed_at = $1
WHERE id = $2 AND state = 'PROCESSING' AND lease_until > 0 AND lease_until <= $1 AND attempts <= $3

-- name: operation_revive
UPDATE operation
SET state = 'PROCESSING', error = NULL, retryable = 0, generation = generation + 1, attempts = 1, owner_token = NULL, lease_until = 0, changed_at = $1
WHERE id = $2 AND state = 'FAILED' AND retryable = 1

-- name: operation_move
UPDATE operation
SET done = $1, total = $2, position = $3, report = $4, entries = $5, owner_token = $6, lease_until = $7, changed_at = $8
WHERE id = $9 AND state = 'PROCESSING' AND generation = $10 AND owner_token = $11

-- name: operation_finish
UPDATE operation
SET state = $1, error = $2, retryable = $3, done = $4, total = $5, position = $6, report = $7, entries = $8, owner_token = NULL, lease_until = 0,
	generation = generation + 1, changed_at = $9
WHERE id = $10 AND state = 'PROCESSING' AND generation = $11 AND ($12 IS NULL OR owner_token = $12)

-- name: operation_entry_add
INSERT INTO operation_entry (operation_id, number, part, result, subject, code, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING

-- name: operation_entries
SELECT number, part, result, subject, code, detail
FROM operation_entry WHERE operation_id = $1 AND (number, part) > ($2, $3) ORDER BY number, part LIMIT $4

-- name: operation_entries_purge
DELETE FROM operation_entry
WHERE (operation_id, number, part) IN (
	SELECT e.operation_id, e.number, e.part
	FROM operation o JOIN operation_entry e ON e.operation_id = o.id
	WHERE o.state <> 'PROCESSING' AND o.changed_at < $1
	LIMIT $2
)

-- name: operation_purge
DELETE FROM operation
WHERE id IN (
	SELECT o.id FROM operation o
	WHERE o.state <> 'PROCESSING' AND o.changed_at < $1
		AND NOT EXISTS (SELECT 1 FROM operation_entry e WHERE e.operation_id = o.id)
		AND NOT (o.retryable = 1 AND EXISTS (
			SELECT 1 FROM idempotency_record r
			WHERE r.user_id = o.user_id AND r.method = o.method AND r.route = o.route AND r.idempotency_key = o.idempotency_key))
	LIMIT $2
)

-- name: message_purge
DELETE FROM processed_message
WHERE (source, message_id) IN (SELECT source, message_id FROM processed_message WHERE processed_at < $1 ORDER BY processed_at LIMIT $2)

-- name: record_defer
UPDATE idempotency_record SET operation_id = $1
WHERE user_id = $2 AND method = $3 AND route = $4 AND idempotency_key = $5 AND status = 'PROCESSING'

-- name: record_taken
UPDATE idempotency_record SET generation = generation + 1, attempts = attempts + 1
WHERE user_id = $1 AND method = $2 AND route = $3 AND idempotency_key = $4 AND status = 'PROCESSING' AND operation_id = $5

-- name: record_complete
UPDATE idempotency_record
SET status = $1, retryable = $2, response_status = $3, response_headers = $4, response_body = $5, resource_type = $6, resource_id = $7, updated_at = $8
WHERE user_id = $9 AND method = $10 AND route = $11 AND idempotency_key = $12 AND status = 'PROCESSING' AND operation_id = $13

-- name: record_revive
UPDATE idempotency_record
SET status = 'PROCESSING', retryable = 0, response_status = NULL, response_headers = '{}', response_body = '', generation = generation + 1, attempts = 1,
	updated_at = $1
WHERE user_id = $2 AND method = $3 AND route = $4 AND idempotency_key = $5 AND status = 'FAILED' AND operation_id = $6
