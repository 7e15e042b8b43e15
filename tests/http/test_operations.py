"""Long work: begun by a keyed request, carried out once by whoever holds the lease, finished together with the record that waits for it."""
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest

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
