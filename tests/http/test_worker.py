"""What a worker does when something goes wrong around it: a forbidden call, a stuck writer, a dead parent, full queues, idle clients."""
import http.client
import os
import signal
import sqlite3
import time

import pytest

ARTICLE = {"title": "Under pressure", "content": "Nothing that was acknowledged is lost.", "state": "published"}
SANITIZED = pytest.mark.skipif(os.environ.get("STELE_KORE") is not None, reason="sanitizers need calls that the sandbox forbids")


def wait_for(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return True
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.05)
    return False


def once(tmp_path, fault):
    return {"STELE_FAULT": fault, "STELE_FAULT_ONCE": str(tmp_path)}


@SANITIZED
def test_a_forbidden_system_call_in_a_thread_ends_the_worker(make_server, tmp_path):
    server = make_server(env=once(tmp_path, "reader:syscall:5"), workers=1)
    first = server.worker_pids()
    lost = 0
    for _ in range(8):
        try:
            assert server.get("/healthz", timeout=5).status == 200
        except (OSError, http.client.HTTPException):
            lost += 1
            time.sleep(0.5)
    assert lost >= 1
    assert wait_for(lambda: server.get("/readyz").status == 200)
    assert wait_for(lambda: len(server.worker_pids()) == 1 and server.worker_pids() != first)


def is_confined(pid):
    status = open(f"/proc/{pid}/status").read()
    return "\nSeccomp:\t2\n" in status and "\nNoNewPrivs:\t1\n" in status


@SANITIZED
def test_workers_are_confined(server):
    # One of them may answer while another is still being started.
    assert wait_for(lambda: len(server.worker_pids()) == 2 and all(is_confined(pid) for pid in server.worker_pids()))


def test_a_stuck_writer_is_started_anew(make_server, tmp_path):
    server = make_server(env=once(tmp_path, "pre_claim:sleep60"), workers=1)
    first, key = server.worker_pids(), "stuck-writer-key-1"
    with pytest.raises((OSError, http.client.HTTPException)):
        server.post("/api/v1/articles", body=ARTICLE, key=key, timeout=30)
    assert server.log_events("writer.stalled")
    assert wait_for(lambda: server.get("/readyz").status == 200)
    assert server.worker_pids() != first
    again = server.post("/api/v1/articles", body=ARTICLE, key=key)
    assert (again.status, again.headers["Idempotent-Replayed"]) == (201, "false")


def test_workers_do_not_outlive_a_killed_parent(make_server):
    server = make_server(workers=2)
    leader, workers = server.child_pid("kore"), server.worker_pids()
    os.kill(leader, signal.SIGKILL)

    def gone(pid):
        try:
            return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] in "ZX"
        except FileNotFoundError:
            return True

    assert wait_for(lambda: all(gone(pid) for pid in workers))
    assert wait_for(lambda: server.get("/readyz").status == 200)


def test_a_full_writer_queue_says_so_and_takes_no_key(make_server):
    server = make_server(env={"STELE_FAULT": "pre_commit:sleep1"}, workers=1, config="max_queue = 2\n")
    crowd = []
    for i in range(12):
        conn = http.client.HTTPConnection(server.host, server.port, timeout=30)
        body = '{"title":"Queued %d","content":"x"}' % i
        conn.request("POST", "/api/v1/articles", body, {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json",
                                                       "Idempotency-Key": f"full-queue-key-{i:04}"})
        crowd.append(conn)
        time.sleep(0.02)
    answers = [conn.getresponse() for conn in crowd]
    busy = [i for i, a in enumerate(answers) if a.status == 503]
    assert busy and len(busy) < 12
    for i, answer in enumerate(answers):
        body = answer.read()
        assert answer.status in (201, 503)
        if answer.status == 503:
            assert answer.headers["Retry-After"] == "1" and b'"busy"' in body and b'"retryable":true' in body.replace(b" ", b"")
    kept = server.value("SELECT count(*) FROM idempotency_record WHERE idempotency_key LIKE 'full-queue-key-%'")
    assert kept == 12 - len(busy)
    assert server.metrics()["write_busy_total"] >= len(busy)


