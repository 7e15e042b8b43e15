"""One running Stele for a test: makes a site, starts it on a free port, talks to it, ends it, and looks at what it left."""
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("STELE_BUILD", ROOT / "build" / "test")).resolve()
STELE = BUILD / "stele"
KORE = os.environ.get("STELE_KORE", "kore")
START_SECONDS = float(os.environ.get("STELE_TEST_START_SECONDS", "20"))
STOP_SECONDS = 25
USERS = (("admin", "admin"), ("editor", "editor"), ("author", "author"), ("viewer", "viewer"), ("boss", "admin"))
USER_B = "boss"


def free_port():
    """A port that nobody listens on. Below the range from which the kernel takes ports for outgoing connections: one of those
    could be taken by a client before the server gets to it."""
    while True:
        port = random.SystemRandom().randrange(10240, 32768)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def new_key():
    return str(uuid.uuid4())


class Headers:
    """Fields of a response in the order they came; names do not mind case."""

    def __init__(self, pairs):
        self.pairs = list(pairs)

    def get(self, name, default=None):
        found = self.all(name)
        return found[0] if found else default

    def all(self, name):
        return [v for k, v in self.pairs if k.lower() == name.lower()]

    def __getitem__(self, name):
        found = self.all(name)
        if not found:
            raise KeyError(name)
        return found[0]

    def __contains__(self, name):
        return bool(self.all(name))

    def __iter__(self):
        return iter(self.pairs)

    def __repr__(self):
        return repr(self.pairs)


class Response:
    def __init__(self, status, pairs, body):
        self.status = status
        self.headers = Headers(pairs)
        self.body = body

    @property
    def text(self):
        return self.body.decode("utf-8")

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.headers!r} {self.body[:300]!r}>"


class CommandFailed(AssertionError):
    def __init__(self, args, run):
        super().__init__(f"{' '.join(map(str, args))}: exit {run.returncode}\n{run.stdout}{run.stderr}")
        self.run = run


def command(*args, data=None, env=None, stdin=None, check=True, timeout=60, build=None, cwd=None):
    """Run `stele ARGS [--data DATA]`; with check, exit code 0 is asserted."""
    argv = [str((build or BUILD) / "stele"), *map(str, args)]
    if data is not None:
        argv += ["--data", str(data)]
    run = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=timeout, cwd=cwd,
                         env={**os.environ, **(env or {})})
    if check and run.returncode != 0:
        raise CommandFailed(argv, run)
    return run


