/* fuzz_json.c - any body: refused, or read with a canonical form that is its own canonical form. */
#include "core/idempotency.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scope	*s = scope_new("fuzz");
	struct str	 body = { (const char *)data, size }, once, twice;
	const char	*taken;
	json_t		*value, *again;

	if (json_read(s, &value, &once, body, "idempotency_key", &taken) == OK) {
		if (json_read(s, &again, &twice, once, NULL, NULL) != OK || !str_eq(once, twice))
			abort();
		json_decref(again);
		json_decref(value);
	}
	scope_free(s);
	return 0;
}
