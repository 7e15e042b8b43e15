-- Statements of the loop of jobs.

-- The rows are in the order of time, so the scan from the oldest ends at the limit. The newest stays: readers ask for what is newer than it.
-- name: change_log_prune
DELETE FROM change_log
WHERE seq IN (
	SELECT seq FROM change_log
	WHERE seq < (SELECT max(seq) FROM change_log)
	ORDER BY seq
	LIMIT $1
)
	AND created_at < $2;
