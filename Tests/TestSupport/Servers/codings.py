"""Responds by the path with correct codings, invalid ones and compression bombs."""
import base64, hashlib, zlib
from servers import head, say, serve

def pack(b, w=31):
    c = zlib.compressobj(9, 8, w)
    return c.compress(b) + c.flush()

text = b'{"jsonrpc":"2.0","id":1,"result":"' + b'tea ' * 1000 + b'"}'

def digest(b): return 'Content-Digest: sha-256=:%s:' % base64.b64encode(hashlib.sha256(b).digest()).decode()
routes = {
    '/gzip': (['Content-Encoding: gzip'], pack(text)),
    '/deflate': (['Content-Encoding: deflate'], pack(text, 15)),
    '/plain': ([], text),
    '/identity': (['Content-Encoding: identity'], text),
    '/digest': (['Content-Encoding: gzip', digest(pack(text))], pack(text)),
    '/digest-of-text': (['Content-Encoding: gzip', digest(text)], pack(text)),
    '/bomb': (['Content-Encoding: gzip'], pack(bytes(40 << 20))),
    '/members': (['Content-Encoding: gzip'], pack(bytes(1 << 20)) * 40),
    '/large': (['Content-Encoding: gzip'], pack(bytes(i * i * 7919 >> 3 & 255 for i in range(300000)))),
    '/cut': (['Content-Encoding: gzip'], pack(text)[:-3]),
    '/more': (['Content-Encoding: gzip'], pack(text) + b'x'),
    '/lie': (['Content-Encoding: gzip'], text),
    '/raw': (['Content-Encoding: deflate'], pack(text, -15)),
    '/twice': (['Content-Encoding: gzip, gzip'], pack(pack(text))),
    '/br': (['Content-Encoding: br'], text),
    '/empty': (['Content-Encoding: gzip'], b''),
}

@serve
def run(c):
    data = head(c)
    say('GOT', data.hex())
    method, target = data.decode('latin-1').split(' ')[:2]
    fields, body = routes[target]
    lines = ['HTTP/1.1 200 OK', 'Content-Length: %d' % len(body), 'Connection: close'] + fields
    c.sendall('\r\n'.join(lines + ['', '']).encode() + (b'' if method == 'HEAD' else body))
