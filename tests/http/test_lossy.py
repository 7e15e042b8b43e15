"""An answer, or a request, that is lost at any byte: the retry gets what was saved, and there is one effect."""
import http.client
import random
import subprocess
import threading

import pytest

from lossy import PASS, PLACES, Cut, LossyProxy, Refuse
from site_pages import publish, resource_id, wait_for, word
from stele import new_key

ARTICLES = "/api/v1/articles"
EFFECTS = ("SELECT edit_version, event_version, state, (SELECT count(*) FROM revision WHERE resource_id = r.id) AS revisions, "
           "(SELECT count(*) FROM outbox WHERE aggregate_id = r.id) AS events FROM resource r WHERE id = ?")


class Write:
    """One write of a kind, ready to be sent any number of times; `effects()` is what it left."""

    def __init__(self, server, kind):
        self.server, self.key, self.title = server, new_key(), word()
        self.method, self.path, self.body, self.headers, self.first = "POST", ARTICLES, {"title": self.title, "content": "x" * 300}, {}, 201
        self.made = None
        if kind == "create":
            return
        self.made = publish(server) if kind == "withdraw" else server.post(ARTICLES, {"title": word(), "content": "c"}).json()
        self.path, self.first = f"{ARTICLES}/{self.made['id']}", 200
        if kind == "update":
            self.method, self.headers = "PATCH", {"If-Match": '"1"'}
        else:
            self.path, self.body = f"{self.path}/{kind}", {}

    def send(self, connection):
        return self.server.request(self.method, self.path, self.body, token=self.server.token, key=self.key, headers=self.headers,
                                   connection=connection)

    def send_in_vain(self, connection):
        """Sent, and the answer never came whole. What this client reads of a head that ends early it takes for all of it."""
        try:
            self.cut_short = self.send(connection).body
        except BROKEN:
            self.cut_short = None

    def effects(self):
        if self.made is None:
            return self.server.value("SELECT count(*) FROM resource WHERE slug LIKE ?", self.title + "%")
        return tuple(self.server.sql(EFFECTS, resource_id(self.server, self.made))[0])

    def records(self):
        return self.server.value("SELECT count(*) FROM idempotency_record WHERE idempotency_key = ? AND status = 'SUCCESS'", self.key)


# What each write does to the rows, seen from before it.
EXPECTED = {
    "create": lambda before: before + 1,
    "update": lambda before: (before[0] + 1, before[1], before[2], before[3] + 1, before[4]),
    "publish": lambda before: (before[0] + 1, before[1] + 1, "published", before[3], before[4] + 1),
    "withdraw": lambda before: (before[0] + 1, before[1] + 1, "withdrawn", before[3], before[4] + 1),
}
KINDS = pytest.mark.parametrize("kind", EXPECTED)
BROKEN = (OSError, http.client.HTTPException)


def connect(proxy, timeout=10):
    return http.client.HTTPConnection(proxy.host, proxy.port, timeout=timeout)


