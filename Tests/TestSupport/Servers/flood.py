"""Sends a response's beginning and then a block again and again, up to a size, and prints how much went out."""
from servers import arguments, head, say, serve

# The beginning and the block are Python expressions; over HTTP/2 they use http2.py and `stream`.
size, start, block, names = int(arguments[0]), arguments[1], arguments[2], {}
if arguments[3]:
    import http2
    names = vars(http2)

@serve
def run(c):
    sent, scope = 0, {}
    if names:
        http2.begin(c)
        scope['stream'] = http2.request_stream(c)
    else: head(c, notes=True)
    c.sendall(eval(start, names, scope))
    data = eval(block, names, scope)
    try:
        while sent < size:
            c.sendall(data)
            sent += len(data)
    finally: say('SENT %d.' % sent)
