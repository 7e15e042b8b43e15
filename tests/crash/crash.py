"""Kills a site under load, again and again, and counts: what was acknowledged stands, what was not is asked again and done once.

A world is one site. Each round starts it, lets every client ask again what it has no answer to, goes on with new writes, and ends
with SIGKILL to every process at once: at a fault point of the server, or at any moment. Between two kills nothing is repaired."""
import collections
import http.client
import os
import random
import signal
import sys
import threading
import time
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))

import stele  # noqa: E402
from site_pages import locs  # noqa: E402

API = "/api/v1"
CLIENTS = 8
BROKEN = (OSError, http.client.HTTPException)
# Where the server dies, and after how many passes of a process at most.
POINTS = {"reader": 60, "pre_claim": 40, "post_claim": 40, "pre_save": 40, "pre_commit": 25, "post_commit": 25, "pre_response": 60,
          "mid_response": 60, "post_response": 60, "checkpoint": 1, "worker_item_1": 2}
TOPICS = [f"resource.{t}" for t in ("published", "withdrawn", "moved", "deleted", "restored")]
AT_ONCE = 0.6           # seconds until the kill comes by itself


class Violation(AssertionError):
    """The contract of a retry is broken."""


class Article:
    """What one article must look like, by the answers that its writer got."""

    def __init__(self, uid, title, state):
        self.uid, self.title, self.state = uid, title, state
        self.version = self.revisions = 1
        self.paths = 1
        self.events = collections.Counter({f"resource.{state}": 1} if state == "published" else {})


class Write:
    """One write that is sent until it is answered."""

    def __init__(self, kind, method, path, body, article=None, headers=None):
        self.kind, self.method, self.path, self.body, self.article, self.headers = kind, method, path, body, article, headers or {}
        self.key = stele.new_key()
        self.attempts = 0
        self.is_sent = False
        self.answer = None


class Client:
    """Writes one after the other over one connection; nobody else touches its articles."""

    def __init__(self, world, number):
        self.world, self.number = world, number
        self.dice = random.Random(world.dice.random())
        self.articles, self.answered = [], []
        self.pending, self.made, self.error, self.redirects = None, 0, None, 0

    def live(self):
        """Until the connection breaks."""
        try:
            self.connection = http.client.HTTPConnection(self.world.site.host, self.world.site.port, timeout=20)
            # The last answers that came are those a crash could have taken back.
            for write in self.answered[-2:]:
                self.check_again(write)
            while True:
                self.pending = self.pending or self.next_write()
                self.settle(self.pending, self.send(self.pending))
        except BROKEN as e:
            if isinstance(e, TimeoutError):
                self.error = Violation(f"no answer in 20 s, pending {self.pending and self.pending.kind}")
        except AssertionError as e:
            self.error = e
        finally:
            self.connection.close()
            self.world.broken.set()

    def send(self, write):
        write.attempts += 1
        write.is_sent = False
        token = self.world.site.token if self.number % 2 else self.world.site.token_b
        return self.world.site.request(write.method, write.path, write.body, token=token, key=write.key, headers=write.headers,
                                       connection=Sending(self.connection, write))

    def next_write(self):
        self.made += 1
        title = f"c{self.number}-{self.made}"
        if not self.articles or self.dice.random() < 0.45:
            return Write("create", "POST", f"{API}/articles", {"title": title, "content": f"Text of {title}.", "tags": ["crash"],
                                                               "state": self.dice.choice(["draft", "published"])})
        a, step = self.dice.choice(self.articles), self.dice.random()
        if step < 0.07:
            return Write("later", "POST", f"{API}/articles", {"title": title, "state": "published"}, None, {"Prefer": "respond-async"})
        if step < 0.14:
            return Write("redirect", "POST", f"{API}/redirects", {"source": f"/{title}", "target": a.uid})
        if a.state == "gone":
            return Write("restore", "POST", f"{API}/articles/{a.uid}/restore", {}, a)
        if step < 0.4:
            return Write("update", "PATCH", f"{API}/articles/{a.uid}", {"title": title}, a, {"If-Match": f'"{a.version}"'})
        if a.state != "draft" and step < 0.5:
            return Write("move", "POST", f"{API}/articles/{a.uid}/move", {"slug": title}, a)
        if a.state != "draft" and step < 0.6:
            return Write("delete", "DELETE", f"{API}/articles/{a.uid}", None, a, {"If-Match": f'"{a.version}"'})
        step = "withdraw" if a.state == "published" else "publish"
        return Write(step, "POST", f"{API}/articles/{a.uid}/{step}", {}, a)

    def settle(self, write, answer):
        if answer.status in (202, 503):
            write.is_sent = False
            time.sleep(0.03)
            return
        if answer.status not in (200, 201):
            raise Violation(f"{write.kind}, attempt {write.attempts}: {answer}")
        replayed = answer.headers["Idempotent-Replayed"] == "true"
        if replayed and write.attempts == 1:
            raise Violation(f"{write.kind} was answered as a repeat at its first attempt: {answer}")
        self.world.count(replays=replayed, repeats=write.attempts > 1, answers=1)
        write.answer = answer
        self.apply(write, answer.json())
        self.answered = [*self.answered[-5:], write]
        self.pending = None

    def apply(self, write, told):
        if write.kind == "redirect":
            self.redirects += 1
            return
        if write.kind in ("create", "later"):
            uid = told["id"] if write.kind == "create" else told["result"]["details"]["location"].rsplit("/", 1)[1]
            self.articles.append(Article(uid, write.body["title"], write.body["state"]))
            return
        a = write.article
        a.version += 1
        if write.kind == "update":
            a.title, a.revisions = write.body["title"], a.revisions + 1
        elif write.kind == "move":
            a.paths += 1
            a.events["resource.moved"] += 1
        else:
            a.state, topic = {"publish": ("published", "published"), "withdraw": ("withdrawn", "withdrawn"), "delete": ("gone", "deleted"),
                              "restore": ("withdrawn", "restored")}[write.kind]
            a.events[f"resource.{topic}"] += 1
        if told["version"] != a.version:
            raise Violation(f"{write.kind} of version {a.version - 1} left version {told['version']}")

    def check_again(self, write):
        """An answered write: the same answer, saved."""
        again = self.send(write)
        if again.status == 503:
            return
        if (again.status, again.headers.get("Idempotent-Replayed"), again.body) != (200, "true", write.answer.body):
            raise Violation(f"acknowledged {write.kind} is lost: {again}, first {write.answer}")
        self.world.count(checked=1)


