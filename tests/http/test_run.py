"""./run: from a checkout to a running site, and again."""
import http.client
import os
import re
import signal
import subprocess
import time

import pytest

import stele


@pytest.fixture
def checkout(tmp_path):
    """This checkout, but without a site of its own."""
    if not (stele.ROOT / "build" / "stele").exists():
        pytest.skip("run `make` first")
    for entry in stele.ROOT.iterdir():
        if entry.name not in ("data", ".git"):
            (tmp_path / entry.name).symlink_to(entry)
    return tmp_path


class Run:
    def __init__(self, checkout, *args, port=None, env=True):
        self.port = port or stele.free_port()
        self.began = time.monotonic()
        self.log = open(checkout / f"log-{self.port}", "w+")
        self.process = subprocess.Popen([checkout / "run", *args], stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
                                        env={**os.environ, **({"STELE_LISTEN": f"127.0.0.1:{self.port}"} if env else {})})

    def wait(self, seconds=60):
        while True:
            try:
                if self.request("GET", "/readyz")[0] == 200:
                    return time.monotonic() - self.began
            except OSError:
                pass
            assert self.process.poll() is None and time.monotonic() < self.began + seconds, self.text()
            time.sleep(0.02)

    def request(self, method, path, body=None, headers=None):
        conn = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        conn.request(method, path, body, {"Host": f"localhost:{self.port}", **(headers or {})})
        answer = conn.getresponse()
        out = answer.status, answer.read().decode()
        conn.close()
        return out

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(25) == 0, self.text()


def test_a_first_start_makes_a_site_and_a_second_one_serves_it_quickly(checkout):
    first = Run(checkout)
    try:
        first.wait()
        token, = set(re.findall(r"stele_[A-Za-z0-9_-]{43}", first.text()))
        assert f"http://localhost:{first.port}/api/v1/articles" in first.text()
        status, body = first.request("POST", "/api/v1/articles", '{"title": "First", "content": "text", "state": "published"}', {
            "Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": stele.new_key()})
        assert status == 201, body
    finally:
        first.stop()
    second = Run(checkout)
    try:
        took = second.wait()
        assert "stele_" not in second.text(), "the token is shown once"
        status, page = second.request("GET", "/articles/first")
        assert status == 200 and f'<link rel="canonical" href="http://localhost:{second.port}/articles/first">' in page
    finally:
        second.stop()
    # Under a second on a machine that has nothing else to do.
    assert took < 5


def test_arguments_go_on_to_serve_and_the_settings_file_is_respected(checkout):
    data = checkout / "data"
    data.mkdir(mode=0o700)
    (data / "stele.conf").write_text("public_origin = https://example.org\naliases = localhost 127.0.0.1\n")
    run = Run(checkout, "--workers", "1")
    try:
        deadline = time.monotonic() + 60
        while "worker.started" not in run.text():
            assert run.process.poll() is None and time.monotonic() < deadline, run.text()
            time.sleep(0.05)
        text = (data / "run" / "serve.conf").read_text()
        assert "public_origin = https://example.org\n" in text and "workers = 1\n" in text
    finally:
        run.stop()


@pytest.mark.parametrize("where", ["file", "--listen ADDR", "--listen=ADDR"])
def test_the_address_may_come_from_elsewhere_than_the_environment(checkout, where):
    port = stele.free_port()
    address = f"127.0.0.1:{port}"
    if where == "file":
        (checkout / "data").mkdir(mode=0o700)
        (checkout / "data" / "stele.conf").write_text(f"listen = {address}  # here\n")
    args = [] if where == "file" else where.replace("ADDR", address).split()
    run = Run(checkout, *args, port=port, env=False)
    try:
        run.wait()
        assert f"serving http://localhost:{port} " in run.text()
        status, page = run.request("GET", "/")
        assert status == 200 and f"http://localhost:{port}/" in page
    finally:
        run.stop()
