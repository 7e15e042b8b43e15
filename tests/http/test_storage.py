"""When the disk fails: nothing that was answered is lost, nothing half is stored, and the same key works once there is room again.
Retention runs in batches beside the traffic, and stops where a constraint is gone."""
import concurrent.futures
import os
import pathlib
import pwd
import resource
import sqlite3
import subprocess
import time

import pytest

import site_pages
from stele import new_key

ARTICLES = "/api/v1/articles"
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
DAY = 24 * 3600 * 1000


def assert_not_stored(r):
    assert r.status in (503, 507), r
    assert r.json()["code"] == "storage_unavailable" and r.json()["retryable"] is True
    assert r.headers["Retry-After"] == "1"


def assert_whole(server, keys):
    """Every key has one article with its revision, its path and its event."""
    assert server.value("PRAGMA integrity_check") == "ok"
    marks = ",".join("?" * len(keys))
    rows = server.sql(f"SELECT status, resource_id FROM idempotency_record WHERE idempotency_key IN ({marks})", *keys)
    assert len(rows) == len(keys) and {r["status"] for r in rows} == {"SUCCESS"}
    assert len({r["resource_id"] for r in rows}) == len(keys)
    assert server.value("SELECT count(*) FROM resource WHERE kind = 'article'") == server.value(
        "SELECT count(*) FROM resource r JOIN revision v ON v.resource_id = r.id AND v.number = r.head_revision "
        "JOIN path p ON p.resource_id = r.id AND p.role = 'canonical' WHERE r.kind = 'article'")
    assert server.value("SELECT count(*) FROM revision WHERE resource_id NOT IN (SELECT id FROM resource)") == 0
    assert server.value("SELECT count(*) FROM idempotency_record WHERE status = 'PROCESSING'") == 0


def article(n):
    return {"title": f"Disk {n}", "content": f"{n} " + "stone " * 8000, "state": "published"}


def fill_until_refused(server, n=0):
    """Keys that were answered 201, and the first that was not, with its body."""
    done = []
    while n < 2000:
        key, body = new_key(), article(n)
        r = server.post(ARTICLES, body, key=key)
        if r.status != 201:
            assert_not_stored(r)
            return done, key, body
        done.append(key)
        n += 1
    raise AssertionError("the disk never was full")


def test_c80_log_that_may_not_grow(make_server):
    """The limit of file size is an I/O error in the middle of a transaction."""
    s = make_server()
    assert s.post(ARTICLES, {"title": "Before"}).status == 201
    before = {pid: resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in s.worker_pids()}
    limit = os.path.getsize(s.db + "-wal") + (1 << 20)
    for pid, (_, hard) in before.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, hard))
    done, key, body = fill_until_refused(s)
    assert done
    # Many at once share a transaction; each gets the same verdict and none a half.
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda n: s.post(ARTICLES, article(f"many {n}")), range(16)))
    assert {r.status for r in answers} <= {201, 503}
    assert s.get("/").status == 200
    assert s.value("SELECT count(*) FROM idempotency_record WHERE idempotency_key = ?", key) == 0
    for pid, old in before.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, old)
    r = s.post(ARTICLES, body, key=key)
    assert r.status == 201 and r.headers["Idempotent-Replayed"] == "false"
    assert set(s.worker_pids()) == set(before)
    assert_whole(s, done + [key])


@NEEDS_ROOT
def test_c80_full_disk(make_server):
    s = make_server(start=False)
    small = pathlib.Path(s.data)
    kept = {p.name: p.read_bytes() for p in small.iterdir() if p.is_file()}
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", str(small)], capture_output=True).returncode != 0:
        pytest.skip("needs root that may mount")
    try:
        for name, content in kept.items():
            (small / name).write_bytes(content)
        s.start()
        ballast = small / "ballast"
        ballast.write_bytes(b"x" * (1 << 20))
        done, key, body = fill_until_refused(s)
        assert done
        for _ in range(3):
            assert_not_stored(s.post(ARTICLES, body, key=key))
        # Readers do not mind, and what was acknowledged is there.
        assert len(site_pages.locs(s)) >= len(done)
        ballast.unlink()
        r = s.post(ARTICLES, body, key=key)
        assert r.status == 201 and r.headers["Idempotent-Replayed"] == "false"
        assert_whole(s, done + [key])
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        s.restart()
        assert_whole(s, done + [key])
        s.stop()
    finally:
        if s.process is not None:
            s.stop()
        subprocess.run(["umount", str(small)], check=True)