def process_group_members(groups):
    """pids of live processes (zombies are dead) in any of the groups."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] not in "ZX" and int(fields[2]) in groups:
            found.append(int(entry.name))
    return found


class Server:
    """`env`: added to the environment (fault points, clock). `args`: further arguments of `stele serve`. `config`: lines of
    DATA/stele.conf. `settings`: for `stele setting set`.
    `before_start(server)`: runs when the site exists and nothing serves it yet."""

    def __init__(self, env=None, workers=2, args=(), users=USERS, base_url=None, settings=None, before_start=None,
                 config=""):
        self.env = dict(env or {})
        self.workers = workers
        self.args = list(args)
        self.build = BUILD
        self.host = "127.0.0.1"
        self.port = free_port()
        self.base = base_url or f"http://127.0.0.1:{self.port}"
        self.home = tempfile.mkdtemp(prefix="stele-test-")
        self.data = os.path.join(self.home, "data")
        self.db = os.path.join(self.data, "stele.db")
        self.log_path = os.path.join(self.home, "log")
        self.process = None
        self.groups = set()
        os.mkdir(self.data, 0o700)
        # The build may lie anywhere; templates and migrations are those of this checkout.
        share = "" if "share_dir" in config else f"share_dir = {ROOT}\n"
        pathlib.Path(self.data, "stele.conf").write_text(share + config)
        command("migrate", data=self.data)
        self.tokens = {}
        for name, role in users:
            command("user", "add", name, "--role", role, data=self.data)
            self.tokens[name] = command("token", "add", "--user", name, data=self.data).stdout.strip()
        self.token = self.tokens.get("admin")
        self.token_b = self.tokens.get(USER_B)
        for key, value in (settings or {}).items():
            command("setting", "set", key, value, data=self.data)
        if before_start:
            before_start(self)

    # -- life

    def start(self, env=None, wait=True):
        assert self.process is None, "already started"
        self.log_start = os.path.getsize(self.log_path) if os.path.exists(self.log_path) else 0
        argv = [str(self.build / "stele"), "serve", "--data", self.data, "--listen", f"{self.host}:{self.port}",
                "--base-url", self.base, "--workers", str(self.workers), *self.args]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.home,
                                            env={**os.environ, "STELE_KORE": KORE, **self.env, **(env or {})})
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, seconds=START_SECONDS):
        deadline = time.monotonic() + seconds
        last = None
        while time.monotonic() < deadline:
            if self.process is not None and self.process.poll() is not None:
                code = self.process.returncode
                self.process = None
                raise AssertionError(f"stele serve ended with {code}\n{self.log_tail()}")
            try:
                last = self.request("GET", "/readyz", timeout=2)
                # What a killed server left behind still answers while it drains; its successor waits for that to end.
                if last.status == 200 and self.has_started_children():
                    self.remember_groups()
                    return
            except (OSError, http.client.HTTPException) as e:
                last = e
            time.sleep(0.02)
        raise AssertionError(f"not ready after {seconds} s: {last!r}\n{self.log_tail()}")

    def has_started_children(self):
        if self.process is None:
            return True
        with open(self.log_path, "rb") as log:
            log.seek(self.log_start)
            return b"serve.child_started" in log.read()

    def remember_groups(self):
        """Each child of `serve` leads a process group of its own, named in the log."""
        for event in self.log_events("serve.child_started"):
            self.groups.add(event["pid"])

    def stop(self, expect=0):
        """SIGTERM to our own pid; asserts the exit code and that no process is left."""
        if self.process is None:
            return
        self.remember_groups()
        process, self.process = self.process, None
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"stele serve did not stop in {STOP_SECONDS} s\n{self.log_tail()}")
        assert code == expect, f"stele serve ended with {code}\n{self.log_tail()}"
        self.assert_nothing_left(0)

    def kill(self):
        """SIGKILL to `serve` itself; its children must vanish by themselves."""
        self.remember_groups()
        process, self.process = self.process, None
        process.kill()
        process.wait()

    def assert_nothing_left(self, seconds=10):
        deadline = time.monotonic() + seconds
        while True:
            left = process_group_members(self.groups)
            if not left:
                return
            if time.monotonic() >= deadline:
                raise AssertionError(f"left over: {left}\n{self.log_tail()}")
            time.sleep(0.05)

    def restart(self, env=None):
        self.stop()
        return self.start(env=env)

    def crashes(self):
        """What sanitizers reported, and workers that ended in another way than by order."""
        bad = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "exited with status")
        return [line for line in self.log_lines() if any(b in line for b in bad) and "exited with status 0" not in line]

    def sanitizer_reports(self):
        return [line for line in self.crashes() if "exited with status" not in line]

    def close(self):
        try:
            self.stop()
            assert not self.sanitizer_reports(), self.log_text()[-20000:]
        finally:
            if self.process is not None:
                self.process.kill()
                self.process.wait()
                self.process = None
            shutil.rmtree(self.home, ignore_errors=True)

    def child_pid(self, name):
        """pid of the newest child of that name: "kore" or "jobs"."""
        return [e["pid"] for e in self.log_events("serve.child_started") if e["child"] == name][-1]

    def worker_pids(self):
        """pids of Kore's workers: the other members of its process group."""
        leader = self.child_pid("kore")
        return [pid for pid in process_group_members({leader}) if pid != leader]

    # -- talking

    def request(self, method, path, body=None, token=None, headers=None, key=None, timeout=30, connection=None):
        """One request. A dict or list as body is sent as JSON, bytes and str as they are. `key` True makes a fresh one.
        Headers may be a dict or a list of pairs."""
        pairs = list(headers.items() if isinstance(headers, dict) else headers or [])
        names = {k.lower() for k, _ in pairs}
        if isinstance(body, (dict, list)):
            body = json.dumps(body, ensure_ascii=False)
            if "content-type" not in names:
                pairs.append(("Content-Type", "application/json"))
        if isinstance(body, str):
            body = body.encode("utf-8")
        if token:
            pairs.append(("Authorization", f"Bearer {token}"))
        if key:
            pairs.append(("Idempotency-Key", new_key() if key is True else key))
        if (body is not None or method in ("POST", "PUT", "PATCH")) and "content-length" not in names:
            pairs.append(("Content-Length", str(len(body or b""))))
        conn = connection or http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            conn.putrequest(method, path, skip_host="host" in names, skip_accept_encoding=True)
            for k, v in pairs:
                conn.putheader(k, v)
            conn.endheaders(body or None)
            answer = conn.getresponse()
            return Response(answer.status, answer.getheaders(), answer.read())
        finally:
            if connection is None:
                conn.close()

    def get(self, path, **kw):
        return self.request("GET", path, **kw)

    def post(self, path, body=None, key=True, **kw):
        """POST as admin with a fresh key unless told otherwise."""
        kw.setdefault("token", self.token)
        return self.request("POST", path, body=body, key=key, **kw)

    def connect(self, timeout=10):
        return socket.create_connection((self.host, self.port), timeout=timeout)

    def raw(self, data, timeout=10):
        """Send bytes; give back everything until the server closes or `timeout` passes without a byte."""
        out = b""
        with self.connect(timeout) as s:
            s.sendall(data)
            try:
                while True:
                    piece = s.recv(65536)
                    if not piece:
                        break
                    out += piece
            except (socket.timeout, ConnectionResetError):
                pass
        return out

    # -- looking

    def sql(self, query, *args):
        """Rows (sqlite3.Row) by a read-only connection of its own."""
        db = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True, timeout=10)
        db.row_factory = sqlite3.Row
        try:
            return db.execute(query, args).fetchall()
        finally:
            db.close()

    def value(self, query, *args):
        return self.sql(query, *args)[0][0]

    def metrics(self):
        out = {}
        for line in self.get("/metrics").text.splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                out[name] = float(value)
        return out

    def log_text(self):
        try:
            return pathlib.Path(self.log_path).read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def log_lines(self):
        return self.log_text().splitlines()

    def log_events(self, event=None):
        out = []
        for line in self.log_lines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and (event is None or entry.get("event") == event):
                out.append(entry)
        return out

    def log_tail(self, lines=40):
        return "\n".join(self.log_lines()[-lines:])

    def command(self, *args, **kw):
        return command(*args, data=self.data, **kw)