class Sending:
    """The connection, telling the write when its last byte left."""

    def __init__(self, connection, write):
        self.connection, self.write = connection, write

    def endheaders(self, body):
        self.connection.endheaders(body)
        self.write.is_sent = True

    def __getattr__(self, name):
        return getattr(self.connection, name)


class World:
    def __init__(self, seed, faults=""):
        self.dice = random.Random(seed)
        self.faults = faults
        self.site = stele.Server(users=(("admin", "admin"), (stele.USER_B, "admin")), config="", settings={})
        self.site.env.update(STELE_WRITE_RATE="0", STELE_REQUEST_RATE="0", STELE_LEASE_MS="400")
        self.lock = threading.Lock()
        self.numbers = collections.Counter()
        self.kills = collections.Counter()      # with a request in flight, by what killed
        self.attempted = 0
        self.clients = [Client(self, n) for n in range(CLIENTS)]

    def close(self):
        self.site.close()

    def count(self, **numbers):
        with self.lock:
            self.numbers.update(numbers)

    def round(self, point=None):
        """One life of the site, and its death at `point` or at any moment."""
        if point:
            kill = f"{point}:killgroup:{self.dice.randint(1, POINTS[point])}"
            if point == "mid_response":
                nth = self.dice.randint(30, 30 + POINTS[point])
                kill = f"mid_response:on:{nth},post_response:killgroup:{nth}"
            elif point == "reader" or point.endswith("_response"):
                # Asking whether it is ready passes these too, in each of its lives: it must get further than that.
                kill = f"{point}:killgroup:{self.dice.randint(30, 30 + POINTS[point])}"
            patience = AT_ONCE
        else:
            kill, patience = "", self.dice.uniform(0.01, 0.25)
        self.site.start(env={"STELE_FAULT": ",".join(f for f in (self.faults, kill) if f)})
        self.run_clients(lambda: self.broken.wait(patience) if point else time.sleep(patience))
        fell = self.kill_all()
        for t in self.threads:
            t.join()
        self.raise_errors()
        self.attempted += 1
        if any(c.pending is not None and c.pending.is_sent for c in self.clients):
            self.kills[point if point and fell else "any moment"] += 1
        self.forget_log()

    def run_clients(self, until):
        self.broken = threading.Event()
        self.threads = [threading.Thread(target=c.live) for c in self.clients]
        for t in self.threads:
            t.start()
        until()

    def kill_all(self):
        """True when a child had died before we came."""
        fell = "serve.child_killed" in self.site.log_text() or self.broken.is_set()
        process, self.site.process = self.site.process, None
        groups = {e["pid"] for e in self.site.log_events("serve.child_started")}
        for group in groups:
            kill_group(group)
        process.kill()
        process.wait()
        # One that was being started at that moment.
        groups |= {e["pid"] for e in self.site.log_events("serve.child_started")}
        self.site.groups = groups
        for group in groups:
            kill_group(group)
        self.site.assert_nothing_left()
        return fell

    def forget_log(self):
        bad = self.site.sanitizer_reports()
        if bad:
            raise Violation(bad)
        os.truncate(self.site.log_path, 0)
        self.site.groups = set()

    def raise_errors(self):
        for c in self.clients:
            if c.error:
                raise c.error

    def verify(self):
        """A healthy life: what is open is answered, and then every row is what the answers say."""
        self.site.start(env={"STELE_FAULT": self.faults})
        try:
            for c in self.clients:
                self.finish(c)
            self.raise_errors()
            self.check_rows()
            self.check_public()
            self.check_audit()
        finally:
            self.site.stop()
        self.forget_log()

    def finish(self, client):
        client.connection = http.client.HTTPConnection(self.site.host, self.site.port, timeout=20)
        for write in list(client.answered):
            client.check_again(write)
        until = time.monotonic() + 30
        while client.pending is not None:
            if time.monotonic() > until:
                raise Violation(f"{client.pending.kind} is not done after 30 s")
            client.settle(client.pending, client.send(client.pending))
        client.connection.close()

    def check_rows(self):
        articles = [a for c in self.clients for a in c.articles]
        found = {r["uid"]: r for r in self.site.sql(
            "SELECT uid, state, edit_version, h.title AS title, (SELECT count(*) FROM revision v WHERE v.resource_id = r.id) AS revisions, "
            "(SELECT count(*) FROM path p WHERE p.resource_id = r.id AND was_canonical = 1) AS paths "
            "FROM resource r JOIN revision h ON h.resource_id = r.id AND h.number = r.head_revision WHERE kind = 'article'")}
        wanted = {a.uid: a for a in articles}
        lost = wanted.keys() - found.keys()
        if lost:
            raise Violation(f"acknowledged and lost: {sorted(wanted[u].title for u in lost)}")
        doubled = found.keys() - wanted.keys()
        if doubled:
            raise Violation(f"doubled, or made by nobody: {sorted(found[u]['title'] for u in doubled)}")
        for uid, a in wanted.items():
            row = tuple(found[uid])[1:]
            due = (a.state, a.version, a.title, a.revisions, a.paths)
            if row != due:
                raise Violation(f"an article is {row}, its answers say {due}")
        events = collections.defaultdict(collections.Counter)
        for uid, topic, count in self.site.sql("SELECT uid, topic, count(*) FROM outbox o JOIN resource r ON r.id = o.aggregate_id AND "
                                               "o.aggregate <> 'redirect' WHERE kind = 'article' GROUP BY uid, topic"):
            events[uid][topic] = count
        for uid, a in wanted.items():
            if any(events[uid][t] != a.events[t] for t in TOPICS):
                raise Violation(f"events are {dict(events[uid])}, the answers say {dict(a.events)}")
        for what, query, due in (
                ("integrity", "PRAGMA integrity_check", "ok"),
                ("foreign keys", "SELECT count(*) FROM pragma_foreign_key_check", 0),
                ("unfinished records", "SELECT count(*) FROM idempotency_record WHERE status = 'PROCESSING'", 0),
                ("keys with an effect", "SELECT count(*) FROM idempotency_record", self.numbers["answers"]),
                ("redirects", "SELECT count(*) FROM path WHERE role = 'alias' AND was_canonical = 0", sum(c.redirects for c in self.clients)),
                ("events of redirects", "SELECT count(*) FROM outbox WHERE topic = 'redirect.created'", sum(c.redirects for c in self.clients)),
                ("unfinished operations", "SELECT count(*) FROM operation WHERE state <> 'SUCCESS'", 0),
                ("paths of two", "SELECT count(*) FROM (SELECT 1 FROM path WHERE was_canonical = 1 GROUP BY fold HAVING count(*) > 1)", 0),
                ("resources without an address", "SELECT count(*) FROM resource r WHERE NOT EXISTS (SELECT 1 FROM path p WHERE "
                 "p.resource_id = r.id AND p.role = 'canonical')", 0),
                ("doubled events", "SELECT count(*) FROM (SELECT 1 FROM outbox GROUP BY aggregate, aggregate_id, event_version, topic "
                 "HAVING count(*) > 1)", 0)):
            got = self.site.value(query)
            if got != due:
                raise Violation(f"{what}: {got}, not {due}")

    def check_public(self):
        """The sitemap is what is published, and nothing else."""
        live = {c.articles[i].uid for c in self.clients for i in range(len(c.articles)) if c.articles[i].state == "published"}
        paths = {r["path"]: r["uid"] for r in self.site.sql("SELECT p.path, r.uid FROM path p JOIN resource r ON r.id = p.resource_id "
                                                            "WHERE p.role = 'canonical' AND r.kind = 'article'")}
        listed = {loc[len(self.site.base):] for loc in locs(self.site)}
        if {paths[p] for p in listed if p in paths} != live:
            raise Violation("the sitemap is not what is published")
        for path in self.dice.sample(sorted(paths), min(20, len(paths))):
            status = self.site.get(path).status
            if status not in ((200,) if paths[path] in live else (404, 410)):
                raise Violation(f"{path} answers {status}")

    def check_audit(self):
        run = self.site.command("audit", "--via", f"{self.site.host}:{self.site.port}", check=False)
        if run.returncode != 0:
            raise Violation(f"stele audit: {run.stdout}{run.stderr}")
        self.count(audits=1)


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
