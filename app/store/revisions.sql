-- Revisions and what was rendered from them.

-- name: revision_insert
INSERT INTO revision (resource_id, number, title, format, source, summary, author_id, tags, noindex, canonical, seo, fields, editor_user, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

-- name: revision_load
SELECT number, title, format, source, summary, author_id, tags, noindex, canonical, seo, fields, editor_user, created_at
FROM revision WHERE resource_id = $1 AND number = $2;

-- The same without its source, for answers that do not show it.
-- name: revision_load_meta
SELECT number, title, format, NULL, summary, author_id, tags, noindex, canonical, seo, fields, editor_user, created_at
FROM revision WHERE resource_id = $1 AND number = $2;

-- name: revision_list
SELECT v.number, v.title, u.name, v.created_at
FROM revision v LEFT JOIN user u ON u.id = v.editor_user
WHERE v.resource_id = $1 AND v.number < $2
ORDER BY v.number DESC LIMIT $3;

-- name: rendered_insert
INSERT INTO rendered (resource_id, number, renderer_version, html, excerpt, links, images) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: rendered_load
SELECT html, excerpt, links, images FROM rendered WHERE resource_id = $1 AND number = $2;
