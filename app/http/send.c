#include "http/send.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include "db/writer.h"
#include "http/kore.h"

static bool	queue_rest(struct connection *, struct wire *, bool with_body, struct str tail, size_t sent);
static int	body_sent(struct netbuf *);

bool
send_wire(struct connection *c, struct wire *w, bool with_body, int64_t now, const char *request_id, bool close)
{
	char tail[WIRE_TAIL_MAX];
	size_t tail_len = wire_tail(tail, now, request_id, close);
	size_t body_len = with_body ? w->body_len : 0, sent = 0;
	struct iovec parts[] = {
		{ w->bytes, w->head_len }, { tail, tail_len }, { w->bytes + w->head_len, body_len },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = body_len > 0 ? 3 : 2 };

	/* What is queued already goes first. */
	if (TAILQ_EMPTY(&c->send_queue)) {
		ssize_t n;

		(void)fault("pre_response");
		if (fault("mid_response"))
			message.msg_iovlen = 1;
		do
			n = sendmsg(c->fd, &message, MSG_NOSIGNAL);
		while (n == -1 && errno == EINTR);
		if (n == -1 && errno != EAGAIN && errno != EWOULDBLOCK)
			return false;
		sent = n == -1 ? 0 : (size_t)n;
		(void)fault("post_response");
	}
	if (sent == w->head_len + tail_len + body_len)
		return true;
	return queue_rest(c, w, with_body, (struct str){ tail, tail_len }, sent);
}

int
send_queued(struct connection *c, size_t len, size_t *written)
{
	const struct netbuf *nb = c->snb;
	ssize_t n = send(c->fd, nb->buf + nb->s_off, nb->b_len - nb->s_off, MSG_NOSIGNAL);

	*written = 0;
	if (n == -1) {
		if (errno == EINTR)
			return KORE_RESULT_OK;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return KORE_RESULT_ERROR;
		c->evt.flags &= ~KORE_EVENT_WRITE;
		return KORE_RESULT_OK;
	}
	*written = (size_t)n;
	return KORE_RESULT_OK;
}

static bool
queue_rest(struct connection *c, struct wire *w, bool with_body, struct str tail, size_t sent)
{
	size_t head = w->head_len;

	if (sent < head)
		net_send_queue(c, w->bytes + sent, head - sent);
	if (sent < head + tail.len)
		net_send_queue(c, tail.p + (sent > head ? sent - head : 0), tail.len - (sent > head ? sent - head : 0));
	if (with_body && w->body_len > 0) {
		size_t from = sent > head + tail.len ? sent - head - tail.len : 0;
		struct netbuf *nb;

		net_send_stream(c, w->bytes + head + from, w->body_len - from, body_sent, &nb);
		nb->extra = wire_hold(w);
	}
	/* The socket may have room again already; if not, this asks for the event that says so. */
	c->evt.flags |= KORE_EVENT_WRITE;
	return net_send_flush(c) == KORE_RESULT_OK;
}

static int
body_sent(struct netbuf *nb)
{
	wire_drop(nb->extra);
	nb->extra = NULL;
	return KORE_RESULT_OK;
}