def test_a_newer_schema_ends_the_web_side(make_server):
    server = make_server(workers=1)
    first = server.child_pid("kore")
    db = sqlite3.connect(server.db, timeout=10)
    db.execute("INSERT INTO schema_migration (version, name, sha256, applied_at) VALUES (9999, 'later', ?, 0)", ("0" * 64,))
    db.commit()
    try:
        assert server.post("/api/v1/articles", body=ARTICLE).status == 503
        assert wait_for(lambda: server.log_events("schema.newer"))
        assert server.value("SELECT count(*) FROM resource") == 0
    finally:
        db.execute("DELETE FROM schema_migration WHERE version = 9999")
        db.commit()
        db.close()
    assert wait_for(lambda: server.get("/readyz").status == 200, 20)
    assert server.child_pid("kore") != first
    assert server.post("/api/v1/articles", body=ARTICLE).status == 201


def test_unfinished_requests_and_idle_connections_end_in_time(make_server):
    server = make_server(workers=1)
    here = f"Host: {server.host}:{server.port}\r\n".encode()
    began = time.monotonic()
    header, silent = server.connect(timeout=20), server.connect(timeout=20)
    header.sendall(b"GET / HTTP/1.1\r\n" + here)
    got = b""
    while piece := header.recv(65536):
        got += piece
    assert got.startswith(b"HTTP/1.1 408 Request Timeout\r\n") and b"\r\nConnection: close\r\n" in got
    assert 9 < time.monotonic() - began < 14
    assert silent.recv(100) == b""		# nothing was asked, so nothing is said
    assert time.monotonic() - began < 14


def test_many_connections_at_once(make_server):
    server = make_server(workers=2)
    crowd = [server.connect() for _ in range(600)]
    request = f"GET / HTTP/1.1\r\nHost: {server.host}:{server.port}\r\n\r\n".encode()
    for s in crowd:
        s.sendall(request)
    for s in crowd:
        assert s.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
    for s in crowd:
        s.close()


def test_one_log_line_for_each_request_that_was_worked_on(make_server):
    server = make_server(workers=1)
    made = server.post("/api/v1/articles", body=ARTICLE, key="logged-request-key")
    assert made.status == 201

    def lines():
        return [e for e in server.log_events("request") if e["request_id"] == made.headers["X-Request-Id"]]

    assert wait_for(lines)		# it is written when the answer has left
    line, = lines()
    assert (line["status"], line["route"], line["method"], line["idempotency_key"]) == (201, "/api/v1/articles", "POST", "logged-request-key")
    assert line["resource"] > 0 and line["user"] > 0 and line["ms"] >= 0
    text = server.log_text()
    assert server.token not in text and ARTICLE["content"] not in text


def test_metrics_are_openmetrics(server):
    got = server.get("/metrics")
    assert got.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    lines = got.text.splitlines()
    assert lines[-1] == "# EOF"
    kinds = {}
    for line in lines[:-1]:
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in kinds
            kinds[name] = kind
        elif not line.startswith("#"):
            name = line.split("{")[0].split(" ")[0]
            family = name[:-6] if name.endswith("_total") else name
            assert family == list(kinds)[-1], "the rows of a family stand together"
            assert kinds[family] == ("counter" if name.endswith("_total") else "gauge")
            float(line.rsplit(" ", 1)[1])
    assert {"http_requests", "cache_hits", "idem_replay", "write_commits"} <= set(kinds)


def test_half_open_storm_leaves_room_for_others(make_server):
    """Many clients that never finish their header block do not keep anybody out."""
    server = make_server(workers=1)
    crowd = []
    for _ in range(500):
        s = server.connect()
        s.sendall(b"GET / HTTP/1.1\r\nX: ")
        crowd.append(s)
    assert server.get("/").status == 200
    for s in crowd:
        s.close()


def test_bodies_that_wait_are_bounded_together(make_server):
    """Clients that announce much and never finish cannot fill the memory; who comes then is told to come back."""
    server = make_server(workers=1)
    head = (f"POST /api/v1/articles HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {server.token}\r\nIdempotency-Key: never-finished-body\r\nContent-Length: 2000000\r\n\r\n").encode()
    crowd = []
    for _ in range(80):
        s = server.connect()
        try:
            s.sendall(head + b"x" * 1900000)
        except ConnectionError:
            pass
        crowd.append(s)
    busy = server.post("/api/v1/articles", body=ARTICLE)
    assert (busy.status, busy.headers["Retry-After"]) == (503, "1")
    assert server.get("/").status == 200
    for s in crowd:
        s.close()
    assert wait_for(lambda: server.post("/api/v1/articles", body=ARTICLE).status == 201)
