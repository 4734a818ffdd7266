"""Responds over HTTP/2 to each request, and prints the length of its header block as `HEAD …`."""
import http2
from servers import say, serve

@serve
def run(c):
    say('CONNECTION')
    http2.begin(c)
    for kind, _, stream, payload in http2.frames(c):
        if kind != 1: continue
        say('HEAD', len(payload))
        c.sendall(http2.response(stream, b'ok'))
