/* raw_commit.c - the reference for writes: SQLite alone, group commits of rows with as many bytes as Stele writes.
 *
 * raw_commit DB SECONDS BYTES: 64 rows of BYTES and 64 key rows a transaction, WAL, synchronous=FULL; prints rows per second
 * and CPU seconds. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define BATCH 64

static sqlite3 *db;

static void
must(int result, const char *what)
{
	if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW) {
		fprintf(stderr, "raw_commit: %s: %s\n", what, sqlite3_errmsg(db));
		exit(1);
	}
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static sqlite3_stmt *
prepare(const char *sql)
{
	sqlite3_stmt *statement;

	must(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), sql);
	return statement;
}

static void
run(sqlite3_stmt *statement)
{
	must(sqlite3_step(statement), sqlite3_sql(statement));
	must(sqlite3_reset(statement), sqlite3_sql(statement));
}

int
main(int argc, char **argv)
{
	sqlite3_stmt *begin, *commit, *document, *record;
	struct rusage usage;
	int64_t rows = 0;
	double start, end;
	size_t bytes;
	char *body, key[40];
	int i;

	if (argc != 4) {
		fprintf(stderr, "usage: raw_commit DB SECONDS BYTES\n");
		return 2;
	}
	bytes = strtoul(argv[3], NULL, 10);
	body = malloc(bytes + 1);
	memset(body, 'x', bytes);
	must(sqlite3_open(argv[1], &db), "open");
	must(sqlite3_exec(db,
		 "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=2000; PRAGMA cache_size=-8000;"
		 "CREATE TABLE document (id INTEGER PRIMARY KEY, body TEXT NOT NULL);"
		 "CREATE TABLE record (k TEXT NOT NULL, document INTEGER, status INTEGER);"
		 "CREATE UNIQUE INDEX record_key ON record (k);",
		 NULL, NULL, NULL), "schema");
	begin = prepare("BEGIN IMMEDIATE");
	commit = prepare("COMMIT");
	document = prepare("INSERT INTO document (body) VALUES (?1)");
	record = prepare("INSERT INTO record (k, document, status) VALUES (?1, ?2, 201)");
	start = now();
	end = start + strtod(argv[2], NULL);
	while (now() < end) {
		run(begin);
		for (i = 0; i < BATCH; i++) {
			must(sqlite3_bind_text(document, 1, body, (int)bytes, SQLITE_STATIC), "bind");
			run(document);
			snprintf(key, sizeof key, "%08lx-%016llx", random(), (unsigned long long)rows++);
			must(sqlite3_bind_text(record, 1, key, -1, SQLITE_TRANSIENT), "bind");
			must(sqlite3_bind_int64(record, 2, sqlite3_last_insert_rowid(db)), "bind");
			run(record);
		}
		run(commit);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%.0f %.3f\n", (double)rows / (now() - start),
	    (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
		(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	return 0;
}
