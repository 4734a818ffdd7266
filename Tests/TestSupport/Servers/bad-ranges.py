"""Cuts the first response for a path at byte 90,000; the path's name gives the response to the second request."""
from files import begin, field, file, first_byte, other_file, send
from servers import head, say, serve

whole, other = file(200000), other_file(150000)
sunday = 'Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT'
tags = {
    '/weak': ['ETag: W/"a"'], '/date': [sunday, 'Date: Sun, 06 Nov 1994 08:50:37 GMT'],
    '/olddates': ['Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT', 'Date: Sun Nov  6 08:50:37 1994'],
    '/soon': [sunday, 'Date: Sun, 06 Nov 1994 08:49:38 GMT'],
}
# The responses to every request for a path: body, status and fields.
always = {
    '/unasked': (whole, '206 Partial', 'Content-Range: bytes 0-199999/200000'),
    '/missing': (b'no', '404 Not Found'), '/empty': (b'', '200 OK', 'ETag: "a"'),
    '/encoded': (whole, '200 OK', 'Content-Encoding: gzip'),
    '/nothing': (b'', '204 No Content', 'ETag: "a"'),
    '/mislabelled': (whole, '200 OK', 'Repr-Digest: sha-256=:' + 'A' * 43 + '=:'),
}
seen = {}

def second(path, first, tag):
    """The response to a request from a byte on."""
    def part(body, range, *fields): return (body, '206 Partial', 'Content-Range: ' + range, *fields)
    rest, last = 'bytes %d-199999/200000' % first, min(first + 50000, 200000) - 1
    return {
        '/changed': (other, '200 OK', 'ETag: "b"'),
        '/othertag': part(whole[first:], rest, 'ETag: "b"'),
        '/othertotal': part(whole[first:], 'bytes %d-199999/200001' % first),
        '/notthere': (b'', '416 No', 'Content-Range: bytes */5'),
        '/early': part(whole, 'bytes 0-199999/200000'),
        '/late': part(whole[first + 1:], 'bytes %d-199999/200000' % (first + 1)),
        '/norange': (whole[first:], '206 Partial', *tag),
        '/odd': part(whole[first:], 'lines 1-2/3'),
        '/backwards': part(whole[first:], 'bytes 9-1/200000'),
        '/more': part(whole[first:] + b'x', rest, *tag),
        '/less': part(whole[first:-5], rest, *tag),
        '/pieces': part(whole[first:last + 1], 'bytes %d-%d/200000' % (first, last), *tag),
        '/coded': part(whole[first:], rest, *tag, 'Content-Encoding: GZIP'),
        '/units': part(whole[first:], rest.capitalize(), *tag),
        '/block': part(whole[65536:], 'bytes 65536-199999/200000', *tag),
        '/slip': part(whole[first:-1] + b'x', rest, *tag),
        '/error': (b'', '503 Busy'),
    }.get(path, part(whole[first:], rest, *tag))

@serve
def run(c):
    data = head(c)
    path = data.split(b' ')[1].decode()
    first, tag = first_byte(data), field(data, b'if-range')
    n = seen[path] = seen.get(path, 0) + 1
    say('REQ', path, first, (tag or b'').decode())
    tag = tags.get(path, ['ETag: "a"'])
    if path in always: send(c, *always[path])
    elif path == '/never' and n > 1: send(c, b'', '416 No', 'Content-Range: bytes */200000')
    elif n == 1 and (first is None or path == '/never'):
        begin(c, '200 OK', *tag, 'Content-Length: 200000', body=whole[:90000])
    elif first is None: send(c, whole, '200 OK', *tag)
    else: send(c, *second(path, first, tag))
