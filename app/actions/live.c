/* live.c - what follows when something that the world sees changes. */
#include "actions/live.h"

#include "actions/json.h"
#include "store/outbox.h"
#include "store/paths.h"
#include "store/resources.h"
#include "store/terms.h"

static enum status	write_event(struct scope *, struct db *, const struct site *, const struct resource *, const char *topic, const char *from);
static enum status	tags_changed(struct scope *, struct db *, const struct live_change *);
static enum status	tag_changed(struct scope *, struct db *, const struct live_change *, int64_t tag, bool joined_or_left);
static enum status	author_changed(struct scope *, struct db *, const struct site *, const struct live_change *, int64_t author,
			    bool joined_or_left);
static bool		has(const int64_t *ids, size_t count, int64_t id);
static enum status	sitemap_changed(struct scope *, struct db *, int64_t resource, int64_t *first);

enum status
live_changed(struct scope *s, struct db *db, const struct site *site, const struct live_change *c)
{
	struct resource *r = c->after;
	int64_t part;
	bool is_live = r->state == STATE_PUBLISHED;
	int64_t author = is_live ? r->live_author : 0, before = c->was_live ? c->author_before : 0;

	if (r->kind == KIND_ARTICLE || r->kind == KIND_PAGE) {
		TRY(tags_changed(s, db, c));
		if (before != 0 && before != author)
			TRY(author_changed(s, db, site, c, before, true));
		if (author != 0)
			TRY(author_changed(s, db, site, c, author, before != author));
	}
	if (c->hash_before != NULL && (r->content_hash == NULL || strcmp(c->hash_before, r->content_hash) != 0))
		TRY(duplicates_settle(s, db, site, r->locale, c->hash_before, 0, &(int64_t){ 0 }));
	if (r->content_hash != NULL)
		TRY(duplicates_settle(s, db, site, r->locale, r->content_hash, r->id, &r->duplicate_of));
	TRY(sitemap_changed(s, db, r->id, &part));
	/* The home page's lastmod is that of the latest article; its entry stands in the first part. */
	if (r->kind == KIND_ARTICLE && part != 1)
		TRY(sitemap_changed(s, db, 1, &part));
	db_touch(db, "resource:%" PRId64, r->id);
	db_touch(db, "list:%s", kind_name(r->kind));
	return c->topic == NULL ? OK : event_write(s, db, site, r, c->topic);
}

enum status
live_moved(struct scope *s, struct db *db, const struct site *site, const struct resource *r, const char *from)
{
	const int64_t *tags;
	size_t count, i;
	int64_t part;

	if (r->first_published_at == 0)
		return OK;
	db_touch(db, "resource:%" PRId64, r->id);
	db_touch(db, "list:%s", kind_name(r->kind));
	db_touch(db, "%s:%" PRId64, kind_name(r->kind), r->id);
	if (r->state == STATE_PUBLISHED) {
		TRY(store_live_tags_of(s, db, r->id, &tags, &count));
		for (i = 0; i < count; i++)
			db_touch(db, "tag:%" PRId64, tags[i]);
		if (r->live_author != 0)
			db_touch(db, "author:%" PRId64, r->live_author);
		/* An override that has become the own address is none any more, and then this may be somebody's original. */
		if (r->content_hash != NULL)
			TRY(duplicates_settle(s, db, site, r->locale, r->content_hash, 0, &(int64_t){ 0 }));
		TRY(sitemap_changed(s, db, r->id, &part));
	}
	return write_event(s, db, site, r, "resource.moved", from);
}

enum status
event_write(struct scope *s, struct db *db, const struct site *site, const struct resource *r, const char *topic)
{
	return write_event(s, db, site, r, topic, NULL);
}

static enum status
write_event(struct scope *s, struct db *db, const struct site *site, const struct resource *r, const char *topic, const char *from)
{
	struct buf b;

	buf_init(&b, s->arena);
	buf_char(&b, '{');
	json_put_name(&b, "id");
	json_put_text(&b, r->uid);
	json_put_name(&b, "kind");
	json_put_text(&b, kind_name(r->kind));
	json_put_name(&b, "state");
	json_put_text(&b, state_name(r->state));
	json_put_name(&b, "url");
	json_put_text(&b, site_url(s, site, r->path));
	if (from != NULL) {
		json_put_name(&b, "from");
		json_put_text(&b, site_url(s, site, from));
	}
	json_put_name(&b, "version");
	buf_printf(&b, "%" PRId64 "}", r->edit_version);
	return store_outbox_insert(s, db, r->id, r->event_version, topic, buf_as_str(&b));
}

static enum status
tags_changed(struct scope *s, struct db *db, const struct live_change *c)
{
	const int64_t *had = NULL;
	size_t had_count = 0, i;

	if (c->was_live)
		TRY(store_live_tags_remove(s, db, c->after->id, &had, &had_count));
	TRY(store_live_tags_set(s, db, c->after->id, c->after->first_published_at, c->tags, c->tag_count));
	for (i = 0; i < c->tag_count; i++)
		TRY(tag_changed(s, db, c, c->tags[i], !has(had, had_count, c->tags[i])));
	for (i = 0; i < had_count; i++)
		if (!has(c->tags, c->tag_count, had[i]))
			TRY(tag_changed(s, db, c, had[i], true));
	return OK;
}

/* A tag enters the sitemap with its first live resource and leaves it with its last. */
static enum status
tag_changed(struct scope *s, struct db *db, const struct live_change *c, int64_t tag, bool joined_or_left)
{
	bool others;
	int64_t part;

	db_touch(db, "tag:%" PRId64, tag);
	db_touch(db, "list:tag");
	if (!joined_or_left)
		return OK;
	TRY(store_live_tag_is_used(s, db, tag, c->after->id, &others));
	return others ? OK : sitemap_changed(s, db, tag, &part);
}

/* So does an author; and that is what others hear of somebody who came along with their own first article. */
static enum status
author_changed(struct scope *s, struct db *db, const struct site *site, const struct live_change *c, int64_t author, bool joined_or_left)
{
	struct resource r;
	int64_t part;
	bool others;

	db_touch(db, "author:%" PRId64, author);
	db_touch(db, "list:author");
	if (!joined_or_left)
		return OK;
	TRY(store_resource_is_live_by(s, db, author, c->after->id, &others));
	if (others)
		return OK;
	TRY(store_resource_load(s, db, &r, author));
	if (r.state != STATE_PUBLISHED)
		return OK;
	TRY(sitemap_changed(s, db, author, &part));
	TRY(store_resource_note(s, db, author, &r.event_version));
	return event_write(s, db, site, &r, "resource.changed");
}

static bool
has(const int64_t *ids, size_t count, int64_t id)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static enum status
sitemap_changed(struct scope *s, struct db *db, int64_t resource, int64_t *first)
{
	TRY(store_sitemap_part_touch(s, db, resource, s->now, first));
	db_touch(db, "sitemap:%" PRId64, *first);
	db_touch(db, "sitemap");
	return OK;
}