@KINDS
@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("place", [p for p in PLACES if p != "everything"])
def test_reply_that_is_cut(server, kind, place, how):
    write = Write(server, kind)
    before = write.effects()
    with LossyProxy(server, [Cut("reply", place, how)]) as proxy:
        write.send_in_vain(connect(proxy))
        again = write.send(connect(proxy))
    lost = proxy.exchanges[0]
    assert lost.delivered < len(lost.reply.raw) and lost.reply.is_whole and write.cut_short != lost.reply.body
    assert lost.reply.first_line.split()[1] == str(write.first)
    assert (again.status, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.headers["Idempotency-Original-Status"] == str(write.first)
    # Byte for byte what was saved, though nobody ever saw it.
    assert again.body == lost.reply.body
    for name in ("Location", "ETag", "Link"):
        assert again.headers.get(name) == lost.reply.field(name.lower())
    assert write.effects() == EXPECTED[kind](before)
    assert write.records() == 1


@KINDS
@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("place", [p for p in PLACES if p != "everything"])
def test_request_that_is_cut_does_nothing(server, kind, place, how):
    write = Write(server, kind)
    before = write.effects()
    with LossyProxy(server, [Cut("request", place, how)]) as proxy:
        with pytest.raises(BROKEN):
            write.send(connect(proxy))
        assert write.records() == 0
        assert write.effects() == before
        first = write.send(connect(proxy))
        again = write.send(connect(proxy))
    assert (first.status, first.headers["Idempotent-Replayed"]) == (write.first, "false")
    assert (again.status, again.headers["Idempotent-Replayed"], again.body) == (200, "true", first.body)
    assert write.effects() == EXPECTED[kind](before)


@KINDS
@pytest.mark.parametrize("how", ["close", "reset", "stall"])
def test_request_that_arrives_whole_is_done_once_whoever_waits(server, kind, how):
    write = Write(server, kind)
    before = write.effects()
    with LossyProxy(server, [Cut("request", "everything", how)]) as proxy:
        with pytest.raises(BROKEN):
            write.send(connect(proxy, timeout=1))
        again = write.send(connect(proxy))
        assert again.status in (200, write.first)
        wait_for(lambda: write.records() == 1)
    assert write.send(http.client.HTTPConnection(server.host, server.port)).body == again.body
    assert write.effects() == EXPECTED[kind](before)


@pytest.mark.parametrize("place", ["nothing", "headers", "body"])
def test_reply_that_never_ends(server, place):
    """The client's patience ends; nothing tells the server."""
    write = Write(server, "create")
    with LossyProxy(server, [Cut("reply", place, "stall")]) as proxy:
        with pytest.raises(TimeoutError):
            write.send(connect(proxy, timeout=0.5))
        again = write.send(connect(proxy))
    assert (again.status, again.headers["Idempotent-Replayed"], again.body) == (200, "true", proxy.exchanges[0].reply.body)
    assert write.effects() == 1


def test_whole_reply_without_an_end_of_the_connection(server):
    """The length says where it ends: a client that got all bytes is served, FIN or not."""
    write = Write(server, "create")
    with LossyProxy(server, [Cut("reply", "everything", "stall")]) as proxy:
        assert write.send(connect(proxy, timeout=2)).status == 201
        assert write.send(connect(proxy)).headers["Idempotent-Replayed"] == "true"
    assert write.effects() == 1


def test_every_byte_of_a_reply(server):
    """One answer, lost after each of its bytes."""
    write = Write(server, "create")
    first = write.send(None)
    with LossyProxy(server) as proxy:
        write.send(connect(proxy))
        size = len(proxy.exchanges[0].reply.raw)
        proxy.plan = [Cut("reply", n) for n in range(size)]
        for _ in range(size):
            write.send_in_vain(connect(proxy))
            assert write.cut_short != first.body
        again = write.send(connect(proxy))
    assert len(proxy.exchanges) == size + 2
    assert {e.reply.body for e in proxy.exchanges} == {first.body} == {again.body}
    assert write.effects() == 1


def test_c169_curl_that_retries_what_it_may(server, tmp_path):
    title, key = word(), new_key()
    with LossyProxy(server, [Refuse(503, retry_after=0), Cut("reply", "nothing"), PASS]) as proxy:
        run = subprocess.run(
            ["curl", "-sS", "--retry", "3", "--retry-delay", "0", "--retry-all-errors", "-o", str(tmp_path / "body"), "-w", "%{http_code}",
             f"http://{proxy.host}:{proxy.port}{ARTICLES}", "-H", f"Authorization: Bearer {server.token}", "-H", f"Idempotency-Key: {key}",
             "-H", "Content-Type: application/json", "-d", f'{{"title": "{title}"}}'], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run
    assert len(proxy.exchanges) == 3
    assert run.stdout.endswith("200") and (tmp_path / "body").read_bytes() == proxy.exchanges[1].reply.body
    assert server.value("SELECT count(*) FROM resource WHERE slug LIKE ?", title + "%") == 1


def test_c21_gateway_that_gave_up_though_the_write_was_done(server):
    write = Write(server, "create")
    with LossyProxy(server, [Refuse(504, forward=True), Refuse(504, forward=True)]) as proxy:
        assert [write.send(connect(proxy)).status for _ in range(3)] == [504, 504, 200]
    assert {e.reply.body for e in proxy.exchanges} == {proxy.exchanges[0].reply.body}
    assert write.effects() == 1


def test_c174_clients_that_retry_blindly_through_a_bad_network(server):
    """A key per call, retried on every error and on 409 and 5xx; a fifth of all exchanges is lost somewhere."""
    clients, calls, dice = 8, 25, random.Random(174)
    prefix = word()
    losses = [Cut(what, place, how) for what in ("request", "reply") for place in PLACES for how in ("close", "reset")]
    plan = [dice.choice(losses) if dice.random() < 0.2 else PASS for _ in range(clients * calls * 3)]
    given = []

    def client(n):
        for call in range(calls):
            key, body = new_key(), {"title": f"{prefix}-{n}-{call}"}
            for _ in range(20):
                try:
                    r = server.request("POST", ARTICLES, body, token=server.token, key=key, connection=connect(proxy))
                except BROKEN:
                    continue
                if r.status < 400:
                    given.append(r.json()["slug"])
                    break

    with LossyProxy(server, plan) as proxy:
        running = [threading.Thread(target=client, args=(n,)) for n in range(clients)]
        for t in running:
            t.start()
        for t in running:
            t.join()
    cut = sum(isinstance(e.step, Cut) for e in proxy.exchanges)
    assert cut >= clients * calls // 10
    assert len(given) == len(set(given)) == clients * calls
    stored = [r["slug"] for r in server.sql("SELECT slug FROM resource WHERE slug LIKE ?", prefix + "%")]
    assert sorted(stored) == sorted(given)
