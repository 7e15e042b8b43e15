"""Whatever sources, targets and notes a set of redirects has: what is exported imports to the same set, and a second time changes nothing."""
import csv
import io
import os
import pathlib
import shutil
import sqlite3
import sys
import tempfile

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
import stele  # noqa: E402

TEXT = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Cn", "Co")), min_size=1, max_size=12)
SEGMENT = st.one_of(TEXT, st.sampled_from(["a", "b c", "é", "%41", "x;y", "a,b", '"q"', "~", "=1", "日本"]))
PATHS = st.lists(SEGMENT, min_size=1, max_size=4).map(lambda parts: "/old/" + "/".join(p.replace("/", "_").replace("?", "_").replace("#", "_") for p in parts))
PAIRS = st.lists(st.tuples(TEXT, TEXT).map("=".join), min_size=1, max_size=4).map(lambda pairs: "&".join(pairs).replace("#", "%23"))
SOURCES = st.one_of(PATHS, st.tuples(PATHS, st.one_of(st.sampled_from(["p=1", "b=2&a=1", "x", "q=a%20b", "q=a+b&q=", "=&&é=e\u0301"]), PAIRS)).map("?".join), PATHS.map(lambda p: p + "/*"))
TARGETS = st.one_of(st.sampled_from(["/articles", "/tags", "/", "/feed.atom", "https://other.test/", "https://other.test/a?b=c&d=e#f"]),
                    TEXT.map(lambda t: "https://other.test/" + t.replace("#", "").replace("?", "")))
NOTES = st.one_of(st.just(""), TEXT, st.sampled_from([" led by a blank", 'with "marks"', "a,b;c", "=1+1", "'"]))
ROWS = st.lists(st.tuples(SOURCES, TARGETS, st.sampled_from(["", "301", "302", "307", "308"]), NOTES), min_size=1, max_size=12)
DIALECTS = st.tuples(st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans(), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))


@pytest.fixture(scope="module")
def site():
    folder = tempfile.mkdtemp(prefix="stele-csv-")
    data = pathlib.Path(folder, "data")
    data.mkdir(mode=0o700)
    (data / "stele.conf").write_text(f"share_dir = {stele.ROOT}\n")
    stele.command("migrate", data=data)
    yield data
    shutil.rmtree(folder)


def stored(data):
    db = sqlite3.connect(data / "stele.db")
    try:
        return db.execute("SELECT path, '', target, status, note FROM path UNION ALL SELECT path, pairs, target, status, note FROM path_query "
                          "UNION ALL SELECT pattern, '*', target, status, note FROM path_rule ORDER BY 1, 2").fetchall()
    finally:
        db.close()


def empty(data):
    db = sqlite3.connect(data / "stele.db")
    with db:
        for table in ("path", "path_query", "path_rule", "redirect_stage"):
            db.execute(f"DELETE FROM {table}")
    db.close()


def load(data, text):
    file = data.parent / "in.csv"
    file.write_bytes(text.encode())
    return stele.command("import", "redirects", file, data=data, check=False)


@settings(max_examples=int(os.environ.get("STELE_EXAMPLES", "25")), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, DIALECTS)
def test_export_and_import_are_a_round_trip(site, rows, dialect):
    delimiter, end, bom, header, quoting = dialect
    empty(site)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    if header:
        writer.writerow(["source", "target", "status", "note"])
    writer.writerows(rows)
    first = load(site, ("\ufeff" if bom else "") + out.getvalue())
    assert first.returncode in (0, 1), first
    if first.returncode == 1:
        assert "nothing was changed" in first.stderr and ": failed" in first.stdout and stored(site) == []
        return
    was = stored(site)
    exported = stele.command("export", "redirects", data=site).stdout
    again = load(site, exported)
    assert again.returncode == 0 and " 0 created, 0 changed" in again.stdout and stored(site) == was
    empty(site)
    assert load(site, exported).returncode == 0 and stored(site) == was
