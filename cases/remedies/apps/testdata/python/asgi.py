"""An ASGI application that takes a moment of CPU."""


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    total = sum(i * i for i in range(20000))
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"sum %d\n" % total})
