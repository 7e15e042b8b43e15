#!/usr/bin/python3
"""Figures as ratios to a reference in the same run: cached page against nginx, creates against bare SQLite, memory, start,
what a million remembered requests
change, and a million redirects.

bench.py BUILD_DIR [SECONDS]: needs nginx and wrk; everything listens on loopback and is ended by its own process id.
"""
import hashlib
import http.client
import json
import pathlib
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import records
import redirects
from harness import ARTICLE_BYTES, HERE, Stele, cpu_seconds, free_port, get, measure, memory_kb, wait_for, wrk_result, wrk_start

NGINX_CONF = """daemon off;
worker_processes 2;
pid {dir}/nginx.pid;
error_log {dir}/error.log error;
events {{ worker_connections 1024; }}
http {{
	access_log off;
	sendfile on;
	tcp_nopush on;
	keepalive_requests 1000000000;
	open_file_cache max=1000 inactive=60s;
	open_file_cache_valid 60s;
	client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
	types {{ text/html html; }}
	server {{ listen 127.0.0.1:{port}; root {dir}/www; }}
}}
"""


def page_of(stele):
    """A published article whose page has about 10 kB."""
    text = "A paragraph that says nothing in particular, and takes its time over it, as a page of some length will do. "
    for repeat in range(60, 120, 2):
        article = stele.post("/api/v1/articles", {"title": f"Page {repeat}", "content": (text * 4 + "\n\n") * (repeat // 4),
                                                  "state": "published"}, f"bench-page-key-{repeat:04d}")
        path = article["path"]
        status, body = get(stele.port, path)
        if status == 200 and len(body) >= ARTICLE_BYTES:
            return path, body
    sys.exit("bench: no page of 10 kB")


def bench_reads(stele, folder, seconds):
    path, body = page_of(stele)
    (folder / "www").mkdir()
    (folder / "www/page.html").write_bytes(body)
    folder.chmod(0o755)
    port = free_port()
    conf = folder / "nginx.conf"
    conf.write_text(NGINX_CONF.format(dir=folder, port=port))
    nginx = subprocess.Popen(["nginx", "-e", folder / "error.log", "-c", conf], stderr=subprocess.DEVNULL)
    try:
        wait_for(port, "/page.html")
        theirs_body = get(port, "/page.html")[1]
        sha = [hashlib.sha256(b).hexdigest()[:16] for b in (body, theirs_body)]
        print(f"cached page: {len(body)} bytes, body hashes stele {sha[0]} nginx {sha[1]} ({'equal' if sha[0] == sha[1] else 'DIFFERENT'})")
        print("  stele: 2 workers, response cache; nginx: 2 workers, sendfile, open_file_cache, access log off; 64 connections")
        rates, cpus = [], []
        for _ in range(3):      # in turns, so that a noisy moment hits both
            theirs = measure(f"http://127.0.0.1:{port}/page.html", nginx.pid, seconds)
            ours = measure(f"http://127.0.0.1:{stele.port}{path}", stele.process.pid, seconds)
            rates.append(ours["rate"] / theirs["rate"])
            cpus.append(ours["cpu_us"] / theirs["cpu_us"])
            print(f"  stele {ours['rate']:9.0f}/s {ours['cpu_us']:5.2f} us CPU p99 {ours['p99_us'] / 1000:5.1f} ms errors {ours['errors']}"
                  f" | nginx {theirs['rate']:9.0f}/s {theirs['cpu_us']:5.2f} us CPU p99 {theirs['p99_us'] / 1000:5.1f} ms errors {theirs['errors']}")
        print(f"RATIO cached_page_rate_to_nginx {statistics.median(rates):.2f} (target 1.00)")
        print(f"RATIO cached_page_cpu_to_nginx {statistics.median(cpus):.2f} (target at most 1.00)")
    finally:
        nginx.send_signal(signal.SIGTERM)
        nginx.wait(10)
    return path


def raw_rate(folder, program, seconds, size):
    """Rows a second of bare SQLite, and its CPU microseconds a row."""
    for name in folder.glob("raw.db*"):
        name.unlink()
    out = subprocess.run([program, folder / "raw.db", str(seconds), str(size)], check=True, capture_output=True, text=True).stdout
    rate, cpu = map(float, out.split())
    return rate, cpu / (rate * seconds) * 1e6


def stored_bytes(stele):
    """Bytes of all column values that one create left behind, by the newest article."""
    db = sqlite3.connect(f"file:{stele.data}/stele.db?mode=ro", uri=True)
    resource = db.execute("SELECT max(id) FROM resource WHERE kind = 'article'").fetchone()[0]
    total = 0
    for table, column in (("resource", "id"), ("revision", "resource_id"), ("rendered", "resource_id"), ("path", "resource_id"),
                          ("idempotency_record", "resource_id"), ("outbox", "aggregate_id")):
        for row in db.execute(f"SELECT * FROM {table} WHERE {column} = ?", (resource,)):
            total += sum(len(v.encode()) if isinstance(v, str) else 8 for v in row if v is not None)
    db.close()
    return total


def bench_writes(stele, folder, build, seconds, page):
    program = folder / "raw_commit"
    subprocess.run(["cc", "-O2", "-o", program, HERE / "raw_commit.c", "-lsqlite3"], check=True)
    read_url = f"http://127.0.0.1:{stele.port}{page}"
    alone = wrk_result(wrk_start(read_url, seconds, 8, "read.lua"))
    same, stored, p99, errors = [], [], [], 0
    for _ in range(3):
        before = cpu_seconds(stele.process.pid)
        ours = wrk_result(wrk_start(f"http://127.0.0.1:{stele.port}", seconds, 64, "create.lua", stele.token, str(ARTICLE_BYTES)))
        cpu = (cpu_seconds(stele.process.pid) - before) / max(ours["requests"], 1) * 1e6
        size = stored_bytes(stele)
        body_rate, body_cpu = raw_rate(folder, program, seconds, ARTICLE_BYTES)
        stored_rate, stored_cpu = raw_rate(folder, program, seconds, size)
        same.append(ours["rate"] / body_rate)
        stored.append(ours["rate"] / stored_rate)
        p99.append(ours["p99_us"] / 1000)
        errors += ours["errors"]
        print(f"  create+publish {ours['rate']:7.0f}/s {cpu:5.0f} us CPU p50 {ours['p50_us'] / 1000:5.1f} p99 {p99[-1]:5.1f} ms errors {ours['errors']}"
              f" | raw commit of the body ({ARTICLE_BYTES} B) {body_rate:7.0f}/s {body_cpu:3.0f} us CPU, "
              f"of all bytes stored ({size} B) {stored_rate:7.0f}/s {stored_cpu:3.0f} us CPU")
    writer = wrk_start(f"http://127.0.0.1:{stele.port}", seconds + 1, 64, "create.lua", stele.token, str(ARTICLE_BYTES))
    time.sleep(0.5)
    during = wrk_result(wrk_start(read_url, seconds, 8, "read.lua"))
    wrk_result(writer)
    print(f"  cached reads, 8 connections: alone {alone['rate']:.0f}/s, during creates {during['rate']:.0f}/s p99 {during['p99_us'] / 1000:.1f} ms")
    print(f"RATIO create_to_raw_commit_of_same_bytes {statistics.median(stored):.2f} (target 0.50)")
    print(f"RATIO create_to_raw_commit_of_body_only {statistics.median(same):.2f}")
    print(f"FIGURE create_p99_ms {statistics.median(p99):.1f} (target under 60), errors {errors}")
    print(f"RATIO cached_reads_during_creates_to_alone {during['rate'] / alone['rate']:.2f} (target 0.60)")


def bench_size(build, folder):
    stele = Stele(build, folder)
    try:
        text = "Some words of an article that fills the site. " * 20
        c = http.client.HTTPConnection("127.0.0.1", stele.port, timeout=10)
        paths = []
        for n in range(10000):
            c.request("POST", "/api/v1/articles", json.dumps({"title": f"Article {n}", "content": f"Number {n}. {text}", "state": "published"}), {
                "Authorization": "Bearer " + stele.token, "Content-Type": "application/json", "Idempotency-Key": f"bench-size-{n:08d}"})
            r = c.getresponse()
            paths.append(json.loads(r.read())["path"])
        stele.stop()
        start_ms = stele.start()
        for path in paths[::5]:
            get(stele.port, path)
        pss, rss = memory_kb(stele.process.pid)
        print(f"FIGURE memory_10000_articles_mb pss {pss / 1024:.1f} rss_sum {rss / 1024:.1f} (target under 80, shared pages counted once)")
        print(f"FIGURE start_to_first_answer_ms {start_ms:.0f} (target under 300)")
    finally:
        stele.stop()


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for tool in ("wrk", "nginx", "cc"):
        if not shutil.which(tool):
            sys.exit(f"bench: {tool} is missing")
    with tempfile.TemporaryDirectory(prefix="stele-bench-") as name:
        folder = pathlib.Path(name)
        stele = Stele(build, folder)
        try:
            page = bench_reads(stele, folder, seconds)
            bench_writes(stele, folder, build, seconds, page)
        finally:
            stele.stop()
    with tempfile.TemporaryDirectory(prefix="stele-bench-") as name:
        bench_size(build, pathlib.Path(name))
    with tempfile.TemporaryDirectory(prefix="stele-bench-") as name:
        records.run(build, pathlib.Path(name), seconds)
    with tempfile.TemporaryDirectory(prefix="stele-bench-") as name:
        redirects.run(build, pathlib.Path(name), seconds)


if __name__ == "__main__":
    main()
