"""The files in conf/: proxies that ship are run in front of a site, the unit is read by systemd, the example by Stele."""
import re
import shutil
import socket
import ssl
import subprocess
import http.client
import time

import pytest

import stele
from stele import new_key

CONF = stele.ROOT / "conf"


@pytest.fixture(scope="module")
def site():
    s = stele.Server(base_url="https://example.org", config="trusted_proxies = 127.0.0.1\naliases = www.example.org\n")
    s.start()
    yield s
    s.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=example.org",
                    "-addext", "subjectAltName=DNS:example.org,DNS:www.example.org",
                    "-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem"], check=True, capture_output=True)
    (folder / "site.pem").write_bytes((folder / "fullchain.pem").read_bytes() + (folder / "privkey.pem").read_bytes())
    return folder


class Proxy:
    def __init__(self, argv, plain, secure, certificate):
        self.plain, self.secure, self.certificate = plain, secure, certificate
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 10
        while True:
            if self.process.poll() is not None:
                raise AssertionError(self.process.stdout.read().decode())
            try:
                socket.create_connection(("127.0.0.1", secure), timeout=1).close()
                return
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def close(self):
        self.process.terminate()
        self.process.wait(10)

    def get(self, path, host="example.org", secure=True, method="GET", headers=None, body=None):
        """A request to the proxy as if it were at `host`."""
        port = self.secure if secure else self.plain
        raw = socket.create_connection(("127.0.0.1", port), timeout=10)
        if secure:
            raw = ssl.create_default_context(cafile=self.certificate / "fullchain.pem").wrap_socket(raw, server_hostname=host)
        conn = http.client.HTTPConnection("127.0.0.1", port)
        conn.sock = raw
        conn.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        conn.putheader("Host", host)
        for k, v in (headers or {}).items():
            conn.putheader(k, v)
        if body is not None:
            conn.putheader("Content-Length", str(len(body)))
        conn.endheaders(body)
        answer = conn.getresponse()
        out = stele.Response(answer.status, answer.getheaders(), answer.read())
        conn.close()
        return out


@pytest.fixture(scope="module", params=["nginx", "haproxy"])
def proxy(request, site, certificate, tmp_path_factory):
    program = shutil.which(request.param, path="/usr/sbin:/usr/bin")
    if program is None:
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp(request.param)
    plain, secure = stele.free_port(), stele.free_port()
    if request.param == "nginx":
        text = (CONF / "nginx.conf").read_text().replace("/etc/ssl/stele", str(certificate))
        text = text.replace("listen 80;", f"listen 127.0.0.1:{plain};").replace("listen 443 ", f"listen 127.0.0.1:{secure} ")
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{site.port}")
        temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        path = folder / "nginx.conf"
        path.write_text(f"daemon off;\nmaster_process off;\npid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{text}}}\n")
        check = subprocess.run([program, "-t", "-e", folder / "error", "-c", path], capture_output=True, text=True)
        assert check.returncode == 0 and "warn" not in check.stderr, check.stderr
        p = Proxy([program, "-e", folder / "error", "-c", path], plain, secure, certificate)
    else:
        text = (CONF / "haproxy.cfg").read_text().replace("/etc/ssl/stele", str(certificate))
        text = text.replace("bind :80\n", f"bind 127.0.0.1:{plain}\n").replace("bind :443 ", f"bind 127.0.0.1:{secure} ")
        text = text.replace("127.0.0.1:8080", f"127.0.0.1:{site.port}")
        path = folder / "haproxy.cfg"
        path.write_text(text)
        check = subprocess.run([program, "-c", "-f", path], capture_output=True, text=True)
        assert check.returncode == 0 and "WARNING" not in check.stderr, check.stderr
        p = Proxy([program, "-db", "-f", path], plain, secure, certificate)
    yield p
    p.close()


def test_a_page_comes_through_tls_without_a_loop(proxy, site):
    made = site.request("POST", "/api/v1/articles", {"title": "Through", "content": "text", "state": "published"}, token=site.token,
                        key=True, headers={"Host": "example.org", "X-Forwarded-Proto": "https"})
    assert made.status == 201, made
    page = proxy.get(made.json()["path"])
    assert page.status == 200
    assert '<link rel="canonical" href="https://example.org/' in page.text


def test_plain_http_and_the_other_name_lead_to_the_site_in_https(proxy):
    plain = proxy.get("/articles?page=2&x=%20", secure=False)
    assert plain.status == 301 and plain.headers["Location"].rstrip("/") == "https://example.org/articles?page=2&x=%20"
    other = proxy.get("/", host="www.example.org")
    assert other.status == 301 and other.headers["Location"].rstrip("/") == "https://example.org"


