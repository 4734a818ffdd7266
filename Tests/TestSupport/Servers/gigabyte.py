"""Sends a gigabyte, and prints a line each time the client has read nothing for a second."""
from servers import head, say, serve

size = 1 << 30

@serve
def run(c):
    head(c)
    c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % size)
    block, sent = b'x' * 65536, 0
    c.settimeout(1)
    while sent < size:
        try: sent += c.send(block[:min(65536, size - sent)])
        except TimeoutError: say('HELD %d.' % sent)
