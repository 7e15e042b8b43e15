/* banned.h - calls that have no safe use here become compile errors. Included last by base/base.h. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#define BANNED(f) use_of_##f##_is_banned

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef strtok
#undef atoi
#undef atol
#undef atoll
#undef gmtime
#undef localtime
#undef ctime
#undef asctime
#undef gets
#undef alloca
#undef rand
#undef srand
#define strcpy(d, s) BANNED(strcpy)
#define strcat(d, s) BANNED(strcat)
#define strncpy(d, s, n) BANNED(strncpy)
#define strncat(d, s, n) BANNED(strncat)
#define sprintf(...) BANNED(sprintf)
#define vsprintf(...) BANNED(vsprintf)
#define strtok(s, d) BANNED(strtok)
#define atoi(s) BANNED(atoi)
#define atol(s) BANNED(atol)
#define atoll(s) BANNED(atoll)
#define gmtime(t) BANNED(gmtime)
#define localtime(t) BANNED(localtime)
#define ctime(t) BANNED(ctime)
#define asctime(t) BANNED(asctime)
#define gets(s) BANNED(gets)
#define alloca(n) BANNED(alloca)
#define rand() BANNED(rand)
#define srand(s) BANNED(srand)
#endif
