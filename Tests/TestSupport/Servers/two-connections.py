"""Responds to a connection's first request after another connection has one too."""
import threading
from servers import request, respond, say, serve

both = threading.Barrier(2)

@serve
def run(c):
    asked, _, rest = request(c)
    if not asked: return
    say('CONNECTED')
    both.wait(300)
    while asked:
        respond(c, b'1')
        asked, _, rest = request(c, rest)