@NEEDS_ROOT
def test_c80_database_that_may_not_be_written(make_server):
    nobody = pwd.getpwnam("nobody")
    s = make_server(start=False)
    os.chmod(s.home, 0o755)
    for path in [pathlib.Path(s.data), *pathlib.Path(s.data).rglob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    os.chmod(s.db, 0o400)
    s.start()
    key = new_key()
    assert_not_stored(s.post(ARTICLES, article(1), key=key))
    assert s.get("/").status == 200
    assert s.value("SELECT count(*) FROM resource") == s.value("SELECT count(*) FROM idempotency_record") == 0
    s.stop()
    # The log was made with the rights of the database.
    for path in pathlib.Path(s.data).glob("stele.db*"):
        path.chmod(0o600)
    s.start()
    r = s.post(ARTICLES, article(1), key=key)
    assert r.status == 201 and r.headers["Idempotent-Replayed"] == "false"


# Retention


def add_records(server, count, **columns):
    """As if `count` requests had come long ago."""
    values = {"user_id": 1, "method": "POST", "route": ARTICLES, "request_hash": "0" * 64, "hash_version": 1, "status": "SUCCESS",
              "response_status": 201, "response_headers": "{}", "response_body": "{}", "first_request_id": "x", "last_request_id": "x",
              "created_at": 1, "updated_at": 1, "expired_at": 2, **columns}
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    db = sqlite3.connect(server.db, timeout=20)
    with db:
        db.executemany(f"INSERT INTO idempotency_record ({names}, idempotency_key) VALUES ({marks}, ?)",
                       [(*values.values(), new_key()) for _ in range(count)])
    db.close()


def expired(server):
    return server.value("SELECT count(*) FROM idempotency_record WHERE expired_at <= 2 AND status <> 'PROCESSING'")


def test_c94_purge_of_ten_thousand_under_load(make_server):
    s = make_server(before_start=lambda s: add_records(s, 10000))
    live, slowest, left = new_key(), 0, []
    first = s.post(ARTICLES, {"title": "Kept"}, key=live)
    deadline = time.monotonic() + 30
    while expired(s) and time.monotonic() < deadline:
        began = time.monotonic()
        assert s.post(ARTICLES, {"title": "Load"}).status == 201
        slowest = max(slowest, time.monotonic() - began)
        left.append(expired(s))
    assert expired(s) == 0
    # Many small transactions: what is left was seen to sink in steps, and nobody waited for all of it.
    assert slowest < 2
    again = s.post(ARTICLES, {"title": "Kept"}, key=live)
    assert again.headers["Idempotent-Replayed"] == "true" and again.body == first.body
    site_pages.wait_for(lambda: s.metrics()["idem_purged_total"] == 10000)
    purged = [e["records"] for e in s.log_events("jobs.purged")]
    assert sum(purged) == 10000 and len(purged) > 1


def test_c95_purge_leaves_the_running_and_the_unexpired(make_server):
    far = int(time.time() * 1000) + 30 * DAY

    def rows(s):
        add_records(s, 7)
        add_records(s, 5, status="PROCESSING")
        add_records(s, 3, expired_at=far)
        add_records(s, 2, status="FAILED", response_status=409)

    s = make_server(before_start=rows)
    site_pages.wait_for(lambda: expired(s) == 0, 10)
    site_pages.wait_for(lambda: s.metrics()["idem_purged_total"] == 9, 5)
    assert [tuple(r) for r in s.sql("SELECT status, count(*) FROM idempotency_record GROUP BY status ORDER BY 1")] == [
        ("PROCESSING", 5), ("SUCCESS", 3)]


@pytest.mark.parametrize("gone", [["path_one_canonical"], ["resource_client_ref", "outbox_once"]])
def test_c96_missing_unique_index(make_server, gone):
    """The purge stops, the gauge counts, the site says that it is not ready, and all that ends when the index is back."""
    s = make_server(start=False)
    add_records(s, 4)
    db = sqlite3.connect(s.db)
    made = [db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0] for name in gone]
    for name in gone:
        db.execute(f"DROP INDEX {name}")
    db.commit()
    s.start(wait=False)
    site_pages.wait_for(lambda: s.log_events("jobs.failed") and s.log_events("worker.started"), 20)
    s.remember_groups()
    r = s.get("/readyz")
    assert r.status == 503 and "unique index" in r.text and r.headers["Retry-After"] == "1"
    assert s.get("/healthz").status == 200
    assert s.metrics()["schema_guard_failures"] == len(gone)
    assert expired(s) == 4
    assert any(name in s.log_events("jobs.failed")[0]["detail"] for name in gone)
    for statement in made:
        db.execute(statement)
    db.commit()
    db.close()
    s.restart()
    site_pages.wait_for(lambda: expired(s) == 0, 10)
    assert s.get("/readyz").status == 200 and s.metrics()["schema_guard_failures"] == 0
