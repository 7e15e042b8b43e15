"""`stele audit`: quiet on a sound site, and each broken promise is named."""
import json
import os
import sqlite3

import pytest

import stele
from test_delete import delete
from test_moves import create, step, word

TEXT = " ".join(f"word{i}" for i in range(80))


@pytest.fixture(scope="module")
def site():
    """One site with something of everything; each test breaks a copy of it."""
    s = stele.Server()
    s.start()
    tag = word()
    names = {}
    names["article"] = create(s, tags=[tag, word()], content=TEXT, title="The same")
    names["copy"] = create(s, content=TEXT, title="The same")
    names["merged"] = create(s, content=TEXT, title="The same")
    assert s.post(f"/api/v1/articles/{names['merged']['id']}/duplicate", {"decision": "redirect"}).status == 200
    names["draft"] = create(s, state="draft")
    names["scheduled"] = create(s, state="draft")
    step(s, names["scheduled"], "schedule", {"publish_at": "2099-01-01T00:00:00Z"})
    names["withdrawn"] = create(s)
    step(s, names["withdrawn"], "withdraw")
    names["gone"] = create(s)
    delete(s, names["gone"])
    names["moved"] = create(s)
    step(s, names["moved"], "move", {"slug": word()})
    names["top"] = create(s, "pages")
    names["below"] = create(s, "pages", parent=names["top"]["id"])
    step(s, names["top"], "move", {"slug": word()}, kind="pages")
    names["linking"] = create(s, content=f"[there]({names['article']['path']})")
    names["noindex"] = create(s, seo={"noindex": True})
    names["override"] = create(s, seo={"canonical": "https://elsewhere.example/x"})
    for source, target, status in (("/old/a", names["moved"]["id"], 301), ("/old/b", "https://elsewhere.example/b", 302), ("/old/c", "/articles", 308),
                                   ("/old?p=12", names["article"]["id"], 301), ("/?p=12", names["article"]["id"], 301), ("/old/d", names["gone"]["id"], 301)):
        assert s.post("/api/v1/redirects", {"source": source, "target": target, "status": status}).status == 201, source
    s.names, s.tag = names, s.get(f"/api/v1/tags/{tag}").json()
    yield s
    s.stop()
    s.close()


def audit(server, *more, data=None, ok=True):
    run = stele.command("audit", *more, data=data or server.data, check=False)
    assert (run.returncode == 0) == ok, run.stdout + run.stderr
    return run


def via(server):
    return ("--via", f"{server.host}:{server.port}")


@pytest.fixture
def broken(site, tmp_path):
    """broken(SQL, ...): a copy of the site whose rows were edited by hand."""
    def make(sql, *values):
        data = tmp_path / "data"
        data.mkdir(mode=0o700)
        (data / "run").mkdir()
        (data / "stele.conf").write_text(open(os.path.join(site.data, "stele.conf")).read())
        source, copy = sqlite3.connect(site.db), sqlite3.connect(data / "stele.db")
        source.backup(copy)
        copy.execute("PRAGMA foreign_keys = OFF")
        copy.executescript(sql) if not values else copy.execute(sql, values)
        copy.commit()
        copy.close()
        source.close()
        return data
    return make


def test_a_sound_site_is_told_so(site):
    run = audit(site)
    assert run.stdout.startswith("audit: ") and " 0 faults" in run.stdout and len(run.stdout.splitlines()) == 1
    run = audit(site, *via(site))
    assert " 0 faults" in run.stdout
    assert int(run.stdout.split(" pages read")[0].split()[-1]) >= 8
    assert not [n for n in os.listdir(os.path.join(site.data, "run")) if n.startswith("audit-")]


def resource(site, name):
    return (site.names[name]["id"],)


