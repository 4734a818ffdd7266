"""Responds over HTTP/1.1 with the number of each request, and with the faults of its plan."""
from faults import content, next_fault, note
from servers import arguments, request, serve

@serve
def run(c):
    rest = b''
    while True:
        first, body, rest = request(c, rest)
        if not first: return
        note(first.split(b' ')[0].decode(), body)
        n, kind, amount = next_fault()
        text = content(n)
        if kind == 'silence': return
        if kind == 'half-line': return c.sendall(b'HTTP/1.1 20')
        if kind == 'garbage': return c.sendall(b'\0\1 this is not HTTP\r\n\r\n')
        if kind == 'status': text = b''
        status = amount if kind == 'status' else 200
        length = len(text) + (amount if kind == 'length' else 0)
        fields = ('HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n'
            'Set-Cookie: s=%s\r\n\r\n') % (status, length, arguments[0])
        if kind == 'death': return c.sendall(fields.encode() + text[:len(text) // 2])
        c.sendall(fields.encode() + text)
        if kind == 'length': return
