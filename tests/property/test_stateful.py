"""Writes in any order, repeated, doubled and late, against a model of a few lines: what every path means, and what the sitemap lists.

After each step every path of the world is asked for, also those that nothing has (yet)."""
import collections
import http.client
import os
import pathlib
import re
import socket
import sys
import threading
import time

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))

import stele  # noqa: E402
from lossy import Message  # noqa: E402
from site_pages import word  # noqa: E402

ARTICLES, REDIRECTS = "/api/v1/articles", "/api/v1/redirects"
LEAST, SECONDS = 100, float(os.environ.get("STELE_STATEFUL_SECONDS", "120"))
NAMES, SOURCES = 8, 3
LATER = "2099-05-01T00:00:00.000Z"
ran = collections.Counter()
site = None


class Article:
    def __init__(self, told, state, path):
        self.uid, self.state, self.path, self.version = told["id"], state, path, told["version"]
        self.was_public = state == "published"


class Redirect:
    def __init__(self, told, target, status):
        self.uid, self.version, self.target, self.status = told["id"], told["version"], target, status


class Sent:
    """A write that was answered, to be sent again."""

    def __init__(self, method, path, body, headers, key, answer):
        self.method, self.path, self.body, self.headers, self.key, self.answer = method, path, body, headers, key, answer


