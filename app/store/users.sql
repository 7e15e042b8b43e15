-- People, their tokens, their author resource.

-- name: user_by_token_hash
SELECT u.id, u.name, u.role, u.author_id, t.scopes
FROM api_token t JOIN user u ON u.id = t.user_id
WHERE t.token_hash = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > $2) AND u.is_active = 1;

-- name: user_by_name
SELECT id, name, role, author_id FROM user WHERE name = $1 AND is_active = 1;

-- name: user_by_id
SELECT id, name, role, author_id FROM user WHERE id = $1 AND is_active = 1;

-- name: user_insert
INSERT INTO user (name, role, password, created_at, changed_at) VALUES ($1, $2, $3, $4, $4)
ON CONFLICT (name) DO NOTHING;

-- name: user_count
SELECT count(*) FROM user;

-- name: user_author
SELECT author_id FROM user WHERE id = $1;

-- name: user_set_author
UPDATE user SET author_id = $1, changed_at = $2 WHERE id = $3;

-- name: token_insert
INSERT INTO api_token (token_hash, user_id, scopes, created_at, expires_at) VALUES ($1, $2, $3, $4, $5);

-- name: audit_entry_insert
INSERT INTO audit_entry (at, user_id, action, subject, detail) VALUES ($1, $2, $3, $4, $5);
