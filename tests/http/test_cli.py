"""The command line: what each command takes, refuses and says."""
import os
import pathlib
import pwd
import re
import sqlite3
import subprocess

import pytest

import stele

COMMANDS = ["audit", "serve", "jobs", "migrate", "user add", "user count", "token add", "setting set", "setting get", "setting list", "flush",
            "import wxr"]


@pytest.fixture
def data(tmp_path):
    """A migrated site without users."""
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    (path / "stele.conf").write_text(f"share_dir = {stele.ROOT}\n")
    stele.command("migrate", data=path)
    return path


def rows(data, query, *args):
    db = sqlite3.connect(f"file:{data}/stele.db?mode=ro", uri=True)
    try:
        return db.execute(query, args).fetchall()
    finally:
        db.close()


def refused(*args, data=None, code=1, **kw):
    run = stele.command(*args, data=data, check=False, **kw)
    assert run.returncode == code, run
    assert run.stdout == ""
    return run.stderr


def test_every_command_explains_itself():
    for command in COMMANDS:
        run = stele.command(*command.split(), "--help")
        assert run.stdout.startswith(f"Usage: stele {command}"), run.stdout
        assert "--data DIR" in run.stdout
        assert stele.command("help", *command.split()).stdout == run.stdout


def test_the_overview_lists_every_command_and_no_other():
    text = stele.command("--help").stdout
    listed = re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", text, re.M)
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize("args, said", [
    ((), "Usage: stele COMMAND"),
    (("sevre",), 'no command "sevre"'),
    (("user",), "stele user add"),
    (("user", "delete"), "stele user add"),
    (("user", "add"), "expected NAME"),
    (("user", "add", "ann"), "expected --role ROLE"),
    (("user", "add", "ann", "--role"), "--role expects ROLE"),
    (("user", "add", "ann", "--role", "king"), "admin, editor, author or viewer"),
    (("user", "add", "ann", "bob", "--role", "admin"), 'unexpected "bob"'),
    (("migrate", "now"), 'unexpected "now"'),
    (("migrate", "--force"), "no option --force"),
    (("user", "add", "ann", "--role", "admin", "--password-stdin=x"), "takes no value"),
    (("setting", "set", "title"), "expected VALUE"),
    (("token", "add", "--user", "ann", "--days", "0"), "--days"),
    (("token", "add", "--user", "ann", "--days", "9e9"), "--days"),
    (("token", "add", "--user", "ann", "--scopes", "everything"), "--scopes"),
    (("serve", "--workers", "0"), "--workers"),
    (("serve", "--base-url", "https://ex.com/blog"), "--base-url"),
    (("serve", "--listen", "nowhere"), "--listen"),
])
def test_a_wrong_command_line_exits_2_and_says_what_was_expected(data, args, said):
    err = refused(*args, code=2, cwd=data.parent)
    assert said in err


def test_help_is_no_error_wherever_it_stands(data):
    run = stele.command("user", "add", "ann", "--role", "king", "--help")
    assert "Usage: stele user add NAME" in run.stdout


def test_options_take_their_value_with_a_blank_or_an_equals_sign(data):
    stele.command("user", "add", "ann", "--role=editor", f"--data={data}")
    stele.command("user", "add", "--role", "author", "--data", data, "--", "bob")
    assert rows(data, "SELECT name, role FROM user ORDER BY name") == [("ann", "editor"), ("bob", "author")]


def test_commands_without_a_site_say_how_to_make_one(tmp_path):
    assert "stele migrate --data" in refused("user", "count", data=tmp_path / "none")
    assert "stele migrate --data" in refused("user", "count", data=tmp_path)
    assert "stele migrate --data" in refused("serve", data=tmp_path)
    assert not (tmp_path / "stele.db").exists()
    assert not (tmp_path / "none").exists()


def test_migrate_makes_a_private_site_and_does_nothing_the_second_time(tmp_path):
    data = tmp_path / "new"
    # Only the checkout knows where its migrations are when the build lies elsewhere.
    data.mkdir(mode=0o700)
    (data / "stele.conf").write_text(f"share_dir = {stele.ROOT}\n")
    assert "applied" in stele.command("migrate", data=data).stdout
    before = rows(data, "SELECT version, sha256, applied_at FROM schema_migration")
    assert "nothing to do" in stele.command("migrate", data=data).stdout
    assert rows(data, "SELECT version, sha256, applied_at FROM schema_migration") == before
    assert (data / "stele.db").stat().st_mode & 0o077 == 0
    assert (data / "run").stat().st_mode & 0o077 == 0


def test_a_directory_that_migrate_makes_is_private(tmp_path):
    stele.command("migrate", data=tmp_path / "new", check=False)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_a_newer_database_is_refused_by_every_command(data):
    db = sqlite3.connect(data / "stele.db")
    db.execute("INSERT INTO schema_migration VALUES (9999, 'later', ?, 0)", ("0" * 64,))
    db.commit()
    db.close()
    for args in (("user", "count"), ("setting", "list"), ("serve",), ("flush",), ("jobs",)):
        assert "newer" in refused(*args, data=data)
    refused("migrate", data=data)