class Site(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.world = word()
        self.names = [f"{self.world}-{n}" for n in range(NAMES)]
        self.sources = [f"/{self.world}-from-{n}" for n in range(SOURCES)]
        self.known = [f"/articles/{n}" for n in self.names] + self.sources
        self.meaning = {}               # path -> Article or Redirect; no other path means anything
        self.articles, self.sent = [], []

    # -- what it should be

    def due(self, path):
        """Status and Location."""
        holder = self.meaning.get(path)
        article = holder.target if isinstance(holder, Redirect) else holder
        if article is None or article.state in ("draft", "scheduled", "withdrawn"):
            return 404, None
        if article.state == "gone":
            return 410, None
        if isinstance(holder, Redirect):
            return holder.status, site.base + article.path
        return (200, None) if article.path == path else (301, site.base + article.path)

    def compare(self):
        asked = "".join(f"HEAD {p} HTTP/1.1\r\nHost: {site.host}:{site.port}\r\n\r\n" for p in self.known)
        site.pipe.sendall(asked.encode())
        # All are read before any is judged: the next world asks over the same connection.
        answers = [Message(site.stream, has_body=False) for _ in self.known]
        for path, m in zip(self.known, answers):
            assert (int(m.first_line.split()[1]), m.field("location")) == self.due(path), (path, self.due(path), m.raw)
        listed = re.findall(rf"<loc>{re.escape(site.base)}(/articles/{self.world}[^<]*)</loc>", self.ask("GET", "/sitemap.xml").text)
        assert sorted(listed) == sorted(a.path for a in self.articles if a.state == "published")

    # -- sending

    def ask(self, method, path, body=None, headers=None, key=None):
        return site.request(method, path, body, token=site.token, key=key, headers=headers, connection=site.connection)

    def write(self, method, path, body=None, version=None, status=200, code=None):
        """Sent with a key, so that it can be sent again; a refusal is expected by its code."""
        headers = {"If-Match": f'"{version}"'} if version else {}
        key = stele.new_key()
        r = self.ask(method, path, body, headers, key)
        assert r.status == status, (method, path, body, r)
        if code:
            assert r.json()["code"] == code, r
        if status in (200, 201, 409) and r.headers["Idempotent-Replayed"] == "false":
            self.sent = [*self.sent[-11:], Sent(method, path, body, headers, key, r)]
        return r.json()

    def step(self, article, name, body=None, status=200, code=None):
        told = self.write("POST", f"{ARTICLES}/{article.uid}/{name}", body, status=status, code=code)
        if status == 200:
            article.version = told["version"]
        return told

    def took(self, name):
        ran[name] += 1
        self.compare()

    # -- finding, or making, what a rule needs

    def free(self):
        return next((n for n in self.names if f"/articles/{n}" not in self.meaning), None)

    def make(self, state):
        name = self.free()
        if name is None:
            return None
        told = self.write("POST", ARTICLES, {"title": name, "slug": name, "content": f"Text of {name}.", "state": state}, status=201)
        article = Article(told, state, told["path"])
        self.articles.append(article)
        self.meaning[article.path] = article
        return article

    def one(self, n, *states):
        found = [a for a in self.articles if a.state in states]
        if found:
            return found[n % len(found)]
        if states[0] in ("draft", "published"):
            return self.make(states[0])
        article = self.make("published")
        if article and states[0] == "withdrawn":
            self.step(article, "withdraw")
            article.state = "withdrawn"
        elif article and states[0] == "scheduled":
            self.step(article, "withdraw")
            self.step(article, "schedule", {"publish_at": LATER})
            article.state = "scheduled"
        elif article:
            self.write("DELETE", f"{ARTICLES}/{article.uid}", version=article.version)
            article.version, article.state = article.version + 1, "gone"
        return article

    def leave(self, article):
        """Its path, for another: kept when it was ever public."""
        if not article.was_public:
            del self.meaning[article.path]

    number = st.integers(0, 63)

    # -- rules

    @rule(n=number, state=st.sampled_from(["draft", "published"]))
    def create(self, n, state):
        name = self.names[n % NAMES]
        if f"/articles/{name}" not in self.meaning:
            assert self.make(state) is not None
        else:
            self.write("POST", ARTICLES, {"title": name, "slug": name, "state": state}, status=409, code="slug_conflict")
        self.took("create")

    @rule(n=number, count=st.integers(2, 5))
    def create_many_times_at_once(self, n, count):
        name = self.free()
        if name is None:
            return
        key, body, answers = stele.new_key(), {"title": name, "slug": name, "state": "published"}, []
        barrier = threading.Barrier(count)

        def one():
            barrier.wait()
            answers.append(site.request("POST", ARTICLES, body, token=site.token, key=key))

        threads = [threading.Thread(target=one) for _ in range(count)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert sorted(r.status for r in answers) == [200] * (count - 1) + [201]
        assert len({r.body for r in answers}) == 1
        article = Article(answers[0].json(), "published", answers[0].json()["path"])
        self.articles.append(article)
        self.meaning[article.path] = article
        self.took("create_many_times_at_once")

    @rule(n=number)
    def update(self, n):
        article = self.one(n, "published", "draft", "withdrawn")
        if article:
            told = self.write("PATCH", f"{ARTICLES}/{article.uid}", {"summary": f"{n} of {article.version}"}, version=article.version)
            article.version += 1
            assert told["version"] == article.version and told["path"] == article.path
            self.took("update")

    @rule(n=number)
    def update_of_an_old_version(self, n):
        article = self.one(n, "published", "draft", "withdrawn")
        if article:
            self.write("PATCH", f"{ARTICLES}/{article.uid}", {"title": "Late"}, version=article.version + 1, status=412, code="version_conflict")
            self.took("update_of_an_old_version")

    @rule(n=number)
    def publish(self, n):
        article = self.one(n, "withdrawn", "draft", "scheduled", "published")
        if article:
            self.step(article, "publish")
            article.state, article.was_public = "published", True
            self.took("publish")

    @rule(n=number)
    def withdraw(self, n):
        article = self.one(n, "published", "withdrawn")
        if article:
            self.step(article, "withdraw")
            article.state = "withdrawn"
            self.took("withdraw")

    @rule(n=number)
    def withdraw_what_is_not_public(self, n):
        article = self.one(n, "draft")
        if article:
            self.step(article, "withdraw", status=409, code="state_conflict")
            self.took("withdraw_what_is_not_public")

    @rule(n=number)
    def schedule(self, n):
        article = self.one(n, "withdrawn", "draft")
        if article:
            self.step(article, "schedule", {"publish_at": LATER})
            article.state = "scheduled"
            self.took("schedule")

    @rule(n=number)
    def cancel(self, n):
        article = self.one(n, "scheduled")
        if article:
            self.step(article, "cancel")
            article.state = "withdrawn" if article.was_public else "draft"
            self.took("cancel")

    @rule(n=number)
    def delete(self, n):
        article = self.one(n, "draft", "published", "withdrawn", "scheduled")
        if article:
            self.write("DELETE", f"{ARTICLES}/{article.uid}", version=article.version)
            self.leave(article)
            if article.was_public:
                article.version, article.state = article.version + 1, "gone"
            else:
                self.articles.remove(article)
            self.took("delete")

    @rule(n=number)
    def restore(self, n):
        article = self.one(n, "gone")
        if article:
            self.step(article, "restore")
            article.state = "withdrawn"
            self.took("restore")

    @rule(n=number, to=number)
    def move(self, n, to):
        article = self.one(n, "published", "withdrawn", "draft")
        if not article:
            return
        name = self.names[to % NAMES]
        path = f"/articles/{name}"
        if self.meaning.get(path, article) is not article:
            self.step(article, "move", {"slug": name}, status=409, code="slug_conflict")
        else:
            self.step(article, "move", {"slug": name})
            if path != article.path:
                self.leave(article)
                article.path = path
                self.meaning[path] = article
        self.took("move")

    @rule(n=number, source=number, status=st.sampled_from([301, 302, 307, 308]))
    def redirect(self, n, source, status):
        self.lead(n, source, status)
        self.took("redirect")

    def lead(self, n, source, status):
        article = self.one(n, "published")
        source = self.sources[source % SOURCES]
        if not article:
            return
        body = {"source": source, "target": article.uid, "status": status}
        if source in self.meaning:
            self.write("POST", REDIRECTS, body, status=409)
        else:
            told = self.write("POST", REDIRECTS, body, status=201)
            self.meaning[source] = Redirect(told, article, status)

    @rule(n=number)
    def redirect_away_from_a_page(self, n):
        article, other = self.one(n, "published"), self.one(n + 1, "published")
        if article and other:
            self.write("POST", REDIRECTS, {"source": article.path, "target": other.uid}, status=409)
            self.took("redirect_away_from_a_page")

    @rule(n=number)
    def drop_a_redirect(self, n):
        if not any(s in self.meaning for s in self.sources):
            self.lead(n, n, 301)
        found = [(s, r) for s, r in self.meaning.items() if isinstance(r, Redirect)]
        if found:
            source, redirect = found[n % len(found)]
            self.write("DELETE", f"{REDIRECTS}/{redirect.uid}", version=redirect.version)
            del self.meaning[source]
            self.took("drop_a_redirect")

    @rule(n=number)
    def send_again(self, n):
        """However late, and whatever happened since: the answer of then, and nothing is done."""
        if self.sent:
            w = self.sent[n % len(self.sent)]
            r = self.ask(w.method, w.path, w.body, w.headers, w.key)
            assert (r.status, r.body) == (409 if w.answer.status == 409 else 200, w.answer.body), (w.method, w.path, w.body, r)
            assert r.headers["Idempotent-Replayed"] == "true"
            self.took("send_again")

    @rule(n=number)
    def send_something_else_with_a_used_key(self, n):
        found = [w for w in self.sent if w.path == ARTICLES]
        if found:
            w = found[n % len(found)]
            r = self.ask("POST", ARTICLES, {**w.body, "title": "Something else"}, {}, w.key)
            assert (r.status, r.json()["code"]) == (409, "idempotency_key_conflict"), r
            self.took("send_something_else_with_a_used_key")


@pytest.fixture
def served():
    global site
    site = stele.Server(env={"STELE_WRITE_RATE": "0", "STELE_REQUEST_RATE": "0"})
    try:
        site.start()
        site.connection = http.client.HTTPConnection(site.host, site.port, timeout=20)
        site.pipe = site.connect(20)
        site.pipe.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        site.stream = site.pipe.makefile("rb")
        yield site
        site.stream.close()
        site.pipe.close()
        site.connection.close()
    finally:
        site.close()


def test_every_path_means_what_the_model_says(served):
    rules = {name for name, member in vars(Site).items() if hasattr(member, "hypothesis_stateful_rule")}
    assert len(rules) >= 17
    until = time.monotonic() + SECONDS
    ran.clear()
    while time.monotonic() < until and min(ran[name] for name in rules) < LEAST:
        run_state_machine_as_test(Site, settings=settings(max_examples=30, stateful_step_count=40, deadline=None, database=None,
                                                          suppress_health_check=list(HealthCheck)))
    for name in sorted(rules):
        print(f"{ran[name]:5} {name}")
    assert {name: ran[name] for name in rules if ran[name] < LEAST} == {}
    assert served.value("PRAGMA integrity_check") == "ok"
