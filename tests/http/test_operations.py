"""Long work: begun by a keyed request, carried out once by whoever holds the lease, finished together with the record that waits for it."""
import os
import signal
import sqlite3
import subprocess
import threading
import time
import uuid

import stele

LATER = {"Prefer": "respond-async"}
LEASE_MS = 600


def wait_for(check, seconds=20):
    """What `check` gives as soon as it is true."""
    deadline = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def operation(server, location, token=None):
    return server.get(location, token=token or server.token)


def settled(server, location, seconds=30):
    """The operation as it ended."""
    return wait_for(lambda: (lambda a: a if a["status"] != "PROCESSING" else None)(operation(server, location).json()), seconds)


def record(server, key):
    return server.sql("SELECT * FROM idempotency_record WHERE idempotency_key = ?", key)[0]


def row(server, location):
    return server.sql("SELECT * FROM operation WHERE id = ?", location.rsplit("/", 1)[1])[0]


def write(server, sql, *args):
    """What a test says has happened to the database."""
    db = sqlite3.connect(server.db, timeout=10)
    try:
        changed = db.execute(sql, args).rowcount
        db.commit()
        return changed
    finally:
        db.close()


def items(count, prefix="item"):
    return {"items": [{"key": f"{prefix}-{n}", "article": {"title": f"{prefix} {n}", "content": "Words"}} for n in range(1, count + 1)]}


def begin(server, count, key=None, prefix="item", **kw):
    answer = server.post("/api/v1/imports", items(count, prefix), key=key or stele.new_key(), **kw)
    assert answer.status == 202, answer
    return answer.headers["location"]


def articles(server):
    return server.value("SELECT count(*) FROM resource WHERE kind = 'article'")


class Paused:
    """jobs stand still, between two of their transactions: what is begun meanwhile waits."""

    def __init__(self, server):
        self.server, self.pid = server, server.child_pid("jobs")

    def __enter__(self):
        wait_for(self.stop)
        return self

    def stop(self):
        os.kill(self.pid, signal.SIGSTOP)
        wait_for(lambda: open(f"/proc/{self.pid}/stat").read().rsplit(")", 1)[1].split()[0] == "T")
        db = sqlite3.connect(self.server.db, timeout=0.2, isolation_level=None)
        try:
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
            return True
        except sqlite3.OperationalError:
            os.kill(self.pid, signal.SIGCONT)
            return False
        finally:
            db.close()

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGCONT)


def abandon(server, location, attempts=1):
    """As a worker leaves it that is gone: its lease is over."""
    assert write(server, "UPDATE operation SET owner_token = 'gone', lease_until = 1, attempts = ? WHERE id = ? AND state = 'PROCESSING'",
                 attempts, location.rsplit("/", 1)[1]) == 1


def assert_sound(server):
    now = int(time.time() * 1000)
    assert server.value("SELECT count(*) FROM operation WHERE state = 'PROCESSING' AND lease_until > 0 AND lease_until < ?", now - 120000) == 0
    assert server.value("SELECT count(*) FROM (SELECT path FROM path GROUP BY path HAVING count(*) > 1)") == 0
    assert server.value("SELECT count(*) FROM resource r WHERE NOT EXISTS (SELECT 1 FROM path p WHERE p.resource_id = r.id)") == 0
    assert server.value("PRAGMA integrity_check") == "ok"


def counts(server):
    return {t: server.value(f"SELECT count(*) FROM {t}") for t in ("resource", "path", "outbox", "operation")}


# -- Prefer: respond-async