@pytest.mark.parametrize("path", ["//a//b", "/a%2Fb", "/%E4%BD%A0", "/a/../b", "/a%20b?q=%2520", "/%61rticles"])
def test_paths_reach_stele_as_they_were_sent(proxy, site, path):
    through = proxy.get(path)
    direct = site.request("GET", path, headers={"Host": "example.org", "X-Forwarded-Proto": "https"})
    assert (through.status, through.headers.get("Location")) == (direct.status, direct.headers.get("Location"))


def test_what_a_client_claims_about_its_connection_is_not_passed_on(proxy):
    for headers in ({"X-Forwarded-Host": "evil.test"}, {"X-Forwarded-Proto": "http"}):
        page = proxy.get("/", headers=headers)
        assert page.status == 200, (headers, page)
        assert "evil" not in page.text


def test_a_write_comes_through_once(proxy, site):
    key, body = stele.new_key(), b'{"title": "Once", "content": "text"}'
    headers = {"Authorization": f"Bearer {site.token}", "Content-Type": "application/json", "Idempotency-Key": key}
    first = proxy.get("/api/v1/articles", method="POST", headers=headers, body=body)
    again = proxy.get("/api/v1/articles", method="POST", headers=headers, body=body)
    assert (first.status, again.status) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert again.headers["Idempotent-Replayed"] == "true"


def test_the_unit_has_nothing_that_systemd_does_not_know(tmp_path):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    text = (CONF / "stele.service").read_text().replace("/usr/local/bin/stele", str(stele.STELE))
    text = re.sub(r"^(User|Group)=.*\n", "", text, flags=re.M)
    unit = tmp_path / "stele.service"
    unit.write_text(text)
    run = subprocess.run([analyze, "verify", "--man=no", unit], capture_output=True, text=True)
    complaints = [line for line in run.stderr.splitlines() if "stele.service" in line]
    assert run.returncode == 0 and not complaints, run.stderr


def test_every_line_of_the_example_is_a_setting(tmp_path):
    lines = (CONF / "stele.conf.example").read_text().splitlines()
    settings = [line.lstrip("#") for line in lines if re.match(r"#?[a-z_]+ = ", line)]
    assert len(settings) >= 8
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "stele.conf").write_text(f"share_dir = {stele.ROOT}\n" + "\n".join(settings) + "\n")
    stele.command("migrate", data=data)
    assert stele.command("user", "count", data=data).stdout == "0\n"


ALERT = re.compile(r"- alert: (\w+)\n +expr: (.+)\n")


def fires(expression, before, after, seconds):
    """Whether an alert's condition holds when so much was counted in that time."""
    def value(m):
        function, name = m[1], m[2] or m[3]
        was, now = (sum(v for n, v in counts.items() if n.split("{")[0] == name) for counts in (before, after))
        return repr({"rate": (now - was) / seconds, "increase": now - was, "delta": now - was, None: now}[function])

    numbers = re.sub(r"(?:\b(rate|increase|delta)\((\w+)\[\w+\]\)|\b(?!and\b)([a-z][a-z_]+)\b)", value, re.sub(r"\bsum\((.*?\))\)", r"\1", expression))
    assert re.fullmatch(r"[0-9.e+\-/<> ]+( and [0-9.e+\-/<> ]+)*", numbers), numbers
    try:
        return eval(numbers)
    except ZeroDivisionError:           # NaN there, and no comparison with it holds
        return False


def test_c162_a_rise_of_repeats_from_one_in_a_hundred_to_half_is_an_alert(make_server):
    s = make_server(workers=1)
    alerts = dict(ALERT.findall((CONF / "prometheus-rules.yml").read_text()))
    assert len(alerts) == (CONF / "prometheus-rules.yml").read_text().count("- alert:") > 3

    def five_minutes(writes, repeats):
        """Names of the alerts for so many creates, and so many that were sent once more."""
        before = s.metrics()
        for n in range(writes):
            key = new_key()
            for _ in range(2 if n < repeats else 1):
                assert s.post("/api/v1/articles", {"title": f"a{n}"}, key=key).status in (200, 201)
        return {name for name, expression in alerts.items() if fires(expression, before, s.metrics(), 300)}

    assert five_minutes(0, 0) == set()
    assert five_minutes(99, 1) == set()
    assert five_minutes(50, 50) == {"SteleRepeatsRise"}
    before = s.metrics()
    for name, expression in alerts.items():
        names = set(re.findall(r"[a-z]+(?:_[a-z]+)+", expression))
        assert names <= {n.split("{")[0] for n in before}, name
        # Each of them can fire.
        assert fires(expression, {n: 0 for n in names}, {n: 1000 for n in names}, 300)
