"""Sends the second half of the response to `/first` after another request."""
import threading
from servers import head, respond, serve

second = threading.Event()

@serve
def run(c):
    if b'/first' in head(c):
        c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf')
        second.wait()
        c.sendall(b'rest')
    else:
        respond(c, b'ok')
        second.set()
