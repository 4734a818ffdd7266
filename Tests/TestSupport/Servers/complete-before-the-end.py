"""Sends over HTTP/2 a complete response, the frames of a Python expression, and the session's end with it."""
import http2
from servers import arguments, serve, wait_until_delivered

@serve
def run(c):
    http2.begin(c)
    stream = http2.request_stream(c, whole=True)
    frames = eval(arguments[0], vars(http2), {'stream': stream})
    c.sendall(frames + http2.frame(7, 0, 0, bytes([0, 0, 0, 1, 0, 0, 0, 0])))
    wait_until_delivered(c)
