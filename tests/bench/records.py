"""What a million idempotency records cost: the create rate beside an empty table, the purge of as many, and what a replay costs."""
import sqlite3
import statistics
import time

from harness import ARTICLE_BYTES, Stele, wrk_result, wrk_start

ROWS = 1000000
DAY = 86400000
FILL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)
INSERT INTO idempotency_record (user_id, method, route, idempotency_key, request_hash, hash_version, status, response_status, response_headers,
	response_body, resource_type, resource_id, first_request_id, last_request_id, created_at, updated_at, expired_at)
SELECT 1, 'POST', '/api/v1/articles', lower(hex(randomblob(16))), lower(hex(randomblob(32))), 1, 'SUCCESS', 201,
	'{"Location":"/api/v1/articles/x","ETag":"\\"1\\""}', printf('%.*c', 900, 'b'), 'article', i, 'r', 'r', :now, :now, :expiry + i FROM n"""


def fill(data, expiry):
    db = sqlite3.connect(data / "stele.db")
    db.execute("PRAGMA cache_size = -200000")
    db.execute(FILL, {"rows": ROWS, "now": int(time.time() * 1000), "expiry": expiry})
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def create(site, seconds, connections=64, *more):
    return wrk_result(wrk_start(f"http://127.0.0.1:{site.port}", seconds, connections, "create.lua", site.token, str(ARTICLE_BYTES), *more))


def purged(site):
    db = sqlite3.connect(f"file:{site.data}/stele.db?mode=ro", uri=True)
    left = db.execute("SELECT count(*) FROM idempotency_record WHERE expired_at < ?", (int(time.time() * 1000),)).fetchone()[0]
    db.close()
    return left


def bench_full_table(empty, full, seconds):
    ratios = []
    for _ in range(3):
        a, b = create(empty, seconds), create(full, seconds)
        ratios.append(b["rate"] / a["rate"])
        print(f"  create with no other records {a['rate']:6.0f}/s, beside {ROWS} records {b['rate']:6.0f}/s p99 {b['p99_us'] / 1000:.1f} ms")
    print(f"RATIO create_rate_beside_{ROWS}_records {statistics.median(ratios):.2f} (target 0.85)")


def bench_replay(site, seconds):
    ratios = []
    for n in range(3):
        new = create(site, seconds)
        name = f"replay{n}"
        create(site, 1, 64, name, "400")
        again = create(site, seconds, 64, name, "400")
        ratios.append(again["rate"] / new["rate"])
        print(f"  create {new['rate']:6.0f}/s, replay {again['rate']:6.0f}/s errors {again['errors']}")
    print(f"RATIO replay_to_create {statistics.median(ratios):.2f} (target 3.00)")


def bench_purge(site, seconds):
    """Few clients, so that what is seen is the purge and not a queue."""
    p99, worst = [], []
    for _ in range(3):
        quiet = create(site, seconds, 2)
        site.stop()
        fill(site.data, int(time.time() * 1000) - 2 * DAY)
        site.start()
        before = purged(site)
        during = create(site, seconds, 2)
        after = purged(site)
        p99.append((during["p99_us"] - quiet["p99_us"]) / 1000)
        worst.append((during["max_us"] - quiet["max_us"]) / 1000)
        print(f"  2 connections: p99 {quiet['p99_us'] / 1000:.1f} max {quiet['max_us'] / 1000:.1f} ms alone, p99 {during['p99_us'] / 1000:.1f} max"
              f" {during['max_us'] / 1000:.1f} ms while {before - after} records were purged in {seconds} s")
    print(f"FIGURE purge_delay_ms p99 {statistics.median(p99):.1f} max {statistics.median(worst):.1f} (target under 20)")


def run(build, folder, seconds):
    (folder / "empty").mkdir()
    (folder / "full").mkdir()
    empty, full = Stele(build, folder / "empty"), Stele(build, folder / "full")
    try:
        full.stop()
        fill(full.data, int(time.time() * 1000) + 7 * DAY)
        full.start()
        bench_full_table(empty, full, seconds)
        bench_replay(empty, seconds)
        bench_purge(empty, seconds)
    finally:
        empty.stop()
        full.stop()
