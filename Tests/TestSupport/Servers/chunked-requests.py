"""Prints each whole chunked request with `|` for its line ends, and responds."""
from servers import head, respond, say, serve

@serve
def run(c):
    while True:
        data = head(c)

        def body(): return b'\r\n' + data.partition(b'\r\n\r\n')[2]
        while not (b'\r\n0\r\n' in body() and body().endswith(b'\r\n\r\n')):
            more = c.recv(65536)
            if not more: return
            data += more
        say('WHOLE', data.decode().replace('\r\n', '|'))
        respond(c, b'ok')