BROKEN = [
    ("canonical-path", "UPDATE path SET role = 'alias' WHERE path = (SELECT p.path FROM path p JOIN resource r ON r.id = p.resource_id WHERE r.uid = ? AND p.role = 'canonical')", "article"),
    ("public-mark", "UPDATE path SET was_public = 0 WHERE resource_id = (SELECT id FROM resource WHERE uid = ?) AND role = 'canonical'", "article"),
    ("revision", "UPDATE resource SET head_revision = 9 WHERE uid = ?", "draft"),
    ("live-columns", "UPDATE resource SET live_title = 'another' WHERE uid = ?", "article"),
    ("override", "UPDATE resource SET live_canonical = 'https://elsewhere.example/y' WHERE uid = ?", "article"),
    ("rendered", "DELETE FROM rendered WHERE resource_id = (SELECT id FROM resource WHERE uid = ?)", "article"),
    ("live-tags", "DELETE FROM live_tag WHERE resource_id = (SELECT id FROM resource WHERE uid = ?) AND position = 0", "article"),
    ("duplicate", "UPDATE resource SET duplicate_of = (SELECT id FROM resource WHERE state = 'gone') WHERE uid = ?", "copy"),
    ("merged", "UPDATE resource SET merged_into = (SELECT id FROM resource WHERE merged_into IS NOT NULL) WHERE uid = ?", "gone"),
    ("two-originals", "UPDATE resource SET duplicate_of = NULL WHERE uid = ?", "copy"),
    ("text-of-the-dead", "UPDATE resource SET content_hash = 'x' WHERE uid = ?", "withdrawn"),
    ("sitemap-part", "DELETE FROM sitemap_part", None),
    ("link", "INSERT INTO link VALUES ((SELECT id FROM resource WHERE uid = ?), 1, 1, 999999)", "linking"),
    ("event-version", "UPDATE resource SET event_version = 1 WHERE uid = ?", "moved"),
    ("overdue", "UPDATE resource SET publish_at = 1000 WHERE uid = ?", "scheduled"),
    ("processing", "UPDATE idempotency_record SET status = 'PROCESSING' WHERE rowid = 1", None),
    ("foreign-key", "DELETE FROM revision WHERE resource_id = (SELECT id FROM resource WHERE uid = ?); UPDATE path SET resource_id = 999999 WHERE path = '/old/a'", None),
    ("schema", "DROP INDEX path_fold_canonical; CREATE INDEX path_fold_canonical ON path (fold) WHERE was_canonical = 1", None),
    ("schema", "DROP INDEX idempotency_scope", None),
    ("schema", "CREATE TRIGGER helpful AFTER UPDATE ON path BEGIN DELETE FROM path_rule; END", None),
    ("hop", "UPDATE path SET role = 'external', resource_id = NULL, target = '/old/b' WHERE path = '/old/a'", None),
    ("hop", "UPDATE path SET role = 'external', resource_id = NULL, target = '/OLD/../old/a' WHERE path = '/old/a'", None),
    ("spelling", "UPDATE path SET fold = '/qqq' WHERE resource_id = (SELECT id FROM resource WHERE uid = ?) AND role = 'canonical'", "article"),
    ("spelling", "UPDATE path SET path = '/Zzz%41//b' WHERE path = '/old/a'", None),
    ("reuse", "UPDATE path SET resource_id = (SELECT id FROM resource WHERE uid = ?) WHERE role = 'alias' AND was_public = 1", "article"),
    ("reuse", "DELETE FROM path WHERE role = 'alias' AND was_public = 1", None),
    ("address", "UPDATE path SET path = '/api/v1/taken' WHERE resource_id = (SELECT id FROM resource WHERE uid = ?) AND role = 'canonical'", "gone"),
]


@pytest.mark.parametrize("check, sql, name", BROKEN, ids=[f"{b[0]}-{i}" for i, b in enumerate(BROKEN)])
def test_a_broken_promise_is_named(site, broken, check, sql, name):
    data = broken(sql.replace("?", f"'{site.names[name]['id']}'") if name else sql.replace("?", "''"))
    out = audit(site, data=data, ok=False)
    assert any(line.startswith(f"WRONG  {check}: ") for line in out.stdout.splitlines()), out.stdout
    assert "promise" in out.stderr
    faults = [json.loads(line) for line in audit(site, "--json", data=data, ok=False).stdout.splitlines()]
    assert check in {f["check"] for f in faults} and all(f["advice"] and f["subject"] for f in faults)


@pytest.mark.parametrize("check, sql", [(c, s) for c, s, n in BROKEN if c in ("live-tags", "duplicate", "two-originals", "sitemap-part", "rendered")])
def test_what_is_derived_can_be_mended(site, broken, check, sql):
    name = {"live-tags": "article", "rendered": "article", "duplicate": "copy", "two-originals": "copy"}.get(check)
    data = broken(sql.replace("?", f"'{site.names[name]['id']}'") if name else sql)
    out = audit(site, "--fix", data=data).stdout
    assert any(line.startswith(f"mended {check}: ") for line in out.splitlines())
    assert " 0 faults" in audit(site, data=data).stdout
    db = sqlite3.connect(data / "stele.db")
    assert db.execute("SELECT count(*) FROM resource WHERE duplicate_of IS NOT NULL").fetchone()[0] == 1
    db.close()


def test_what_the_running_site_answers_is_compared(make_server):
    s = make_server(workers=1)    # what one worker keeps, another need not
    first, second = create(s), create(s)
    moved = create(s)
    step(s, moved, "move", {"slug": word()})
    assert s.get(first["path"]).status == s.get(second["path"]).status == 200
    for _ in range(8):
        s.get(moved["path"])
        s.get("/sitemap.xml"), s.get("/sitemap-1.xml")
    audit(s, *via(s))
    # Edited behind the site's back: its cache goes on answering what was true before.
    db = sqlite3.connect(s.db)
    db.execute("UPDATE resource SET state = 'gone', content_hash = NULL WHERE uid = ?", (first["id"],))
    db.commit()
    db.close()
    out = audit(s, *via(s), ok=False).stdout
    assert f"answer: {first['path']} should answer 410 and answers 200" in out
    s.command("flush")
    audit(s, *via(s))


def test_a_wrong_address_is_refused(site):
    for address in ("nowhere", "localhost:80", "127.0.0.1:x"):
        run = stele.command("audit", "--via", address, data=site.data, check=False)
        assert run.returncode == 1 and "ADDRESS:PORT" in run.stderr
    run = stele.command("audit", "--via", f"127.0.0.1:{stele.free_port()}", data=site.data, check=False)
    assert run.returncode == 1 and "cannot be reached" in run.stderr
