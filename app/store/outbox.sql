-- Events, written with the rows they tell of.

-- name: outbox_insert
INSERT INTO outbox (aggregate, aggregate_id, event_version, topic, payload, created_at) VALUES ($1, $2, $3, $4, $5, $6);
