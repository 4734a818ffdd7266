"""Cuts the first response for a path at byte 90,000, and responds to a range or with the whole."""
from files import begin, file, first_byte, other_file, send
from servers import head, say, serve

whole, other = file(200000), other_file(200000)
day = 'Last-Modified: %s, 0%d Nov 1994 08:49:37 GMT'
late = 'Date: Thu, 10 Nov 1994 08:49:37 GMT'
old = {'/date': [day % ('Sun', 6), late]}
new = {'/date': [day % ('Mon', 7), late], '/untagged': [], '/grown': ['ETag: "b"']}
seen = {}

@serve
def run(c):
    data = head(c)
    path = data.split(b' ')[1].decode()
    n = seen[path] = seen.get(path, 0) + 1
    first = first_byte(data)
    say('REQ', first)
    before, after = old.get(path, ['ETag: "a"']), new.get(path, ['ETag: "a"'])
    if n == 1 and path == '/endless':
        begin(c, '200 OK', *before, 'Transfer-Encoding: chunked', body=b'%x\r\n' % 90000 + whole[:90000])
    elif n == 1:
        length = 'Content-Length: %d' % (100000 if path == '/grown' else 200000)
        begin(c, '200 OK', *before, length, body=whole[:90000])
    elif path == '/endless' and first is not None:
        send(c, whole[first:150000], '206 Part', *after, 'Content-Range: bytes %d-149999/*' % first)
    elif path == '/endless': send(c, whole, '200 OK', *after)
    elif path == '/grown': send(c, other[:120000], '200 OK', *after)
    elif first is None: send(c, other, '200 OK', *after)
    else: send(c, other[first:], '206 Part', *after, 'Content-Range: bytes %d-199999/200000' % first)
