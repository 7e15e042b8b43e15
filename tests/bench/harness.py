"""What every bench needs: a site of its own, load by wrk, the CPU and memory of a process tree."""
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TICK = os.sysconf("SC_CLK_TCK")
ARTICLE_BYTES = 10000


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def tree(pid):
    """The process and all that it started."""
    found, todo = [], [pid]
    while todo:
        p = todo.pop()
        found.append(p)
        try:
            for task in os.listdir(f"/proc/{p}/task"):
                todo += [int(c) for c in pathlib.Path(f"/proc/{p}/task/{task}/children").read_text().split()]
        except FileNotFoundError:
            pass
    return found


def cpu_seconds(pid):
    total = 0
    for p in tree(pid):
        try:
            fields = pathlib.Path(f"/proc/{p}/stat").read_text().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        except FileNotFoundError:
            pass
    return total / TICK


def memory_kb(pid):
    """(proportional, resident) of the whole tree: PSS counts a shared page once."""
    pss = rss = 0
    for p in tree(pid):
        try:
            text = pathlib.Path(f"/proc/{p}/smaps_rollup").read_text()
        except (FileNotFoundError, PermissionError):
            continue
        pss += int(re.search(r"^Pss:\s+(\d+)", text, re.M).group(1))
        rss += int(re.search(r"^Rss:\s+(\d+)", text, re.M).group(1))
    return pss, rss


def get(port, path, headers=None):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    c.request("GET", path, headers=headers or {})
    r = c.getresponse()
    body = r.read()
    c.close()
    return r.status, body


def wait_for(port, path, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if get(port, path)[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.002)
    sys.exit(f"bench: nothing answers on port {port}")


def wrk_start(url, seconds, connections, script, *args):
    return subprocess.Popen(
        ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "-s", str(HERE / script), url, "--", *args],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def wrk_result(process):
    out, _ = process.communicate()
    found = re.search(r"^RESULT (.*)$", out, re.M)
    if not found:
        sys.exit("bench: wrk printed no result:\n" + out)
    r = {k: int(v) for k, v in (p.split("=") for p in found.group(1).split())}
    r["rate"] = r["requests"] / (r["duration_us"] / 1e6)
    return r


def measure(url, pid, seconds, connections=64):
    before = cpu_seconds(pid)
    r = wrk_result(wrk_start(url, seconds, connections, "read.lua"))
    r["cpu_us"] = (cpu_seconds(pid) - before) / max(r["requests"], 1) * 1e6
    return r


class Stele:
    def __init__(self, build, folder):
        self.build, self.data, self.port = build, folder / "data", free_port()
        self.data.mkdir()
        (self.data / "stele.conf").write_text(f"share_dir = {HERE.parents[1]}\n")
        self.log = open(folder / "stele.log", "wb")
        self.command("migrate")
        self.command("user", "add", "bench", "--role", "admin")
        self.token = self.command("token", "add", "--user", "bench", "--scopes", "all").strip()
        self.start()

    def command(self, *args):
        return subprocess.run([self.build / "stele", *args, "--data", self.data], check=True, capture_output=True, text=True).stdout

    def start(self):
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [self.build / "stele", "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", "--base-url",
             f"http://127.0.0.1:{self.port}", "--workers", "2"], stderr=self.log)
        wait_for(self.port, "/readyz")
        get(self.port, "/")
        return (time.monotonic() - begun) * 1000

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def post(self, path, value, key):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        c.request("POST", path, json.dumps(value), {
            "Authorization": "Bearer " + self.token, "Content-Type": "application/json", "Idempotency-Key": key})
        r = c.getresponse()
        body = r.read()
        c.close()
        if r.status not in (200, 201):
            sys.exit(f"bench: {path} answered {r.status}: {body[:300]!r}")
        return json.loads(body)
