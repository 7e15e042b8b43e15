"""`stele serve`: what dies is started again, what is stopped is gone, and one site has one server."""
import http.client
import json
import os
import pwd
import shutil
import signal
import subprocess
import threading
import time

import pytest

import stele


def exists(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False


def until(claim, seconds=10):
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


def test_a_stopped_site_leaves_no_process_and_starts_again_where_it_was(make_server):
    s = make_server()
    made = s.post("/api/v1/articles", {"title": "Kept", "content": "text", "state": "published"})
    assert made.status == 201, made
    s.restart()
    assert s.get(made.json()["path"]).status == 200
    assert s.value("SELECT count(*) FROM resource WHERE kind = 'article'") == 1


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_both_signals_of_operators_end_it_with_code_0(make_server, sent):
    s = make_server()
    s.remember_groups()
    process, s.process = s.process, None
    process.send_signal(sent)
    assert process.wait(20) == 0
    s.assert_nothing_left(0)


def segments(pid):
    """Shared memory of System V that a process made: (is marked to vanish with its last user, how many use it)."""
    with open("/proc/sysvipc/shm") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    return [(int(r[2], 8) & 0o1000 != 0, int(r[6])) for r in rows if int(r[4]) == pid]


@pytest.mark.parametrize("who", ["kore", "everybody", "nobody"])
def test_memory_that_kore_shares_never_outlives_it(make_server, who):
    s = make_server()
    kore = s.child_pid("kore")
    assert segments(kore) and all(is_marked and users > 0 for is_marked, users in segments(kore))
    if who == "kore":
        os.kill(kore, signal.SIGKILL)
        until(lambda: s.child_pid("kore") != kore)
        s.wait_ready()
    elif who == "everybody":
        s.remember_groups()
        os.killpg(kore, signal.SIGKILL)
        s.kill()
    else:
        s.stop()
    until(lambda: segments(kore) == [])


@pytest.mark.parametrize("child", ["kore", "jobs"])
def test_a_child_that_is_killed_is_started_again(make_server, child):
    s = make_server()
    first = s.child_pid(child)
    os.kill(first, signal.SIGKILL)
    until(lambda: s.child_pid(child) != first)
    s.wait_ready()
    assert s.get("/healthz").status == 200
    assert not exists(first)
    assert {"child": child, "signal": 9}.items() <= s.log_events("serve.child_killed")[-1].items()


def test_a_worker_that_is_killed_is_replaced_and_the_site_stops_clean_afterwards(make_server):
    s = make_server(workers=2)
    victim = s.worker_pids()[0]
    os.kill(victim, signal.SIGKILL)
    until(lambda: victim not in s.worker_pids() and len(s.worker_pids()) == 2)
    s.wait_ready()
    for n in range(5):
        assert s.post("/api/v1/articles", {"title": f"After {n}", "content": "text"}).status == 201


def test_what_a_killed_kore_left_behind_is_gone_before_the_next_one(make_server):
    s = make_server(workers=3)
    old = s.worker_pids()
    assert len(old) == 3
    leader = s.child_pid("kore")
    # Workers that cannot drain must not keep the next one from its port.
    for pid in old:
        os.kill(pid, signal.SIGSTOP)
    os.kill(leader, signal.SIGKILL)
    until(lambda: s.child_pid("kore") != leader, 15)
    assert not any(exists(pid) for pid in old)
    s.wait_ready()


def test_children_do_not_outlive_a_killed_supervisor(make_server):
    s = make_server()
    s.kill()
    s.assert_nothing_left(10)
    s.start()
    assert s.get("/healthz").status == 200


@pytest.mark.parametrize("delay", [0.03, 0.08, 0.13, 0.2, 0.3])
def test_children_that_were_just_starting_do_not_outlive_it_either(make_server, delay):
    s = make_server(start=False, workers=4)
    s.start(wait=False)
    time.sleep(delay)
    s.kill()
    s.assert_nothing_left(10)


def test_a_site_can_be_served_again_at_once_after_its_supervisor_was_killed(make_server):
    s = make_server()
    for _ in range(3):
        s.kill()
        s.start()
    assert s.get("/readyz").status == 200


def test_a_second_server_for_the_same_site_is_refused_and_the_first_goes_on(make_server):
    s = make_server()
    run = stele.command("serve", "--listen", f"127.0.0.1:{stele.free_port()}", data=s.data, check=False, timeout=15)
    assert run.returncode == 1
    assert str(s.process.pid) in run.stderr and "already served" in run.stderr
    assert s.get("/readyz").status == 200
    assert s.post("/api/v1/articles", {"title": "Still", "content": "here"}).status == 201


def test_a_taken_port_is_said_at_once(make_server):
    s = make_server()
    other = make_server(start=False)
    run = stele.command("serve", "--listen", f"127.0.0.1:{s.port}", data=other.data, check=False, timeout=15)
    assert run.returncode == 1 and "--listen" in run.stderr


@pytest.fixture
def own_share(tmp_path):
    """A share directory with migrations that a test may add to; the rest is that of the checkout."""
    share = tmp_path / "share"
    share.mkdir()
    for name in ("templates", "assets"):
        (share / name).symlink_to(stele.ROOT / name)
    shutil.copytree(stele.ROOT / "migrations", share / "migrations")
    return share


def add_migration(share, text):
    folder = share / "migrations" / "sqlite"
    path = folder / f"{len(list(folder.iterdir())) + 1:04d}_added.sql"
    path.write_text(text)
    return path


def test_migrate_has_nothing_to_do_on_a_served_site(make_server):
    s = make_server()
    assert "nothing to do" in s.command("migrate").stdout


def test_a_change_that_needs_the_site_stopped_is_refused_while_it_is_served(make_server, own_share):
    s = make_server(config=f"share_dir = {own_share}\n")
    path = add_migration(own_share, "CREATE TABLE added (id INTEGER PRIMARY KEY) STRICT;\n")
    run = s.command("migrate", check=False)
    assert run.returncode == 1 and path.stem in run.stderr, run
    assert s.value("SELECT count(*) FROM sqlite_schema WHERE name = 'added'") == 0
    assert s.get("/readyz").status == 200
    s.stop()
    assert "applied" in s.command("migrate").stdout
    s.start()


def test_a_change_for_a_served_site_is_applied_and_its_workers_start_anew(make_server, own_share):
    s = make_server(config=f"share_dir = {own_share}\n")
    first = s.child_pid("kore")
    add_migration(own_share, "-- online\nCREATE TABLE added (id INTEGER PRIMARY KEY) STRICT;\n")
    assert "1 applied" in s.command("migrate").stdout

    def written():
        try:
            return s.post("/api/v1/articles", {"title": "New schema", "content": "text"}).status == 201
        except (OSError, http.client.HTTPException):
            return False

    until(written)
    until(lambda: s.child_pid("kore") != first)
    s.wait_ready()
    assert s.value("SELECT count(*) FROM sqlite_schema WHERE name = 'added'") == 1


def test_a_loop_of_jobs_that_hangs_is_started_again(make_server):
    s = make_server()
    first = s.child_pid("jobs")
    os.kill(first, signal.SIGSTOP)
    until(lambda: s.child_pid("jobs") != first, 40)
    assert s.log_events("serve.child_hung")[0]["pid"] == first
    assert not exists(first)


def test_a_missing_kore_is_said_at_once(make_server):
    s = make_server(start=False)
    run = s.command("serve", "--listen", f"127.0.0.1:{s.port}", env={"STELE_KORE": "/nonexistent/kore"}, check=False, timeout=15)
    assert run.returncode == 1 and "/nonexistent/kore" in run.stderr


def test_a_site_goes_on_when_nobody_reads_its_log(make_server):
    s = make_server(start=False)
    argv = [str(stele.STELE), "serve", "--data", s.data, "--listen", f"127.0.0.1:{s.port}", "--base-url", s.base]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "STELE_KORE": stele.KORE})
    try:
        s.wait_ready()
        process.stderr.close()
        for n in range(5):
            assert s.post("/api/v1/articles", {"title": f"Unread {n}", "content": "text"}).status == 201
        time.sleep(0.5)
        assert s.get("/readyz").status == 200
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_every_line_on_standard_error_is_json_also_those_of_kore(make_server):
    s = make_server()
    os.kill(s.worker_pids()[0], signal.SIGKILL)
    until(lambda: "restarting" in s.log_text())
    s.wait_ready()
    s.stop()
    lines = s.log_lines()
    assert len(lines) > 5
    for line in lines:
        assert {"time", "level", "event"} <= json.loads(line).keys(), line
    kore = [e["line"] for e in s.log_events("kore")]
    assert any("starting up" in line for line in kore)
    starts = [line for line in kore if "is starting up" in line]
    assert len(starts) == 1, "a line that waits in a buffer over a fork is said twice"


