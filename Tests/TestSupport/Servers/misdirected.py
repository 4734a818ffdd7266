"""Responds with 421 to a number of requests, and then with 200."""
import threading
from servers import arguments, request, respond, say, serve

left, lock = int(arguments[0]), threading.Lock()

@serve
def run(c):
    global left
    rest = b''
    while True:
        first, _, rest = request(c, rest)
        if not first: return
        say('REQUEST', id(c))
        with lock: left -= 1
        respond(c, *((b'no', '421 No') if left >= 0 else (b'yes',)))
