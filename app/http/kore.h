/* kore.h - Kore's headers, in one place and made to live with our warnings and with base/banned.h. */
#ifndef HTTP_KORE_H
#define HTTP_KORE_H
#include "base/base.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wcast-qual"
#include <kore/kore.h>
#include <kore/http.h>
#include <kore/hooks.h>
#pragma GCC diagnostic pop

/* struct http_request has other offsets without the flags Debian's Kore was built with. */
#if !defined(KORE_USE_TASKS) || !defined(KORE_USE_PGSQL)
/* cppcheck-suppress preprocessorErrorDirective */
#error "compile with the flags in /usr/share/kore/features"
#endif
#endif