def test_requests_in_flight_are_answered_before_it_stops(make_server):
    s = make_server(env={"STELE_FAULT": "pre_commit:sleep1"})
    answers = []

    def write(n):
        try:
            answers.append(s.post("/api/v1/articles", {"title": f"Flight {n}", "content": "text"}).status)
        except OSError as e:
            answers.append(e)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    time.sleep(0.4)
    s.stop()
    for t in threads:
        t.join()
    acknowledged = answers.count(201)
    assert acknowledged == 4, answers
    assert s.value("SELECT count(*) FROM resource WHERE kind = 'article'") == acknowledged


def test_a_hung_child_is_killed_when_the_time_to_stop_is_over(make_server):
    s = make_server()
    os.kill(s.child_pid("kore"), signal.SIGSTOP)
    before = time.monotonic()
    s.stop()
    assert 14 < time.monotonic() - before < 22


def test_files_of_the_site_are_private(make_server):
    s = make_server()
    for name in ("run", "run/shared", "run/serve.conf", "run/kore.conf", "run/lock", "stele.db", "stele.db-wal"):
        path = os.path.join(s.data, name)
        assert os.stat(path).st_mode & 0o077 == 0, name


def test_commands_use_what_the_site_is_served_with(make_server):
    s = make_server()
    text = open(os.path.join(s.data, "run", "serve.conf")).read()
    assert f"public_origin = {s.base}" in text
    assert f"listen = 127.0.0.1:{s.port}" in text


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_serve_of_root_runs_as_the_owner_of_the_site(make_server):
    nobody = pwd.getpwnam("nobody")
    s = make_server(start=False)
    os.chmod(s.home, 0o755)
    for folder, _, files in os.walk(s.data):
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        for f in files:
            os.chown(os.path.join(folder, f), nobody.pw_uid, nobody.pw_gid)
    s.start()
    assert s.post("/api/v1/articles", {"title": "Owner", "content": "text"}).status == 201
    for pid in [s.process.pid, s.child_pid("kore"), s.child_pid("jobs"), *s.worker_pids()]:
        assert os.stat(f"/proc/{pid}").st_uid == nobody.pw_uid
    for folder, _, files in os.walk(s.data):
        for f in files:
            assert os.stat(os.path.join(folder, f)).st_uid == nobody.pw_uid, f


