"""The guard against bytes nobody planned: valid conversations, cut, doubled, flipped and sent in any pieces."""
import random
import socket
import struct

SEED = 20261130


def conversations(server):
    here = f"Host: {server.host}:{server.port}\r\n".encode()
    body = b'{"title":"Mutated","content":"x"}'
    post = (b"POST /api/v1/articles HTTP/1.1\r\n" + here + b"Content-Type: application/json\r\nAuthorization: Bearer " + server.token.encode()
            + b"\r\nIdempotency-Key: mutated-request-0001\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    return [
        b"GET / HTTP/1.1\r\n" + here + b"\r\n",
        b"GET /healthz HTTP/1.1\r\n" + here + b"If-None-Match: \"x\"\r\nAccept-Encoding: gzip, br;q=0.5\r\n\r\n",
        b"HEAD /no-such-page?page=2 HTTP/1.0\r\n" + here + b"\r\n",
        b"OPTIONS * HTTP/1.1\r\n" + here + b"Connection: close\r\n\r\n",
        b"DELETE / HTTP/1.1\r\n" + here + b"Content-Length: 5\r\n\r\nhello",
        b"POST / HTTP/1.1\r\n" + here + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
        b"PUT /a HTTP/1.1\r\n" + here + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        post,
    ]


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:at + rng.randrange(1, 20)]
        elif kind == 2:
            data[at:at] = rng.choice((b"\r\n", b"\r\n\r\n", b"\x00", b"\xff", b":", b" ", b"Content-Length: 7\r\n", b"\n", b"GET / HTTP/1.1\r\n"))
        elif kind == 3:
            data[at:at] = data[at:at + rng.randrange(1, 60)]
        elif kind == 4:
            data[at:at] = bytes([rng.randrange(256)]) * rng.choice((1, 100, 9000))
        else:
            del data[at:]
        if not data:
            data = bytearray(b"G")
    return bytes(data)


def test_no_conversation_breaks_the_guard(server):
    rng = random.Random(SEED)
    before = sorted(server.worker_pids())
    base = conversations(server)
    for round_ in range(5000):
        data = b"".join(mutate(rng, rng.choice(base)) for _ in range(rng.choice((1, 1, 2, 5))))
        s = server.connect(timeout=5)
        try:
            at = 0
            while at < len(data):
                n = rng.choice((1, 7, 100, 1000, len(data)))
                s.sendall(data[at:at + n])
                at += n
            end = rng.randrange(4)
            if end == 0:
                s.shutdown(socket.SHUT_WR)
                while s.recv(65536):
                    pass
            elif end == 1:
                s.setblocking(False)
                try:
                    s.recv(100)
                except BlockingIOError:
                    pass
            elif end == 2:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except (ConnectionError, socket.timeout):
            pass
        finally:
            s.close()
    assert server.get("/readyz").status == 200
    assert sorted(server.worker_pids()) == before
    assert server.value("SELECT count(*) FROM idempotency_record WHERE idempotency_key = 'mutated-request-0001'") <= 1
