"""Every statement of the program against the real schema: none reads a whole table of content."""
import re
import sqlite3

import pytest

import stele

# Tables that stay small: people, settings, rules (at most 1,000 are read), parts of the sitemap, migrations.
SMALL = {"user", "setting", "path_rule", "sitemap_part", "schema_migration"}


def statements():
    found = {}
    for file in sorted((stele.ROOT / "app" / "store").glob("*.sql")):
        name = None
        for line in file.read_text().splitlines():
            if line.startswith("-- name: "):
                name = line[len("-- name: "):]
                found[name] = []
            elif name and not line.startswith("--"):
                found[name].append(line)
    return {name: "\n".join(lines).strip().rstrip(";") for name, lines in found.items()}


WHOLE = {sql for name, sql in statements().items() if name in ("audit_request", "audit_foreign_key", "audit_integrity", "audit_schema")}


@pytest.fixture(scope="module")
def schema():
    db = sqlite3.connect(":memory:")
    for file in sorted((stele.ROOT / "migrations" / "sqlite").glob("*.sql")):
        db.executescript(file.read_text())
    yield db
    db.close()


def plan(schema, sql):
    values = {number: 1 for number in set(re.findall(r"\$(\d+)", sql))}
    return [row[3] for row in schema.execute("EXPLAIN QUERY PLAN " + sql, values)]


@pytest.mark.parametrize("sql", statements().values(), ids=statements().keys())
def test_no_statement_reads_a_whole_table_of_content(schema, sql):
    # The audit walks everything: by ranges of ids and pieces of paths, or once with nobody waiting.
    if sql.startswith("VACUUM") or sql in WHOLE:
        return
    tables = {row[0] for row in schema.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for step in plan(schema, sql):
        scanned = re.match(r"SCAN (\w+)", step)
        assert not scanned or scanned.group(1) not in tables - SMALL, step
        assert "AUTOMATIC" not in step, step


@pytest.mark.parametrize("name, index", [
    ("list_articles_count", "INDEX resource_live"), ("list_articles", "INDEX resource_live "),
    ("sitemap_entries", "INDEX resource_live_changed "), ("sitemap_part_is_used", "INDEX resource_live_changed "),
    ("duplicates_originals", "INDEX resource_originals "), ("duplicates_next_group", "INDEX resource_copies "),
    ("duplicates_first_of_group", "INDEX resource_copies "), ("resource_due", "INDEX resource_due "),
])
def test_what_grows_with_the_site_is_found_by_its_index(schema, name, index):
    assert any(index in step for step in plan(schema, statements()[name])), plan(schema, statements()[name])
