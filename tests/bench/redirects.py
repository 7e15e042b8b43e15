#!/usr/bin/python3
"""What a million redirects cost: taking them in while others write, looking one up, and the memory of it.

redirects.py BUILD_DIR [SECONDS] [ROWS]; called from bench.py too.
"""
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from harness import ARTICLE_BYTES, Stele, memory_kb, measure, wrk_result, wrk_start

ROWS = 1000000


def write_file(path, rows):
    """Unsorted, each leading to one of a hundred articles or, one in ten, to another line."""
    order = list(range(rows))
    random.Random(7).shuffle(order)
    with open(path, "w") as f:
        f.write("source,target,status,note\n")
        for i in order:
            target = f"/old/{i - 1:07}/an-address-of-some-length" if i % 10 == 9 else f"/articles/target-{i % 100}"
            f.write(f"/old/{i:07}/an-address-of-some-length,{target},301,\n")


class Writer(threading.Thread):
    """One client that makes a small article every 20 ms and notes how long each took."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site, self.ms, self.is_over = site, [], False

    def run(self):
        n = 0
        while not self.is_over:
            began = time.monotonic()
            self.site.post("/api/v1/articles", {"title": f"Beside {n}", "content": "x"}, f"bench-beside-{id(self)}-{n:06}")
            self.ms.append((time.monotonic() - began) * 1000)
            n += 1
            time.sleep(0.02)


def peak_memory(process, seconds_between, stop, out):
    while not stop.is_set():
        out.append(memory_kb(process.pid)[0])
        stop.wait(seconds_between)


def bench_import(site, folder, rows):
    file = folder / "redirects.csv"
    write_file(file, rows)
    idle = memory_kb(site.process.pid)[0]
    writer, memory, stop = Writer(site), [], threading.Event()
    writer.start()
    time.sleep(2)
    alone, writer.ms = writer.ms, []
    began = time.monotonic()
    run = subprocess.Popen([site.build / "stele", "import", "redirects", file, "--data", site.data], stdout=subprocess.PIPE, text=True)
    watch = threading.Thread(target=peak_memory, args=(run, 0.2, stop, memory), daemon=True)
    watch.start()
    out = run.communicate()[0]
    took = time.monotonic() - began
    writer.is_over = True
    stop.set()
    writer.join()
    if run.returncode != 0 or f"{rows} created" not in out:
        sys.exit(f"bench: the import ended with {run.returncode}: {out[-500:]}")
    print(f"import of {rows} redirects: {took:.1f} s, {took / rows * 1e6:.1f} us each; other writes alone max {max(alone):.1f} ms, meanwhile "
          f"median {statistics.median(writer.ms):.1f} max {max(writer.ms):.1f} ms of {len(writer.ms)}; memory {max(memory) / 1024:.0f} MB, site idle {idle / 1024:.0f} MB")
    print(f"RATIO redirect_import_to_60_s_a_million {60e-6 * rows / took:.2f} (target 1.00)")
    print(f"RATIO delay_of_other_writes_to_50_ms {max(writer.ms) / 50:.2f} (target at most 1.00)")
    print(f"RATIO import_memory_to_100_MB {max(memory) / 1024 / 100:.2f} (target at most 1.00)")
    return idle


def bench_lookup(site, rows, seconds, idle):
    ratios = []
    url = f"http://127.0.0.1:{site.port}"
    for n in range(3):
        page = measure(f"{url}/articles/target-1", site.process.pid, seconds)
        old = wrk_result(wrk_start(url, seconds, 64, "redirect.lua", str(rows), str(n)))
        ratios.append(old["rate"] / page["rate"])
        print(f"  cached page {page['rate']:7.0f}/s, random old address of {rows} {old['rate']:7.0f}/s p99 {old['p99_us'] / 1000:.1f} ms errors {old['errors']}")
    print(f"RATIO old_address_to_cached_page {statistics.median(ratios):.2f} (target 0.30)")
    print(f"RATIO site_memory_above_idle_to_100_MB {(memory_kb(site.process.pid)[0] - idle) / 1024 / 100:.2f} (target at most 1.00)")


def run(build, folder, seconds, rows=ROWS):
    site = Stele(build, folder)
    try:
        for n in range(100):
            site.post("/api/v1/articles", {"title": f"Target {n}", "slug": f"target-{n}", "content": "w " * (ARTICLE_BYTES // 2), "state": "published"},
                      f"bench-target-{n:06}")
        idle = bench_import(site, folder, rows)
        bench_lookup(site, rows, seconds, idle)
    finally:
        site.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="stele-bench-") as name:
        run(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(name), int(sys.argv[2]) if len(sys.argv) > 2 else 5,
            int(sys.argv[3]) if len(sys.argv) > 3 else ROWS)
