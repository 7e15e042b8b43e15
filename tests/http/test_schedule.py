"""What was given a time goes live by itself when that time has come, and not before."""
import datetime
import time

import site_pages


def in_seconds(n):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=n)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def test_a_scheduled_article_goes_live_at_its_time_and_not_before(server):
    title = site_pages.word()
    made = server.post("/api/v1/articles", {"title": title, "content": "x", "state": "scheduled", "publish_at": in_seconds(3)})
    assert made.status == 201, made
    later = server.post("/api/v1/articles", {"title": title + "later", "content": "x", "state": "scheduled", "publish_at": in_seconds(3600)})
    assert server.request("GET", made.json()["path"], token=None).status == 404
    deadline = time.monotonic() + 20
    while server.request("GET", made.json()["path"], token=None).status != 200 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert server.request("GET", made.json()["path"], token=None).status == 200
    now = server.get("/api/v1/articles/" + made.json()["id"], token=server.token).json()
    assert (now["state"], now["publish_at"]) == ("published", None)
    assert now["published_at"] >= made.json()["publish_at"]
    assert server.request("GET", later.json()["path"], token=None).status == 404
    assert server.sql("SELECT count(*) FROM outbox o JOIN resource r ON r.id = o.aggregate_id WHERE r.uid = ? AND topic = 'resource.published'",
                      made.json()["id"])[0][0] == 1