def test_an_article_that_is_not_waited_for_is_made_once_and_the_retry_gets_the_report(server):
    key, body = stele.new_key(), {"title": "Made later", "content": "Words", "state": "published"}
    before = counts(server)
    first = server.post("/api/v1/articles", body, key=key, headers=LATER)
    assert first.status == 202
    assert first.headers["preference-applied"] == "respond-async"
    assert first.headers["retry-after"] == "1"
    assert first.headers["idempotent-replayed"] == "false"
    location = first.headers["location"]
    assert location.startswith("/api/v1/operations/")
    assert (first.json()["status"], first.json()["status_url"]) == ("PROCESSING", location)
    done = settled(server, location)
    assert (done["status"], done["progress"], done["error"], done["retryable"]) == ("SUCCESS", {"done": 1, "total": 1}, None, False)
    assert done["result"]["created"] == 1
    made = server.get(done["result"]["details"]["location"], token=server.token).json()
    assert (made["title"], made["state"]) == ("Made later", "published")
    again = server.post("/api/v1/articles", body, key=key, headers=LATER)
    assert again.status == 200
    assert (again.headers["idempotent-replayed"], again.headers["idempotency-original-status"]) == ("true", "202")
    assert (again.headers["location"], again.json()["status"]) == (location, "SUCCESS")
    assert "retry-after" not in again.headers
    after = counts(server)
    assert after["operation"] - before["operation"] == 1
    assert server.value("SELECT count(*) FROM revision WHERE title = 'Made later'") == 1
    assert tuple(record(server, key))[6] == "SUCCESS"
    assert not os.path.exists(os.path.join(server.data, "imports", location.rsplit("/", 1)[1]))


def test_another_request_with_the_key_is_a_conflict_whether_the_work_goes_on_or_not(server):
    key = stele.new_key()
    first = server.post("/api/v1/articles", {"title": "One"}, key=key, headers=LATER)
    assert first.status == 202
    assert server.post("/api/v1/articles", {"title": "Two"}, key=key, headers=LATER).status == 409
    settled(server, first.headers["location"])
    conflict = server.post("/api/v1/articles", {"title": "Two"}, key=key, headers=LATER)
    assert (conflict.status, conflict.json()["code"]) == (409, "idempotency_key_conflict")
    assert "retry-after" not in conflict.headers


def test_what_is_not_valid_is_refused_at_once_and_leaves_the_key_unused(server):
    key = stele.new_key()
    before = counts(server)
    refused = server.post("/api/v1/articles", {"title": ""}, key=key, headers=LATER)
    assert (refused.status, refused.json()["code"]) == (422, "validation_failed")
    assert counts(server) == before
    assert server.sql("SELECT * FROM idempotency_record WHERE idempotency_key = ?", key) == []
    assert server.post("/api/v1/articles", {"title": "Better"}, key=key, headers=LATER).status == 202


def test_a_refusal_that_only_the_writer_finds_ends_the_operation_and_is_replayed(make_server):
    server = make_server()
    key, body = stele.new_key(), {"title": "B", "slug": "taken"}
    with Paused(server):
        first = server.post("/api/v1/articles", body, key=key, headers=LATER)
        assert server.post("/api/v1/articles", {"title": "A", "slug": "taken"}).status == 201
    done = settled(server, first.headers["location"])
    assert (done["status"], done["error"]["code"], done["retryable"]) == ("FAILED", "slug_conflict", False)
    assert "taken" in done["error"]["detail"]
    again = server.post("/api/v1/articles", body, key=key, headers=LATER)
    assert (again.status, again.json()["code"], again.headers["idempotent-replayed"]) == (409, "slug_conflict", "true")
    assert articles(server) == 1
    assert tuple(server.sql("SELECT status, retryable, response_status FROM idempotency_record WHERE idempotency_key = ?", key)[0]) == ("FAILED", 0, 409)


def test_a_preference_is_only_what_the_field_says(server):
    for value, status in (("wait=10, respond-async;x=1", 202), ("respond-asynchronously", 201), ("return=minimal", 201)):
        assert server.post("/api/v1/articles", {"title": "P"}, headers={"Prefer": value}).status == status
    assert server.post("/api/v1/tags", {"title": "T"}, headers=LATER).status == 201


