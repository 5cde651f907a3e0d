"""A WSGI application that takes a moment of CPU and tells who answered."""


def app(environ, start_response):
    total = sum(i * i for i in range(20000))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"sum %d\n" % total]
