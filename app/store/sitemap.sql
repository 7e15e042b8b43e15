-- The sitemap is a view: nothing but sitemap_entry and sitemap_part is read here.

-- name: sitemap_parts
SELECT first_id, last_id, changed_at FROM sitemap_part ORDER BY first_id LIMIT $1;

-- A query of its own for each part: with the bounds as values the view is searched, joined with the parts it would be scanned.
-- name: sitemap_part_is_used
SELECT EXISTS (SELECT 1 FROM sitemap_entry WHERE id BETWEEN $1 AND $2);

-- name: sitemap_part_load
SELECT first_id, last_id, changed_at, first_id = (SELECT min(first_id) FROM sitemap_part)
FROM sitemap_part WHERE first_id = $1;

-- name: sitemap_entries
SELECT path, changed_at FROM sitemap_entry WHERE id BETWEEN $1 AND $2 ORDER BY id;
