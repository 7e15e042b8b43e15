"""Fixtures: `server`, one for the whole run; `make_server`, for tests that need one of their own."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import stele  # noqa: E402


@pytest.fixture(scope="session")
def server():
    if not stele.STELE.exists():
        pytest.fail(f"{stele.STELE} is missing: run `make test-build`, or set STELE_BUILD")
    s = stele.Server()
    try:
        s.start()
        yield s
        s.stop()
        # No request of any test may have ended a worker, whatever was answered.
        assert not s.crashes(), s.crashes()
    finally:
        s.close()


@pytest.fixture
def make_server():
    """make_server(env={}, workers=2, args=[], start=True, ...) -> stele.Server; all are stopped at the end of the test."""
    made = []

    def make(*, start=True, **kw):
        s = stele.Server(**kw)
        made.append(s)
        return s.start() if start else s

    yield make
    errors = []
    for s in made:
        try:
            s.close()
        except AssertionError as e:
            errors.append(str(e))
    assert not errors, "\n".join(errors)


@pytest.fixture(scope="session")
def corpora():
    """The folder of foreign data that tests may read."""
    path = pathlib.Path(os.environ.get("STELE_CORPORA", stele.ROOT.parent / "shared" / "corpora"))
    if not path.is_dir():
        pytest.skip("corpora absent")
    return path
