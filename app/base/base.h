/* base.h - what every source of Stele starts from: the C library, scope, errors, text. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define MUST_USE __attribute__((warn_unused_result))
/* Visible to Kore, which finds hooks and handlers in stele.so by name. */
#define EXPORT __attribute__((visibility("default")))

#include "base/arena.h"
#include "base/text.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/banned.h"
#endif
