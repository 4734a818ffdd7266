"""Redirects `/moved` to a URL with bytes that a URL can't contain, and prints what it gets."""
from servers import head, respond, say, serve

@serve
def run(c):
    line = head(c).split(b'\r\n')[0]
    say('REQ', line.decode())
    if b'/moved' in line:
        c.sendall(b'HTTP/1.0 302 Found\r\nLocation: /caf\xe9 x?[a]=|\r\nContent-Length: 0\r\n\r\n')
    else: respond(c, b'1', '200 OK', 'Connection: close')
