"""Near duplicates are reported, whatever the script, and never acted on."""
import sqlite3
import time

from test_delete import delete
from test_duplicates import decide
from test_moves import create, step, word
from test_reports import report


def words(step=7919, n=1500):
    """The same ones each time: how far two texts are apart is a matter of chance."""
    return [f"w{i * step % 100003}" for i in range(n)]


def near(server, limit=None):
    return [(i["first"]["id"], i["second"]["id"]) for i in report(server, "near-duplicates", limit=limit)]


def wait_for(server, wanted, limit=None):
    """Rows are made after the commit."""
    deadline = time.monotonic() + 30
    while near(server) != wanted and time.monotonic() < deadline:
        time.sleep(0.1)
    assert near(server, limit) == wanted


def rows(server):
    return server.value("SELECT count(*) FROM near_text"), server.value("SELECT count(*) FROM near_block")


def test_texts_that_are_nearly_the_same_are_told_and_nothing_else_happens(make_server):
    s = make_server()
    text = words()
    changed = text[:150] + ["changed"] + text[151:]
    first, second = create(s, content=" ".join(text)), create(s, content=" ".join(changed))
    create(s, content=" ".join(words(104729)))
    create(s, content="short"), create(s, content="short!")
    wait_for(s, [(first["id"], second["id"])])
    item = report(s, "near-duplicates")[0]
    assert 0 <= item["distance"] <= 3 and item["second"] == {k: second[k] for k in ("id", "kind", "title", "url")}
    for made in (first, second):
        now = s.get(f"/api/v1/articles/{made['id']}", token=s.token).json()
        assert (now["duplicate_of"], now["canonical"], now["version"], now["in_sitemap"]["listed"]) == (None, made["url"], 1, True)
    assert s.value("SELECT count(*) FROM outbox o JOIN resource r ON r.id = o.aggregate_id WHERE r.kind = 'article' AND o.topic = 'resource.changed'") == 0


def test_equal_texts_are_in_the_other_report_and_other_languages_in_none(make_server):
    s = make_server()
    text = " ".join(words())
    title = word()
    first, copy = create(s, title=title, content=text), create(s, title=title, content=text)
    other = create(s, content=text + " more", locale="de")
    assert copy["duplicate_of"] == first["id"] and other["duplicate_of"] is None
    near_one = create(s, content=text + " more")
    wait_for(s, [(first["id"], near_one["id"]), (copy["id"], near_one["id"])])


def test_the_last_page_repeats_no_pair(make_server):
    """The scan ends exactly at its bound, and the next text is there already."""
    s = make_server(workers=1)
    text = words()
    made = [create(s, content=" ".join(text + [f"end{i}"])) for i in range(2)]
    wait_for(s, [(made[0]["id"], made[1]["id"])])
    ids = [s.value("SELECT id FROM resource WHERE uid = ?", m["id"]) for m in made]
    db = sqlite3.connect(s.db)
    db.executemany("INSERT INTO near_text VALUES (?, 'en', 'x' || ?, 0)", [(n, n) for n in range(ids[0] - 499, ids[0]) if n > 0] or [(-n, n) for n in range(1, 500)])
    db.executemany("INSERT OR IGNORE INTO near_text VALUES (?, 'en', 'x' || ?, 0)", [(-n, n) for n in range(1, 500 - db.execute("SELECT count(*) FROM near_text WHERE resource_id < ?", (ids[1],)).fetchone()[0] + 1)])
    db.commit()
    assert db.execute("SELECT count(*) FROM near_text WHERE resource_id < ?", (ids[1],)).fetchone()[0] == 500
    db.close()
    assert near(s) == [(made[0]["id"], made[1]["id"])]


def test_what_leaves_or_changes_leaves_the_report(make_server):
    s = make_server()
    text = words()
    first, second, third = [create(s, content=" ".join(text + [f"end{i}"])) for i in range(3)]
    wait_for(s, [(first["id"], second["id"]), (first["id"], third["id"]), (second["id"], third["id"])], limit=1)
    step(s, second, "withdraw")
    assert near(s) == [(first["id"], third["id"])]
    r = s.request("PATCH", f"/api/v1/articles/{third['id']}", {"content": " ".join(words(15485863))}, headers={"If-Match": '"1"'}, token=s.token)
    assert r.status == 200
    step(s, third, "publish")
    wait_for(s, [])
    delete(s, first)
    deadline = time.monotonic() + 30
    while rows(s) != (1, 4) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert rows(s) == (1, 4)
    step(s, second, "publish")
    assert near(s) == []


def test_texts_without_blanks_are_compared_by_their_characters(make_server):
    s = make_server()
    text = "".join(chr(0x4E00 + (i * 7919) % 5000) for i in range(600))
    first, second = create(s, content=text), create(s, content=text[:300] + "新" + text[300:])
    create(s, content="".join(chr(0x4E00 + (i * 104729) % 5000) for i in range(600)))
    wait_for(s, [(first["id"], second["id"])])


def test_a_copy_that_was_given_up_is_near_nothing(make_server):
    s = make_server()
    text, title = " ".join(words()), word()
    first, copy, other = create(s, title=title, content=text), create(s, title=title, content=text), create(s, content=text + " more")
    wait_for(s, [(first["id"], other["id"]), (copy["id"], other["id"])])
    decide(s, copy, {"decision": "redirect"})
    assert near(s) == [(first["id"], other["id"])]
