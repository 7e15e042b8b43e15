"""A proxy on loopback that loses what passes through it, as networks do: exchange by exchange, at a chosen byte.

    with LossyProxy(server, [Cut("reply", "headers"), Refuse(503)]) as proxy:
        http.client.HTTPConnection(proxy.host, proxy.port)

The plan is used up one step per request, over all connections; after it everything passes. `server` is whatever has `host`
and `port`. What happened is in `proxy.exchanges`, in the order the requests came."""
import dataclasses
import socket
import struct
import threading

# How many bytes of a message arrive. A message is a first line, fields, an empty line and a body.
PLACES = {
    "nothing": lambda m: 0,
    "first_byte": lambda m: 1,
    "first_line": lambda m: m.line_end // 2,
    "after_first_line": lambda m: m.line_end,
    "headers": lambda m: (m.line_end + m.body_start) // 2,
    "before_empty_line": lambda m: m.body_start - 2,
    "before_body": lambda m: m.body_start,
    "body": lambda m: (m.body_start + len(m.raw)) // 2,
    "last_byte": lambda m: len(m.raw) - 1,
    "everything": lambda m: len(m.raw),
}


@dataclasses.dataclass(frozen=True)
class Cut:
    """The `what` ("request" or "reply") ends at `place` of PLACES or at a byte; `how`: "close" (FIN), "reset" (RST) or "stall"
    (the connection stays open and silent until the proxy ends). A reply is cut when the server has sent all of it."""
    what: str
    place: object
    how: str = "close"


@dataclasses.dataclass(frozen=True)
class Refuse:
    """The proxy answers by itself. `forward`: the server gets the request all the same and its answer is lost, as with a gateway
    whose patience ended."""
    status: int
    retry_after: object = None
    forward: bool = False


PASS = None


class Message:
    """One HTTP/1.1 message read from a socket; `raw` is shorter than announced when the sender broke off."""

    def __init__(self, stream, on_head=None, has_body=True):
        self.raw = b""
        while not self.raw.endswith(b"\r\n\r\n"):
            line = stream.readline(65536)
            if not line:
                break
            self.raw += line
        self.line_end = self.raw.find(b"\r\n") + 2
        self.body_start = len(self.raw)
        self.is_whole = self.raw.endswith(b"\r\n\r\n")
        if not self.is_whole:
            return
        if on_head:
            on_head(self)
        want = int(self.field("content-length") or 0) if has_body else 0
        body = stream.read(want)
        self.raw += body
        self.is_whole = len(body) == want

    @property
    def first_line(self):
        return self.raw[:self.line_end - 2].decode("latin-1")

    @property
    def body(self):
        return self.raw[self.body_start:]

    def field(self, name):
        for line in self.raw[self.line_end:self.body_start].split(b"\r\n"):
            key, _, value = line.partition(b":")
            if key.decode("latin-1").lower() == name:
                return value.strip().decode("latin-1")
        return None

    def set_field(self, name, value):
        head = self.raw[:self.body_start].split(b"\r\n")
        for i, line in enumerate(head[1:], 1):
            if line.split(b":")[0].decode("latin-1").lower() == name.lower():
                head[i] = f"{name}: {value}".encode("latin-1")
        head = b"\r\n".join(head)
        self.raw, self.body_start = head + self.body, len(head)

    def upto(self, place):
        return self.raw[:PLACES[place](self) if isinstance(place, str) else place]


@dataclasses.dataclass
class Exchange:
    step: object
    request: Message
    reply: Message = None           # all that the server sent, whatever of it arrived
    delivered: int = 0              # bytes of it that were sent on


class LossyProxy:
    def __init__(self, server, plan=(), timeout=30):
        self.target = (server.host, server.port)
        self.timeout = timeout
        self.plan = list(plan)
        self.exchanges = []
        self.lock = threading.Lock()
        self.sockets, self.threads = [], []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.host, self.port = self.listener.getsockname()
        self.spawn(self.accept)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends every connection; no thread is left."""
        with self.lock:
            mine, self.sockets = [self.listener, *self.sockets], None
        for s in mine:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()
        for t in self.threads:
            t.join()

    def spawn(self, run, *args):
        thread = threading.Thread(target=run, args=args, daemon=True)
        self.threads.append(thread)
        thread.start()

    def keep(self, s):
        """False when the proxy has ended."""
        with self.lock:
            if self.sockets is None:
                s.close()
                return False
            self.sockets.append(s)
        return True

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if not self.keep(client):
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.spawn(self.serve, client)

    def serve(self, client):
        stream = client.makefile("rb")
        try:
            while self.exchange(client, stream):
                pass
        except (OSError, ValueError):
            pass
        finally:
            stream.close()

    def exchange(self, client, stream):
        """One request and its reply. False: the connection is over, or stalls."""
        request = Message(stream, on_head=lambda m: m.field("expect") and client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n"))
        if not request.raw:
            client.close()
            return False
        # The site knows itself by its own host alone.
        request.set_field("Host", f"{self.target[0]}:{self.target[1]}")
        with self.lock:
            step = self.plan.pop(0) if self.plan else PASS
            self.exchanges.append(Exchange(step, request))
            mine = self.exchanges[-1]
        if isinstance(step, Refuse):
            if step.forward:
                mine.reply = self.ask(request, request.raw)
            retry = f"Retry-After: {step.retry_after}\r\n" if step.retry_after is not None else ""
            client.sendall(f"HTTP/1.1 {step.status} Refused\r\n{retry}Content-Length: 0\r\n\r\n".encode())
            return True
        if isinstance(step, Cut) and step.what == "request":
            self.ask(request, request.upto(step.place), how=step.how)
            return self.leave(client, stream, step.how)
        mine.reply = self.ask(request, request.raw)
        data = mine.reply.upto(step.place) if step else mine.reply.raw
        mine.delivered = len(data)
        client.sendall(data)
        if step:
            return self.leave(client, stream, step.how)
        return mine.reply.is_whole and (mine.reply.field("connection") or "").lower() != "close"

    def ask(self, request, data, how=None):
        """The reply to `data`; with `how` there is none: the connection is left that way when the data were sent."""
        upstream = socket.create_connection(self.target, timeout=self.timeout)
        stream = upstream.makefile("rb")
        try:
            upstream.sendall(data)
            if how is None:
                return Message(stream, has_body=not request.first_line.startswith("HEAD "))
            self.leave(upstream, stream, how)
            return None
        finally:
            if how is None:
                stream.close()
                upstream.close()

    def leave(self, s, stream, how):
        if how == "stall":
            self.keep(s)
            return False
        if how == "reset":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.close()
        s.close()
        return False
