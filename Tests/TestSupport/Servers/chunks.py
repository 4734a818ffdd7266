"""Sends a number of chunks of one byte, each in a TLS record of its own."""
from servers import arguments, context, head, serve

if context: context.set_ciphers(arguments[1])

@serve
def run(c):
    head(c)
    c.sendall(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    for i in range(int(arguments[0])): c.sendall(b'1\r\n%c\r\n' % (i % 251))
    c.sendall(b'0\r\n\r\n')
