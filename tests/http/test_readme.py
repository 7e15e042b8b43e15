"""README.md keeps its word: the tour is run, line by line."""
import re
import subprocess

import stele


def blocks():
    return re.findall(r"^```sh tour\n(.*?)^```$", (stele.ROOT / "README.md").read_text(), re.M | re.S)


def test_the_tour_works_as_it_is_printed(make_server, tmp_path):
    s = make_server()
    found = blocks()
    assert len(found) >= 5
    script = "set -euo pipefail\n" + "\n".join(f"echo '--- block {n}' >&2\n{block}" for n, block in enumerate(found))
    run = subprocess.run(["bash", "-c", script], cwd=stele.ROOT, capture_output=True, text=True, timeout=60, env={
        "PATH": "/usr/local/bin:/usr/bin:/bin", "BASE": s.base, "TOKEN": s.token, "STELE": str(stele.STELE), "DATA": s.data,
        "TMPDIR": str(tmp_path)})
    assert run.returncode == 0, run.stdout + run.stderr
    out = run.stdout
    statuses = re.findall(r"^HTTP/1\.1 (\d+)", out, re.M)
    assert statuses == ["201", "200", "409", "301", "301"], statuses
    assert "Idempotent-Replayed: true" in out
    assert "imported" in out
    assert re.search(r"^HTTP/1\.1 301.*?^Location: \S+/articles/an-old-post\r?$", out, re.M | re.S), out
    assert f"<loc>{s.base}/articles/set-in-stone</loc>" in out
    assert f"<loc>{s.base}/articles/an-old-post</loc>" in out
    # Two requests with one key, one with another body, and one import: one article each.
    assert s.value("SELECT count(*) FROM resource WHERE kind = 'article'") == 2
