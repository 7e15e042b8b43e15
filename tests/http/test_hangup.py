"""Clients that go away: at every stage, in numbers. Nothing crashes, nothing leaks, and a write that was accepted is done."""
import random
import socket
import struct
import time

import pytest

LONG = '{"title":"%s","content":"%s","state":"published"}'


def fields(server, key, length):
    return (f"Host: {server.host}:{server.port}\r\nAuthorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
            f"Idempotency-Key: {key}\r\nContent-Length: {length}\r\n\r\n").encode()


def get(server, path, more=""):
    return f"GET {path} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\n{more}\r\n".encode()


def reset(s):
    """Close so that the peer gets a reset at once."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def leave(s, how):
    if how == "reset":
        reset(s)
    elif how == "close":
        s.close()
    else:
        s.shutdown(socket.SHUT_WR)
        time.sleep(0.01)
        reset(s)


def workers_alive(server, before):
    assert server.get("/readyz").status == 200
    assert sorted(server.worker_pids()) == before
    assert not [line for line in server.log_lines() if "AddressSanitizer" in line or "runtime error" in line or "LeakSanitizer" in line]


@pytest.fixture
def watched(server):
    before = sorted(server.worker_pids())
    yield server
    workers_alive(server, before)


HOW = pytest.mark.parametrize("how", ["reset", "close", "half"])


@HOW
def test_during_header(watched, how):
    data = get(watched, "/healthz", "X-More: fields\r\n")
    for n in range(0, len(data), 3):
        s = watched.connect()
        s.sendall(data[:n])
        leave(s, how)


@HOW
def test_during_body(watched, how):
    body = LONG % ("Never complete", "x" * 100000)
    head = b"POST /api/v1/articles HTTP/1.1\r\n" + fields(watched, "hang-up-body-000001", len(body))
    for n in (0, 1, 1000, 16384, 40000, 99999):
        for _ in range(5):
            s = watched.connect()
            s.sendall(head)
            s.sendall(body[:n].encode())
            time.sleep(0.002)
            leave(s, how)
    assert watched.value("SELECT count(*) FROM idempotency_record WHERE idempotency_key = 'hang-up-body-000001'") == 0


@HOW
def test_in_the_reader_queue(watched, how):
    """More at once than the readers can take: most are still queued when their client leaves."""
    for _ in range(4):
        crowd = []
        for i in range(100):
            s = watched.connect()
            s.sendall(get(watched, f"/no-such-page-{random.random()}"))
            crowd.append(s)
        for s in crowd:
            leave(s, how)


def test_reset_between_two_requests_in_a_pipeline(watched):
    """The next request of the pipeline has its ticket, and in the same round of the event loop comes the news that its client is gone."""
    rng = random.Random(20261130)
    for _ in range(600):
        s = watched.connect()
        s.sendall(get(watched, "/api/v1/articles/1") * rng.randrange(2, 40))
        if rng.random() < 0.5:
            s.recv(rng.choice((1, 500, 5000)))
        else:
            time.sleep(rng.random() * 0.004)
        reset(s)


@HOW
def test_as_one_of_many_for_the_same_page(watched, how):
    for round_ in range(10):
        crowd = []
        for i in range(40):
            s = watched.connect()
            s.sendall(get(watched, f"/same-page-{how}-{round_}"))
            crowd.append(s)
        random.shuffle(crowd)
        for s in crowd[:30]:
            leave(s, how)
        for s in crowd[30:]:
            assert s.recv(65536).startswith(b"HTTP/1.1 404 ")
            s.close()


@HOW
def test_in_the_writer(watched, how):
    """The write is done all the same, and its key gives the answer to whoever asks again."""
    keys = [f"hang-up-writer-{how}-{i:04}" for i in range(60)]
    body = (LONG % ("Written all the same", "A text that nobody waited for.")).encode()
    crowd = []
    for key in keys:
        s = watched.connect()
        s.sendall(b"POST /api/v1/articles HTTP/1.1\r\n" + fields(watched, key, len(body)) + body)
        crowd.append(s)
    for s in crowd:
        leave(s, how)
    count = f"SELECT count(*) FROM idempotency_record WHERE idempotency_key LIKE 'hang-up-writer-{how}-%' AND status = 'SUCCESS'"
    # A request that was whole when its client left is carried out; one that was reset before it was read never was a request.
    deadline = time.monotonic() + 10
    while how != "reset" and watched.value(count) < len(keys) and time.monotonic() < deadline:
        time.sleep(0.05)
    done = watched.value(count)
    assert how == "reset" or done == len(keys)
    for key in keys[:5]:
        answer = watched.post("/api/v1/articles", body=body, key=key, headers={"Content-Type": "application/json"})
        assert answer.status in ((200, 201) if how == "reset" else (200,))


@HOW
def test_while_the_answer_is_sent(watched, how):
    title = f"A long page to be left {how}"
    made = watched.post("/api/v1/articles", body={"title": title, "content": "words and more words \n\n" * 40000, "state": "published"})
    assert made.status == 201, made
    path = made.json()["path"]
    assert watched.get(path).status == 200
    for wait in (0, 0.001, 0.01):
        for _ in range(10):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect((watched.host, watched.port))
            s.sendall(get(watched, path) * 3)
            s.recv(1000)
            time.sleep(wait)
            leave(s, how)


def test_slow_readers_get_every_byte(watched):
    """The answer is larger than the socket takes, and changes while it is being sent."""
    made = watched.post("/api/v1/articles", body={"title": "Read slowly", "content": "word " * 150000, "state": "published"})
    assert made.status == 201, made
    path, want = made.json()["path"], None
    for _ in range(2):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect((watched.host, watched.port))
        s.settimeout(20)
        s.sendall(get(watched, path, "Connection: close\r\n"))
        got = s.recv(100)
        watched.post("/api/v1/articles", body={"title": "Meanwhile", "content": "something else", "state": "published"})
        while piece := s.recv(65536):
            got += piece
        s.close()
        body = got.split(b"\r\n\r\n", 1)[1]
        length = int(got.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        assert len(body) == length
        assert b"word word" in body and body.rstrip().endswith(b"</html>")
        assert want is None or body == want
        want = body


def test_writes_in_flight_are_answered_when_the_server_stops(make_server):
    server = make_server(env={"STELE_FAULT": "pre_commit:sleep1"}, workers=1)
    body = (LONG % ("Last words", "Sent just before the end.")).encode()
    crowd = []
    for i in range(4):
        s = server.connect(timeout=20)
        s.sendall(b"POST /api/v1/articles HTTP/1.1\r\n" + fields(server, f"drain-in-flight-{i:04}", len(body)) + body)
        crowd.append(s)
    time.sleep(0.3)
    server.stop()
    for s in crowd:
        got = b""
        while piece := s.recv(65536):
            got += piece
        assert got.startswith(b"HTTP/1.1 201 "), got
        assert b"\r\nConnection: close\r\n" in got
    server.start()
    assert server.value("SELECT count(*) FROM idempotency_record WHERE idempotency_key LIKE 'drain-in-flight-%'") == 4

