"""Responds to `/last` alone."""
import time
from servers import head, say, serve

@serve
def run(c):
    say('CONNECTED')
    if b'/last' not in head(c, notes=True): time.sleep(3600)
    c.sendall(b'HTTP/1.1 204 No Content\r\n\r\n')
