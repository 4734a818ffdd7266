"""Responds by the path of the request, some of it odd, wrong or cut; `/mirror` and `/echo` send it back."""
from servers import context, request, respond, say, serve

ok = b'HTTP/1.1 200 OK\r\n'
thousand = ok + b'Content-Length: 1000\r\n\r\n'
whole = {
    '/nonsense': b'FOOBAR\r\n\r\n',
    '/other-case': b'Http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    '/no-reason': b'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n',
    '/two-lengths': ok + b'Content-Length: 10, 4\r\n\r\n1234',
    '/empty': ok + b'Content-Length: 0\r\n\r\n',
    '/empty-chunks': ok + b'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    '/two-values': ok + b'A: 1\r\nB: x\r\na: 2\r\nContent-Length: 0\r\n\r\n',
    '/head': thousand,
}

def dechunked(c, rest):
    body = b''
    while True:
        while b'\r\n' not in rest: rest += c.recv(65536)
        size, _, rest = rest.partition(b'\r\n')
        size = int(size, 16)
        while len(rest) < size + 2: rest += c.recv(65536)
        body += rest[:size]
        rest = rest[size + 2:]
        if not size: return body, rest

@serve
def run(c):
    rest = b''
    while True:
        first, body, rest = request(c, rest)
        if not first: return
        if b'\r\ntransfer-encoding: chunked' in first.lower(): body, rest = dechunked(c, body + rest)
        path = first.split(b' ')[1].decode().split('?')[0]
        if path in whole: c.sendall(whole[path])
        elif path[1:].isdigit():
            code = int(path[1:])
            length = 0 if code in (404, 999) else 1000
            c.sendall(b'HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n' % (code, length))
        elif path == '/mirror': respond(c, first)
        elif path == '/echo': respond(c, body)
        elif path == '/large': respond(c, b'x' * 1000000)
        elif path == '/short': return c.sendall(thousand + b'1234')
        elif path == '/until-close':
            c.sendall(ok + b'\r\n1234')
            return c.unwrap() if context else None
        elif path == '/drip':
            c.sendall(ok + b'Content-Length: 20\r\n\r\n')
            for i in range(20): c.sendall(b'%d' % (i % 10))
        elif path == '/silent':
            say('SILENT')
            c.recv(1)
        elif path == '/stall':
            c.sendall(thousand + b'1234')
            c.recv(1)