def test_a_page_may_be_left_to_jobs_too(server):
    first = server.post("/api/v1/pages", {"title": "Later page", "slug": "later-page"}, headers=LATER)
    done = settled(server, first.headers["location"])
    assert server.get(done["result"]["details"]["location"], token=server.token).json()["path"] == "/later-page"


# -- The retry while it runs, and the state as others see it


def test_a_retry_while_the_work_goes_on_gets_202_and_starts_nothing(make_server):
    server = make_server(env={"STELE_FAULT": "worker_item_1:sleep2", "STELE_FAULT_ONCE": "."})
    key = stele.new_key()
    location = begin(server, 3, key)
    again = server.post("/api/v1/imports", items(3), key=key)
    assert again.status == 202
    assert (again.headers["location"], again.headers["retry-after"], again.json()["status"]) == (location, "1", "PROCESSING")
    assert again.json()["status_url"] == location
    assert server.post("/api/v1/imports", items(4), key=key).status == 409
    now = operation(server, location)
    assert (now.status, now.json()["status"], now.headers["retry-after"]) == (200, "PROCESSING", "1")
    assert now.json()["result"] is None
    done = settled(server, location)
    assert done["result"]["created"] == 3
    finished = operation(server, location)
    assert "retry-after" not in finished.headers
    replay = server.post("/api/v1/imports", items(3), key=key)
    assert (replay.status, replay.headers["idempotency-original-status"]) == (200, "202")
    assert replay.json()["result"] == done["result"]
    assert server.value("SELECT count(*) FROM operation") == 1
    assert (articles(server), len(replay.body) <= 4096) == (3, True)


def test_an_operation_is_seen_by_whoever_began_it_and_by_admins(server):
    mine = server.post("/api/v1/articles", {"title": "Mine"}, token=server.tokens["author"], headers=LATER).headers["location"]
    settled(server, mine)
    assert operation(server, mine, server.tokens["author"]).status == 200
    assert operation(server, mine, server.tokens["admin"]).status == 200
    for path in (mine, mine + "/report"):
        assert server.get(path).status == 401
        other = server.get(path, token=server.tokens["editor"])
        assert (other.status, other.json()["code"]) == (404, "not_found")
    assert server.post(mine + "/cancel", token=server.tokens["editor"]).status == 404
    for unknown in (str(uuid.uuid4()), "x", "%00", "..", "1" * 500):
        assert server.get("/api/v1/operations/" + unknown, token=server.token).status in (404, 400)


def test_ones_own_operations_are_listed_newest_first_page_by_page(make_server):
    server = make_server()
    made = []
    for n in range(5):
        made.append(server.post("/api/v1/articles", {"title": f"L{n}"}, token=server.tokens["author"], headers=LATER).headers["location"])
    server.post("/api/v1/articles", {"title": "other"}, token=server.tokens["editor"], headers=LATER)
    seen, path = [], "/api/v1/operations?limit=2"
    while path:
        page = server.get(path, token=server.tokens["author"])
        assert page.status == 200
        seen += [o["status_url"] for o in page.json()["items"]]
        assert bool(page.json()["next"]) == ("link" in page.headers)
        path = page.headers["link"].split(">")[0][1 + len(server.base):] if page.json()["next"] else None
    assert seen == made[::-1]
    assert server.get("/api/v1/operations").status == 401
    cursor = server.get("/api/v1/operations?limit=2", token=server.tokens["author"]).json()["next"]
    assert server.get("/api/v1/operations?cursor=" + cursor, token=server.tokens["editor"]).json()["code"] == "invalid_cursor"
    for limit in ("0", "101", "x", "-1"):
        assert server.get("/api/v1/operations?limit=" + limit, token=server.token).status == 422


