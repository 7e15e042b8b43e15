/* wxr_members.c - which element of an export says what of an author, a term, an item. */
#include "render/wxr_members.h"

#include "base/clock.h"

static int64_t
number(const char *text)
{
	int64_t n;

	return parse_int64(str_trim(str_of(text)), &n) && n > 0 ? n : 0;
}

void
wxr_author_member(struct wxr_author *a, const char *name, const char *text)
{
	if (strcmp(name, "wp:author_id") == 0)
		a->id = number(text);
	else if (strcmp(name, "wp:author_login") == 0)
		a->login = text;
	else if (strcmp(name, "wp:author_email") == 0)
		a->email = text;
	else if (strcmp(name, "wp:author_display_name") == 0)
		a->name = text;
}

void
wxr_term_member(struct wxr_term *t, const char *name, const char *text)
{
	static const struct { const char *name; size_t member; } texts[] = {
		{ "wp:category_nicename", offsetof(struct wxr_term, slug) },
		{ "wp:tag_slug", offsetof(struct wxr_term, slug) },
		{ "wp:term_slug", offsetof(struct wxr_term, slug) },
		{ "wp:cat_name", offsetof(struct wxr_term, name) },
		{ "wp:tag_name", offsetof(struct wxr_term, name) },
		{ "wp:term_name", offsetof(struct wxr_term, name) },
		{ "wp:category_parent", offsetof(struct wxr_term, parent) },
		{ "wp:term_parent", offsetof(struct wxr_term, parent) },
		{ "wp:category_description", offsetof(struct wxr_term, description) },
		{ "wp:tag_description", offsetof(struct wxr_term, description) },
		{ "wp:term_description", offsetof(struct wxr_term, description) },
		{ "wp:term_taxonomy", offsetof(struct wxr_term, domain) },
	};
	size_t i;

	if (strcmp(name, "wp:term_id") == 0)
		t->id = number(text);
	for (i = 0; i < COUNT(texts); i++)
		if (strcmp(name, texts[i].name) == 0)
			memcpy((char *)t + texts[i].member, &text, sizeof text);
	if (t->kind == WXR_OTHER_TERM && strcmp(t->domain, "category") == 0)
		t->kind = WXR_CATEGORY;
	if (t->kind == WXR_OTHER_TERM && strcmp(t->domain, "post_tag") == 0)
		t->kind = WXR_TAG;
}

static int64_t
sql_time(const char *text)
{
	int64_t ms;

	return clock_parse_sql(str_trim(str_of(text)), &ms) ? ms : 0;
}

void
wxr_item_member(struct wxr_item *item, struct wxr_term *term, const char *name, const char *text)
{
	static const struct { const char *name; size_t member; } texts[] = {
		{ "title", offsetof(struct wxr_item, title) },
		{ "link", offsetof(struct wxr_item, link) },
		{ "guid", offsetof(struct wxr_item, guid) },
		{ "dc:creator", offsetof(struct wxr_item, creator) },
		{ "content:encoded", offsetof(struct wxr_item, content) },
		{ "excerpt:encoded", offsetof(struct wxr_item, excerpt) },
		{ "wp:post_type", offsetof(struct wxr_item, type) },
		{ "wp:status", offsetof(struct wxr_item, status) },
		{ "wp:post_name", offsetof(struct wxr_item, slug) },
		{ "wp:post_password", offsetof(struct wxr_item, password) },
		{ "wp:attachment_url", offsetof(struct wxr_item, attachment_url) },
	};
	size_t i;

	for (i = 0; i < COUNT(texts); i++)
		if (strcmp(name, texts[i].name) == 0)
			memcpy((char *)item + texts[i].member, &text, sizeof text);
	if (strcmp(name, "wp:post_id") == 0)
		item->post_id = number(text);
	else if (strcmp(name, "wp:post_parent") == 0)
		item->parent_id = number(text);
	else if (strcmp(name, "wp:post_date_gmt") == 0)
		item->date_gmt = sql_time(text);
	else if (strcmp(name, "wp:post_date") == 0)
		item->date = sql_time(text);
	else if (strcmp(name, "wp:post_modified_gmt") == 0)
		item->modified_gmt = sql_time(text);
	else if (strcmp(name, "wp:is_sticky") == 0)
		item->is_sticky = number(text) == 1;
	else if (strcmp(name, "category") == 0 && term != NULL) {
		if (term->name[0] == '\0')
			term->name = text;
		if (strcmp(term->domain, "post_format") == 0)
			item->format = term->slug[0] != '\0' ? term->slug : text;
	}
}

void
wxr_meta_member(struct wxr_meta *meta, const char *name, const char *text)
{
	if (strcmp(name, "wp:meta_key") == 0)
		meta->key = text;
	else if (strcmp(name, "wp:meta_value") == 0)
		meta->value = text;
}
