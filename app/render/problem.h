/* problem.h - a refusal as problem+json (RFC 9457). */
#ifndef RENDER_PROBLEM_H
#define RENDER_PROBLEM_H
#include "base/base.h"

/* { type, title, status, detail, code, retryable, request_id, errors? } from scope->error, or from `status` alone when there is none. */
struct str	 problem_json(struct scope *, enum status);
#endif