def test_so_many_wait_that_one_more_is_told_to_come_later(make_server):
    server = make_server()
    key = stele.new_key()
    with Paused(server):
        db = sqlite3.connect(server.db, timeout=10)
        db.executemany("INSERT INTO operation (id, kind, user_id, scopes, request_id, state, created_at, changed_at) "
                       "VALUES (?, 'create', 1, 15, '', 'PROCESSING', 1, 1)", [(f"00000000-0000-7000-8000-{n:012x}",) for n in range(1000)])
        db.commit()
        busy = server.post("/api/v1/imports", items(1), key=key)
        assert (busy.status, busy.json()["code"], busy.headers["retry-after"]) == (503, "busy", "1")
        assert server.sql("SELECT 1 FROM idempotency_record WHERE idempotency_key = ?", key) == []
        imports = os.path.join(server.data, "imports")
        for n in range(2000):
            open(os.path.join(imports, f"{n}"), "w").close()
        assert server.post("/api/v1/imports", items(1), key=key).status == 503
        for name in os.listdir(imports):
            os.unlink(os.path.join(imports, name))
        db.execute("DELETE FROM operation")
        db.commit()
        db.close()
        location = begin(server, 1, key)
    assert settled(server, location)["status"] == "SUCCESS"


# -- Leases


def test_a_worker_that_is_killed_is_followed_by_another_and_no_item_is_doubled(make_server):
    server = make_server(env={"STELE_FAULT": "worker_item_50:kill", "STELE_FAULT_ONCE": ".", "STELE_LEASE_MS": str(LEASE_MS)})
    location = begin(server, 100)
    done = settled(server, location)
    assert (done["status"], done["result"]["created"], done["result"]["existing"], done["attempts"]) == ("SUCCESS", 100, 0, 2)
    titles = [r[0] for r in server.sql("SELECT v.title FROM resource r JOIN revision v ON v.resource_id = r.id WHERE r.kind = 'article' ORDER BY r.id")]
    assert titles == [f"item {n}" for n in range(1, 101)]
    report = server.get(location + "/report?limit=200", token=server.token).json()["items"]
    assert [(e["number"], e["result"]) for e in report] == [(n, "created") for n in range(1, 101)]
    assert row(server, location)["generation"] >= 2
    assert server.value("SELECT count(*) FROM outbox WHERE aggregate_id IN (SELECT id FROM resource WHERE kind = 'article')") == 100
    assert_sound(server)


