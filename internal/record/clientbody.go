package record

// leaveBody takes the body away from a request whose method has none.
func (c *client) leaveBody(q *clientRequest, line int) {
	if (q.post != nil || len(q.parts) > 0) && (q.method == "GET" || q.method == "HEAD") {
		c.leave(line, "%s with a body, which load does not send: the body is left out", q.method)
		q.post, q.parts = nil, nil
	}
}
