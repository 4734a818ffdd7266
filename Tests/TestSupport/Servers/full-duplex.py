"""Responds while the request's body still arrives, over HTTP/1.1 (with the chunks' framing) or HTTP/2."""
from servers import arguments, context, head, serve

if context: from http2 import begin, frame, frames, head_of

start = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

def echo(c):
    """Sends back each byte as it comes, and the trailers."""
    data = head(c).partition(b'\r\n\r\n')[2]
    c.sendall(start + data)
    while not data.endswith(b'\r\n\r\n'):
        more = c.recv(65536)
        if not more: return
        c.sendall(more)
        data = (data + more)[-200:]

def echo_http2(c):
    begin(c)
    for kind, flags, stream, payload in frames(c):
        if kind == 1: c.sendall(head_of(stream))
        if kind == 0: c.sendall(frame(0, flags & 1, stream, payload))

def letters(c):
    """Sends `A`, and after each byte that comes back the next letter, up to `C`."""
    data = head(c).partition(b'\r\n\r\n')[2]
    c.sendall(start)
    for letter in (b'A', b'B', b'C', b''):
        if letter: c.sendall(b'1\r\n' + letter + b'\r\n')
        wanted = b'1\r\n' + letter + b'\r\n' if letter else b'0\r\n\r\n'
        while wanted not in data:
            more = c.recv(65536)
            if not more: return
            data += more
    c.sendall(b'0\r\n\r\n')

def letters_http2(c):
    begin(c)
    letters = [b'B', b'C']
    for kind, flags, stream, _ in frames(c):
        if kind == 1: c.sendall(head_of(stream) + frame(0, 0, stream, b'A'))
        if kind == 0 and flags & 1: c.sendall(frame(0, 1, stream))
        elif kind == 0 and letters: c.sendall(frame(0, 0, stream, letters.pop(0)))

serve(globals()[arguments[0]])