def test_an_unknown_key_in_the_settings_file_is_named_with_its_line(data):
    with open(data / "stele.conf", "a") as f:
        f.write("\nwrokers = 3\n")
    err = refused("user", "count", data=data)
    assert "stele.conf:3" in err and "wrokers" in err


def test_token_add_prints_the_token_alone_and_stores_only_its_hash(data):
    stele.command("user", "add", "ann", "--role", "admin", data=data)
    run = stele.command("token", "add", "--user", "ann", data=data)
    assert re.fullmatch(r"stele_[A-Za-z0-9_-]{43}\n", run.stdout)
    assert run.stderr == ""
    token = run.stdout.strip()
    assert token.encode() not in (data / "stele.db").read_bytes()
    assert stele.command("token", "add", "--user", "ann", data=data).stdout.strip() != token


def test_token_add_stores_scopes_and_end(data):
    stele.command("user", "add", "ann", "--role", "admin", data=data)
    stele.command("token", "add", "--user", "ann", "--scopes", "read,write", "--days", "3", data=data)
    scopes, made, end = rows(data, "SELECT scopes, created_at, expires_at FROM api_token")[0]
    assert set(scopes.split(",")) == {"read", "write"}
    assert end - made == 3 * 24 * 3600 * 1000


def test_token_add_for_nobody_fails(data):
    assert "ghost" in refused("token", "add", "--user", "ghost", data=data)
    assert rows(data, "SELECT count(*) FROM api_token") == [(0,)]


def test_a_name_is_taken_once(data):
    assert stele.command("user", "count", data=data).stdout == "0\n"
    stele.command("user", "add", "ann", "--role", "admin", data=data)
    assert "ann" in refused("user", "add", "ann", "--role", "viewer", data=data)
    assert rows(data, "SELECT name, role FROM user") == [("ann", "admin")]
    assert stele.command("user", "count", data=data).stdout == "1\n"


def test_a_password_comes_from_standard_input_and_is_stored_hashed(data):
    stele.command("user", "add", "ann", "--role", "admin", "--password-stdin", data=data, stdin="correct horse\nmore\n")
    (phc,), = rows(data, "SELECT password FROM user")
    assert phc.startswith("$argon2id$") and "horse" not in phc


@pytest.mark.parametrize("stdin", ["", "short\n", "x" * 1025 + "\n"])
def test_a_bad_password_makes_no_user(data, stdin):
    assert "password" in refused("user", "add", "ann", "--role", "admin", "--password-stdin", data=data, stdin=stdin)
    assert rows(data, "SELECT count(*) FROM user") == [(0,)]


@pytest.mark.parametrize("name", ["", "a" * 65, "a\nb", "\x7f", "../x y"])
def test_a_name_that_could_confuse_is_refused_or_stored_as_it_is(data, name):
    run = stele.command("user", "add", name, "--role", "admin", data=data, check=False)
    stored = rows(data, "SELECT name FROM user")
    assert stored == ([(name,)] if run.returncode == 0 else [])
    assert not any(ord(c) < 32 or ord(c) == 127 for (n,) in stored for c in n)


def test_settings_are_set_read_and_listed(data):
    assert stele.command("setting", "list", data=data).stdout == ""
    stele.command("setting", "set", "title", "Alpha & Ωmega", data=data)
    stele.command("setting", "set", "per_page", "25", data=data)
    stele.command("setting", "set", "per_page", "26", data=data)
    assert stele.command("setting", "get", "title", data=data).stdout == "Alpha & Ωmega\n"
    assert stele.command("setting", "list", data=data).stdout == "per_page = 26\ntitle = Alpha & Ωmega\n"


@pytest.mark.parametrize("key, value", [("per_page", "0"), ("per_page", "ten"), ("titel", "x"), ("title", ""), ("trailing_slash", "maybe"),
                                        ("pattern_article", "articles/{slug}"), ("retention_write", "1s")])
def test_a_setting_that_makes_no_sense_is_refused_and_named(data, key, value):
    assert key in refused("setting", "set", key, value, data=data)
    assert rows(data, "SELECT count(*) FROM setting") == [(0,)]


def test_a_setting_that_is_not_stored_is_said_to_be_default(data):
    assert "default" in refused("setting", "get", "title", data=data)


def test_a_full_pipe_is_reported(data):
    with open("/dev/full", "w") as full:
        run = subprocess.run([str(stele.STELE), "user", "count", "--data", str(data)], stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 1 and "standard output" in run.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_command_of_root_becomes_the_owner_of_the_site(data):
    nobody = pwd.getpwnam("nobody")
    for path in [data, *data.rglob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    # The folders above must let the owner in.
    for parent in list(data.parents)[:4]:
        if str(parent).startswith("/tmp/"):
            parent.chmod(0o755)
    stele.command("user", "add", "ann", "--role", "admin", data=data)
    stele.command("token", "add", "--user", "ann", data=data)
    stele.command("setting", "set", "title", "x", data=data)
    stele.command("flush", data=data)
    owners = {p: (p.stat().st_uid, p.stat().st_gid) for p in data.rglob("*")}
    assert set(owners.values()) == {(nobody.pw_uid, nobody.pw_gid)}, owners
    assert pathlib.Path(data, "stele.db").exists()