def test_a_setting_changed_by_a_command_shows_at_once_on_a_cached_page(make_server):
    s = make_server()
    for _ in range(8):
        assert "Stele" in s.get("/").text
    s.command("setting", "set", "title", "Quarry of words")
    until(lambda: all("Quarry of words" in s.get("/").text for _ in range(8)), 3)


def test_flush_makes_a_change_by_another_tool_visible(make_server):
    s = make_server()
    made = s.post("/api/v1/articles", {"title": "Before", "content": "text", "state": "published"}).json()
    for _ in range(8):
        assert "Before" in s.get(made["path"]).text
    subprocess.run(["/usr/bin/python3", "-c",
                    "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); "
                    "d.execute(\"UPDATE resource SET live_title = 'Afterwards'\"); d.commit()", s.db], check=True)
    s.command("flush")
    until(lambda: all("Afterwards" in s.get(made["path"]).text for _ in range(8)), 3)


def test_expired_records_are_purged_and_others_stay(make_server):
    s = make_server()
    for n in range(3):
        assert s.post("/api/v1/articles", {"title": f"P{n}", "content": "text"}).status == 201
    assert s.value("SELECT count(*) FROM idempotency_record") == 3
    s.stop()
    s.start(env={"STELE_CLOCK_OFFSET": str(6 * 24 * 3600 * 1000)})
    time.sleep(1)
    assert s.value("SELECT count(*) FROM idempotency_record") == 3
    s.stop()
    s.start(env={"STELE_CLOCK_OFFSET": str(8 * 24 * 3600 * 1000)})
    until(lambda: s.value("SELECT count(*) FROM idempotency_record") == 0)
    assert s.value("SELECT count(*) FROM resource") >= 3
    until(lambda: s.metrics().get("idem_purged_total", 0) == 3)


def test_the_log_of_changes_is_kept_a_day_and_its_newest_row_for_ever(make_server):
    s = make_server()
    for n in range(5):
        assert s.post("/api/v1/articles", {"title": f"C{n}", "content": "text", "state": "published"}).status == 201
    count = s.value("SELECT count(*) FROM change_log")
    last = s.value("SELECT max(seq) FROM change_log")
    assert count >= 5
    s.stop()
    s.start(env={"STELE_CLOCK_OFFSET": str(23 * 3600 * 1000)})
    time.sleep(1)
    assert s.value("SELECT count(*) FROM change_log") == count
    s.stop()
    s.start(env={"STELE_CLOCK_OFFSET": str(25 * 3600 * 1000)})
    until(lambda: s.value("SELECT count(*) FROM change_log") == 1)
    assert s.value("SELECT max(seq) FROM change_log") == last


def test_the_log_of_sqlite_is_written_back_while_it_grows(make_server):
    s = make_server()
    wal = s.db + "-wal"
    text = "stone " * 160000
    for n in range(24):
        assert s.post("/api/v1/articles", {"title": f"Big {n}", "content": f"{n} {text}"}).status == 201
    size = os.stat(wal).st_size
    assert size > 8 << 20
    # What was checkpointed is in the database itself, not only in the log.
    until(lambda: os.stat(s.db).st_size > 8 << 20, 10)
    until(lambda: s.metrics().get("wal_bytes", 0) >= 8 << 20, 5)
