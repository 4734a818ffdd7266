"""Sends over HTTP/2, for each request's header or for each whole request, the frames of a Python expression."""
import http2
from servers import arguments, say, serve

# The expression uses the functions of http2.py, and `stream`.
expression, whole = compile(arguments[0], 'expression', 'eval'), arguments[1]

@serve
def run(c):
    say('CONNECTION')
    http2.begin(c)
    for kind, flags, stream, _ in http2.frames(c):
        if kind == 3: say('RESET')
        if (kind in (0, 1) and flags & 1) if whole else kind == 1:
            say('REQUEST')
            c.sendall(eval(expression, vars(http2), {'stream': stream}))
