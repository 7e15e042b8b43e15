-- Redirects of a file that is being imported: read, checked as a whole, then applied.

-- name: stage_insert
INSERT INTO redirect_stage (run, source, line, fold, target, status, note) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: stage_find
SELECT line, target, status FROM redirect_stage WHERE run = $1 AND source = $2;

-- name: stage_after
SELECT source, line, fold, target, status, note FROM redirect_stage WHERE run = $1 AND source > $2 ORDER BY source LIMIT $3;

-- name: stage_clear
DELETE FROM redirect_stage WHERE run = $1 AND source IN (SELECT source FROM redirect_stage WHERE run = $1 ORDER BY source LIMIT $2);

-- What a run that was never finished left, found by its time.
-- name: stage_clear_old
DELETE FROM redirect_stage
WHERE (run, source) IN (SELECT run, source FROM redirect_stage WHERE run < $1 ORDER BY run, source LIMIT $2);