def test_of_many_retries_on_work_whose_worker_is_gone_one_takes_it_over(make_server):
    server = make_server()
    key = stele.new_key()
    before = server.metrics()["idem_processing_timeout_total"]
    with Paused(server):
        location = begin(server, 3, key)
        abandon(server, location)
        answers, gate = [], threading.Barrier(10)

        def retry():
            gate.wait()
            answers.append(server.post("/api/v1/imports", items(3), key=key))

        threads = [threading.Thread(target=retry) for _ in range(10)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert [(a.status, a.headers["location"]) for a in answers] == [(202, location)] * 10
        assert tuple(row(server, location)[c] for c in ("generation", "attempts", "lease_until", "owner_token")) == (2, 2, 0, None)
        assert tuple(record(server, key)[c] for c in ("status", "generation", "attempts")) == ("PROCESSING", 2, 2)
        wait_for(lambda: server.metrics()["idem_processing_timeout_total"] == before + 1)
    done = settled(server, location)
    assert (done["status"], done["result"]["created"], done["attempts"]) == ("SUCCESS", 3, 2)
    assert articles(server) == 3


def test_work_whose_worker_is_gone_is_finished_though_nobody_asks(make_server):
    server = make_server()
    key = stele.new_key()
    with Paused(server):
        location = begin(server, 3, key)
        abandon(server, location)
    done = settled(server, location)
    assert (done["status"], done["result"]["created"], done["attempts"]) == ("SUCCESS", 3, 2)
    assert tuple(record(server, key)[c] for c in ("status", "generation", "attempts")) == ("SUCCESS", 2, 2)
    assert server.metrics()["idem_processing_timeout_total"] == 1


def test_a_worker_that_wakes_after_its_lease_writes_nothing(make_server):
    server = make_server(env={"STELE_FAULT": "worker_item_3:sleep1", "STELE_FAULT_ONCE": ".", "STELE_LEASE_MS": str(LEASE_MS)})
    stopped = server.child_pid("jobs")
    location = begin(server, 6)
    wait_for(lambda: row(server, location)["done"] == 2 and os.path.exists(os.path.join(server.home, "worker_item_3.sleep1")))
    os.kill(stopped, signal.SIGSTOP)    # before its third item, in no transaction
    log = open(os.path.join(server.home, "second"), "wb")
    second = subprocess.Popen([str(stele.STELE), "jobs", "--data", server.data], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=server.home,
                              env={**os.environ, "STELE_LEASE_MS": str(LEASE_MS)})
    try:
        done = settled(server, location)
        assert (done["status"], done["attempts"], done["result"]["created"]) == ("SUCCESS", 2, 6)
        before = [tuple(r) for r in server.sql("SELECT * FROM operation")], counts(server), server.value("SELECT count(*) FROM change_log")
        os.kill(stopped, signal.SIGCONT)
        wait_for(lambda: [e for e in server.log_events("operation.lost") if e["operation"] == location.rsplit("/", 1)[1]])
        assert ([tuple(r) for r in server.sql("SELECT * FROM operation")], counts(server), server.value("SELECT count(*) FROM change_log")) == before
        assert articles(server) == 6
        assert_sound(server)
    finally:
        os.kill(stopped, signal.SIGCONT)
        second.terminate()
        assert second.wait(20) == 0
        log.close()


def test_work_that_was_taken_over_too_often_fails_and_may_be_asked_for_again(make_server):
    server = make_server()
    key = stele.new_key()
    with Paused(server):
        location = begin(server, 3, key)
        abandon(server, location, attempts=6)
    failed = settled(server, location)
    assert (failed["status"], failed["retryable"], failed["error"]["code"]) == ("FAILED", True, "processing_timeout")
    assert tuple(record(server, key)[c] for c in ("status", "retryable", "response_status")) == ("FAILED", 1, 503)
    assert server.metrics()["idem_processing_timeout_total"] == 1
    assert articles(server) == 0
    with Paused(server):
        answers = [server.post("/api/v1/imports", items(3), key=key) for _ in range(3)]
        assert [(a.status, a.headers["location"]) for a in answers] == [(202, location)] * 3
        assert tuple(row(server, location)[c] for c in ("state", "attempts", "error")) == ("PROCESSING", 1, None)
        assert server.post("/api/v1/imports", items(2), key=key).json()["code"] == "idempotency_key_conflict"
    assert settled(server, location)["result"]["created"] == 3
    assert server.post("/api/v1/imports", items(3), key=key).status == 200
    assert (articles(server), server.value("SELECT count(*) FROM operation")) == (3, 1)


def test_what_kills_every_worker_is_given_up_and_mended_by_the_same_request_without_doubling(make_server):
    server = make_server(env={"STELE_FAULT": "worker_item_3:kill", "STELE_LEASE_MS": "300"})
    key = stele.new_key()
    location = begin(server, 4, key)
    failed = settled(server, location, 60)
    assert (failed["status"], failed["retryable"], failed["attempts"], failed["progress"]) == ("FAILED", True, 6, {"done": 2, "total": 4})
    assert (articles(server), server.metrics()["idem_processing_timeout_total"]) == (2, 6)
    server.env = {}
    server.restart()
    assert articles(server) == 2
    for _ in range(2):
        assert server.post("/api/v1/imports", items(4), key=key).status in (200, 202)
    assert settled(server, location)["result"]["created"] == 4
    replay = server.post("/api/v1/imports", items(4), key=key)
    assert (replay.status, replay.json()["result"]["created"]) == (200, 4)
    assert (articles(server), server.value("SELECT count(*) FROM outbox WHERE topic = 'resource.created'")) == (4, 4)
    assert_sound(server)


def test_an_import_goes_on_after_a_restart_in_its_middle(make_server):
    server = make_server(env={"STELE_FAULT": "worker_item_5:sleep1", "STELE_FAULT_ONCE": "."})
    location = begin(server, 30)
    wait_for(lambda: row(server, location)["done"] == 4)
    server.restart()
    done = settled(server, location)
    assert (done["status"], done["result"]["created"], done["attempts"]) == ("SUCCESS", 30, 1)
    assert articles(server) == 30
    assert_sound(server)


def test_whoever_lost_the_right_meanwhile_gets_nothing_more_done(make_server):
    server = make_server()
    with Paused(server):
        first = server.post("/api/v1/articles", {"title": "Gone"}, token=server.tokens["author"], headers=LATER)
        write(server, "UPDATE user SET role = 'viewer' WHERE name = 'author'")
        second = server.post("/api/v1/articles", {"title": "Gone too"}, token=server.tokens["editor"], headers=LATER)
        write(server, "UPDATE user SET is_active = 0 WHERE name = 'editor'")
    for answer in (first, second):
        done = settled(server, answer.headers["location"])
        assert (done["status"], done["error"]["code"]) == ("FAILED", "forbidden")
    assert articles(server) == 0


# -- Cancelling


def test_what_waits_is_cancelled_and_never_begun(make_server):
    server = make_server()
    key = stele.new_key()
    with Paused(server):
        location = begin(server, 3, key)
        cancelled = server.post(location + "/cancel")
    assert cancelled.status == 200
    assert (cancelled.json()["status"], cancelled.json()["error"]["code"], cancelled.json()["retryable"]) == ("FAILED", "operation_cancelled", False)
    after = begin(server, 1, prefix="after")
    settled(server, after)
    assert articles(server) == 1
    again = server.post("/api/v1/imports", items(3), key=key)
    assert (again.status, again.json()["code"], again.headers["idempotent-replayed"]) == (409, "operation_cancelled", "true")
    assert server.post(location + "/cancel").json() == cancelled.json()


def test_what_runs_is_cancelled_between_two_items_and_what_was_done_stays(make_server):
    server = make_server(env={"STELE_FAULT": "worker_item_4:sleep1", "STELE_FAULT_ONCE": "."})
    location = begin(server, 10)
    wait_for(lambda: row(server, location)["done"] == 3)
    key = stele.new_key()
    cancelled = server.post(location + "/cancel", key=key)
    assert (cancelled.status, cancelled.json()["status"], cancelled.json()["progress"]) == (200, "FAILED", {"done": 3, "total": 10})
    assert cancelled.json()["result"]["created"] == 3
    replay = server.post(location + "/cancel", key=key)
    assert (replay.status, replay.headers["idempotent-replayed"], replay.body) == (200, "true", cancelled.body)
    wait_for(lambda: server.log_events("operation.lost"))
    assert articles(server) == 3
    assert operation(server, location).json() == cancelled.json()
    wait_for(lambda: server.log_events("operation.left"))
    assert_sound(server)


def test_what_is_over_cannot_be_cancelled(server):
    location = begin(server, 1, prefix=stele.new_key())
    settled(server, location)
    before = tuple(row(server, location))
    key = stele.new_key()
    for _ in range(2):
        refused = server.post(location + "/cancel", key=key)
        assert (refused.status, refused.json()["code"]) == (409, "state_conflict")
    assert tuple(row(server, location)) == before
    assert server.request("POST", location + "/cancel", token=server.token).json()["code"] == "idempotency_key_required"
    assert server.post("/api/v1/operations/" + str(uuid.uuid4()) + "/cancel").status == 404


def test_an_author_cancels_what_is_their_own_and_an_admin_what_anybody_began(make_server):
    server = make_server()
    with Paused(server):
        mine, other = (server.post("/api/v1/articles", {"title": t}, token=server.tokens["author"], headers=LATER).headers["location"] for t in "ab")
        assert server.post(mine + "/cancel", token=server.tokens["viewer"]).status == 403
        narrow = server.command("token", "add", "--user", "author", "--scopes", "read").stdout.strip()
        assert server.post(mine + "/cancel", token=narrow).status == 403
        assert server.post(mine + "/cancel", token=server.tokens["author"]).json()["status"] == "FAILED"
        assert server.post(other + "/cancel").json()["status"] == "FAILED"
    settled(server, server.post("/api/v1/articles", {"title": "c"}, headers=LATER).headers["location"])
    assert articles(server) == 1


def test_what_failed_otherwise_cannot_be_cancelled(make_server):
    server = make_server()
    with Paused(server):
        location = begin(server, 1)
        abandon(server, location, attempts=6)
    assert settled(server, location)["error"]["code"] == "processing_timeout"
    refused = server.post(location + "/cancel")
    assert (refused.status, refused.json()["code"]) == (409, "state_conflict")
    assert tuple(row(server, location)[c] for c in ("state", "retryable")) == ("FAILED", 1)


# -- Retention


def test_what_ended_long_ago_is_purged_with_its_report_and_its_files(make_server):
    server = make_server()
    old, kept, retryable = (begin(server, 2, prefix=p) for p in ("old", "kept", "again"))
    for location in (old, kept, retryable):
        settled(server, location)
    waits = None
    with Paused(server):
        waits = begin(server, 1, prefix="waits")
        ids = {name: location.rsplit("/", 1)[1] for name, location in (("old", old), ("kept", kept), ("again", retryable), ("waits", waits))}
        write(server, "UPDATE operation SET changed_at = 1 WHERE id <> ?", ids["kept"])
        write(server, "UPDATE operation SET changed_at = 1, state = 'FAILED', retryable = 1 WHERE id = ?", ids["again"])
        write(server, "INSERT INTO processed_message VALUES ('t', 'old', 1), ('t', 'new', ?)", int(time.time() * 1000))
        imports = os.path.join(server.data, "imports")
        orphan, fresh, foreign = str(uuid.uuid4()), str(uuid.uuid4()), "notes.txt"
        for name in (orphan, fresh, foreign):
            open(os.path.join(imports, name), "w").close()
        os.utime(os.path.join(imports, orphan), (1, 1))
    server.restart()
    wait_for(lambda: not server.sql("SELECT 1 FROM operation WHERE id = ?", ids["old"]))
    wait_for(lambda: not os.path.exists(os.path.join(imports, orphan)))
    settled(server, waits)
    assert server.value("SELECT count(*) FROM operation_entry WHERE operation_id = ?", ids["old"]) == 0
    assert {r[0] for r in server.sql("SELECT id FROM operation")} == {ids["kept"], ids["again"], ids["waits"]}
    assert server.value("SELECT count(*) FROM operation_entry WHERE operation_id = ?", ids["kept"]) == 2
    assert wait_for(lambda: [r[0] for r in server.sql("SELECT message_id FROM processed_message")] == ["new"])
    assert {fresh, foreign} <= set(os.listdir(imports))


def test_the_purge_of_records_leaves_what_is_still_under_way(make_server):
    server = make_server()
    key = stele.new_key()
    with Paused(server):
        location = begin(server, 1, key)
        write(server, "UPDATE idempotency_record SET expired_at = 1 WHERE idempotency_key = ?", key)
        retry = server.post("/api/v1/imports", items(1), key=key)
        assert (retry.status, retry.headers["location"]) == (202, location)
    server.restart()
    settled(server, location)
    assert articles(server) == 1
