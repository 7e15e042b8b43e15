/* idna.c - international host names, by ICU. */
#include "core/idna.h"
#include <pthread.h>
#include <unicode/uidna.h>

/* What browsers overlook: names with these faults are in use, and DNS itself refuses those that cannot exist. */
#define FAULTS_OVERLOOKED                                                                                  \
	(UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |         \
	    UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4)

static pthread_once_t	idna_once = PTHREAD_ONCE_INIT;
static UIDNA		*idna;		/* process: immutable, shared by all threads */

static void	idna_open(void);

bool
idna_to_ascii(struct scope *s, struct str *host, struct str name)
{
	UErrorCode	error = U_ZERO_ERROR;
	UIDNAInfo	info = UIDNA_INFO_INITIALIZER;
	int32_t		len, capacity;
	char		*out;

	if (name.len > 1024)
		return false;
	pthread_once(&idna_once, idna_open);
	capacity = (int32_t)name.len * 8 + 64;
	out = scope_alloc(s, (size_t)capacity + 1);
	len = uidna_nameToASCII_UTF8(idna, name.p, (int32_t)name.len, out, capacity, &info, &error);
	if (U_FAILURE(error) || len <= 0 || len > capacity || (info.errors & (uint32_t)~FAULTS_OVERLOOKED) != 0)
		return false;
	*host = (struct str){ out, (size_t)len };
	return true;
}

static void
idna_open(void)
{
	UErrorCode	error = U_ZERO_ERROR;

	idna = uidna_openUTS46(UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII |
	    UIDNA_NONTRANSITIONAL_TO_UNICODE, &error);
	assert(U_SUCCESS(error));
}
