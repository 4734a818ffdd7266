"""Cuts the first response for a path at byte 90,000, and responds to a range or with the whole."""
import re
from servers import head, respond, say, serve

whole = bytes(i * 7 % 251 for i in range(200000))
other = bytes(i * 5 % 241 for i in range(200000))
day = 'Last-Modified: %s, 0%d Nov 1994 08:49:37 GMT'
late = 'Date: Thu, 10 Nov 1994 08:49:37 GMT'
old = {'/date': [day % ('Sun', 6), late]}
new = {'/date': [day % ('Mon', 7), late], '/untagged': [], '/grown': ['ETag: "b"']}
seen = {}

def begin(c, size, body, *fields):
    lines = ['HTTP/1.1 200 OK', 'Connection: close', *fields, size, '', '']
    c.sendall('\r\n'.join(lines).encode() + body)

def send(c, body, status, *fields): respond(c, body, status, 'Connection: close', *fields)

@serve
def run(c):
    data = head(c)
    path = data.split(b' ')[1].decode()
    n = seen[path] = seen.get(path, 0) + 1
    first = re.search(br'\r\nrange: bytes=(\d+)-\r', data, re.I)
    first = int(first[1]) if first else None
    say('REQ', first)
    before, after = old.get(path, ['ETag: "a"']), new.get(path, ['ETag: "a"'])
    if n == 1 and path == '/endless':
        begin(c, 'Transfer-Encoding: chunked', b'%x\r\n' % 90000 + whole[:90000], *before)
    elif n == 1:
        begin(c, 'Content-Length: %d' % (100000 if path == '/grown' else 200000), whole[:90000], *before)
    elif path == '/endless' and first is not None:
        send(c, whole[first:150000], '206 Part', *after, 'Content-Range: bytes %d-149999/*' % first)
    elif path == '/endless': send(c, whole, '200 OK', *after)
    elif path == '/grown': send(c, other[:120000], '200 OK', *after)
    elif first is None: send(c, other, '200 OK', *after)
    else: send(c, other[first:], '206 Part', *after, 'Content-Range: bytes %d-199999/200000' % first)
