/* unicode.h - normalisation, folding and transliteration, by ICU. All inputs must be valid UTF-8. */
#ifndef BASE_UNICODE_H
#define BASE_UNICODE_H
#include "base/base.h"

/* Load ICU's data and rules (tens of ms, once per process; before threads, fork or a sandbox). */
void		 unicode_warm_up(void);

/* NFC (UAX 15). ASCII input is returned unchanged, not copied. ERR_INVALID if not UTF-8. */
enum status	 unicode_nfc(struct scope *, struct str *out, struct str in) MUST_USE;
/* NFC of the full case fold, root locale: what two spellings must share to be the same path. */
enum status	 unicode_fold(struct scope *, struct str *out, struct str in) MUST_USE;
/* Full lower case, root locale, NFC. */
enum status	 unicode_lower(struct scope *, struct str *out, struct str in) MUST_USE;
/* Best-effort ASCII (Cyrillic by BGN, Han by pinyin, diacritics off), lower case. The result may still hold other characters. */
enum status	 unicode_to_ascii(struct scope *, struct str *out, struct str in) MUST_USE;
bool		 unicode_is_letter_or_digit(int32_t codepoint);	/* general categories L*, N*; M* too (they belong to their letter) */
bool		 unicode_is_space(int32_t codepoint);

#endif
