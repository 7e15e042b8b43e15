"""What was not found and how often redirects are used: counted beside the request, bounded, and turned into a redirect by the normal way."""
import http.client
import sqlite3

from site_pages import publish, wait_for, word, write_rows
from test_redirects import hop, make, read


def report(server, query="limit=100"):
    r = server.get(f"/api/v1/reports/not-found?{query}", token=server.token)
    assert r.status == 200, r
    return r.json()["items"]


def entry(server, path):
    rows = server.sql("SELECT hits, first_at, last_at FROM not_found WHERE path = ?", path)
    return dict(rows[0]) if rows else None


def ask(server, path, times, method="GET"):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    for _ in range(times):
        server.request(method, path, connection=connection)
    connection.close()


def test_what_is_not_found_is_counted_in_its_normal_form(server):
    w = word()
    ask(server, f"/{w}/a", 3)
    ask(server, f"//{w}//a/?utm=x", 2)
    ask(server, f"/{w}/%61", 1, method="HEAD")
    wait_for(lambda: (entry(server, f"/{w}/a") or {}).get("hits") == 6)
    row = entry(server, f"/{w}/a")
    assert 0 < row["first_at"] <= row["last_at"]
    ask(server, f"/{w}/a", 4)
    wait_for(lambda: entry(server, f"/{w}/a")["hits"] == 10)
    assert entry(server, f"/{w}/a")["first_at"] == row["first_at"]
    assert server.value("SELECT count(*) FROM not_found WHERE path LIKE ?", f"/{w}%") == 1
    assert [i["hits"] for i in report(server) if i["path"] == f"/{w}/a"] == [10]


def test_a_request_never_waits_for_the_writer(make_server):
    """While somebody else holds the database, what is not found is answered all the same."""
    s = make_server()
    db = sqlite3.connect(s.db, isolation_level=None, timeout=10)
    db.execute("BEGIN IMMEDIATE")
    try:
        for n in range(50):
            assert s.get(f"/held/{n}", timeout=5).status == 404
        assert s.value("SELECT count(*) FROM not_found") == 0
    finally:
        db.execute("ROLLBACK")
        db.close()
    ask(s, "/held/later", 1)
    wait_for(lambda: entry(s, "/held/later") is not None, 10)


def test_pages_and_the_api_are_not_in_the_log(server):
    a, w = publish(server), word()
    ask(server, a["path"], 2)
    ask(server, f"/api/v1/{w}", 2)
    ask(server, f"/media/{w}.png", 2)
    ask(server, f"/{w}", 1)
    wait_for(lambda: entry(server, f"/{w}") is not None)
    assert server.value("SELECT count(*) FROM not_found WHERE path IN (?, ?, ?)", a["path"], f"/api/v1/{w}", f"/media/{w}.png") == 0


def test_an_entry_becomes_a_redirect_by_the_normal_post_and_leaves_the_log(server):
    a, w = publish(server), word()
    ask(server, f"/{w}", 3)
    wait_for(lambda: entry(server, f"/{w}") is not None)
    make(server, f"/{w}", a["path"])
    assert entry(server, f"/{w}") is None and hop(server, f"/{w}") == (301, a["url"])
    ask(server, f"/{w}-gone", 3)
    wait_for(lambda: entry(server, f"/{w}-gone") is not None)
    make(server, f"/{w}-gone", status=410)
    ask(server, f"/{w}-gone", 3)
    ask(server, f"/{w}-mark", 1)
    wait_for(lambda: entry(server, f"/{w}-mark") is not None)
    assert entry(server, f"/{w}-gone") is None and entry(server, f"/{w}") is None


def test_uses_of_every_kind_of_redirect_are_counted(server):
    a, w = publish(server), word()
    made = [(make(server, f"/{w}", a["path"]), f"/{w.upper()}/"), (make(server, f"/{w}?p=1", a["path"]), f"/{w}?x=2&p=1"),
            (make(server, f"/{w}/:x", a["path"]), f"/{w}/anything"), (make(server, f"/{w}-gone", status=410), f"/{w}-gone")]
    for m, asked in made:
        ask(server, asked, 5)
    for m, asked in made:
        wait_for(lambda: read(server, m)["hits"] == 5)
        now = read(server, m)
        assert now["last_hit_at"] is not None and now["version"] == 1, "a count is no change"
    old = f"/articles/{word()}"
    write_rows(server, (f"INSERT INTO path (path, fold, role, resource_id, was_public, was_canonical, created_at) SELECT '{old}', '{old}', 'alias', id, 1, 1, 1 "
                        f"FROM resource WHERE uid = '{a['id']}'",))
    ask(server, old, 4)
    wait_for(lambda: server.value("SELECT hits FROM path WHERE path = ?", old) == 4)


def test_a_flood_of_paths_leaves_what_is_asked_for_often(make_server):
    s = make_server(workers=1)
    connection = http.client.HTTPConnection(s.host, s.port, timeout=30)
    for n in range(6000):
        s.request("GET", f"/flood/{n}", connection=connection)
        if n % 20 == 0:
            s.request("GET", "/wanted", connection=connection)
    connection.close()
    wait_for(lambda: (entry(s, "/wanted") or {}).get("hits") == 300, 60)
    assert report(s, "limit=1")[0]["path"] == "/wanted"
    assert s.value("SELECT count(*) FROM not_found") <= 6001


def test_the_log_keeps_the_ten_thousand_most_asked_for_and_nothing_old(make_server):
    s = make_server(start=False)
    now = 4000000000000
    write_rows(s, ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) "
                   f"INSERT INTO not_found (path, hits, first_at, last_at) SELECT '/p' || i, i, 1, {now} FROM n",),
               ("INSERT INTO not_found (path, hits, first_at, last_at) VALUES ('/long-ago', 1000000, 1, 2)",))
    s.start()
    wait_for(lambda: s.value("SELECT count(*) FROM not_found") == 10000, 15)
    assert s.value("SELECT min(hits) FROM not_found") == 2001 and entry(s, "/long-ago") is None


def test_the_report_is_paged_in_the_order_of_hits(make_server):
    s = make_server()
    write_rows(s, *[(f"INSERT INTO not_found (path, hits, first_at, last_at) VALUES ('/p{n:02}', {n // 3 + 1}, 1, {4000000000000 + n % 2})",) for n in range(25)])
    items, url = [], "/api/v1/reports/not-found?limit=4"
    while url:
        r = s.get(url, token=s.token)
        assert r.status == 200 and len(r.json()["items"]) <= 4, r
        items += r.json()["items"]
        url = r.headers["Link"].split(">")[0][1 + len(s.base):] if r.json()["next"] else None
    expected = sorted(((n // 3 + 1, n % 2, f"/p{n:02}") for n in range(25)), reverse=True)
    assert [(i["hits"], i["path"]) for i in items] == [(h, p) for h, _, p in expected]
    for name, status in (("viewer", 403), ("author", 403), (None, 401)):
        assert s.get("/api/v1/reports/not-found", token=s.tokens.get(name)).status == status
    for bad in ("limit=0", "cursor=x"):
        assert s.get("/api/v1/reports/not-found?" + bad, token=s.token).status in (400, 422)
