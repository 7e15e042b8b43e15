/* problem.c - RFC 9457 documents from the refusal in flight. */
#include "render/problem.h"
#include <jansson.h>

static json_t *
one_error(const struct error *e)
{
	json_t *o = json_object();

	if (e->field != NULL)
		json_object_set_new(o, "field", json_string(e->field));
	json_object_set_new(o, "code", json_string(status_info(e->status)->code));
	if (e->detail != NULL)
		json_object_set_new(o, "detail", json_string(e->detail));
	return o;
}

struct str
problem_json(struct scope *s, enum status status)
{
	const struct error *e = s->error != NULL && s->error->status == status ? s->error : NULL;
	const struct status_info *info = status_info(status);
	json_t *o = json_object();
	char *text;

	json_object_set_new(o, "type", json_string(scope_printf(s, "/docs/errors#%s", info->code)));
	json_object_set_new(o, "title", json_string(info->title));
	json_object_set_new(o, "status", json_integer(info->http));
	json_object_set_new(o, "detail", json_string(e != NULL && e->detail != NULL ? e->detail : info->help));
	json_object_set_new(o, "code", json_string(info->code));
	json_object_set_new(o, "retryable", json_boolean(info->retryable));
	if (s->log_id != NULL)
		json_object_set_new(o, "request_id", json_string(s->log_id));
	if (e != NULL && (e->next != NULL || e->field != NULL)) {
		json_t *errors = json_array();
		for (; e != NULL; e = e->next)
			json_array_append_new(errors, one_error(e));
		json_object_set_new(o, "errors", errors);
	}
	text = json_dumps(o, JSON_COMPACT);
	struct str out = str_of(arena_strdup(s->arena, text != NULL ? text : "{}"));
	free(text);
	json_decref(o);
	return out;
}
