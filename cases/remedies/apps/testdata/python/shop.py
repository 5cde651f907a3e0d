"""A WSGI application that takes a moment of CPU and tells who asked."""


def app(environ, start_response):
    told = {"/whoami": "REMOTE_ADDR", "/host": "HTTP_HOST"}.get(environ["PATH_INFO"])
    if told:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [environ[told].encode()]
    total = sum(i * i for i in range(20000))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"sum %d\n" % total]
