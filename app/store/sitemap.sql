-- The sitemap is a view: nothing but sitemap_entry and sitemap_part is read here.

-- Parts with something in them; the first one has the home page besides (id 0), so it always counts.
-- name: sitemap_parts
SELECT first_id, last_id, changed_at
FROM sitemap_part p
WHERE first_id = (SELECT min(first_id) FROM sitemap_part)
	OR EXISTS (SELECT 1 FROM sitemap_entry e WHERE e.id BETWEEN p.first_id AND p.last_id)
ORDER BY first_id
LIMIT $1;

-- name: sitemap_part_load
SELECT first_id, last_id, changed_at, first_id = (SELECT min(first_id) FROM sitemap_part)
FROM sitemap_part WHERE first_id = $1;

-- name: sitemap_entries
SELECT path, changed_at FROM sitemap_entry WHERE id BETWEEN $1 AND $2 ORDER BY id;
