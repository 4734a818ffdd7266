"""Has two files, knows ranges, redirects as a JSON object says, and cuts or holds back what a query asks it to."""
import json, re
from servers import arguments, head, respond, say, serve

size, redirects = int(arguments[0]), json.loads(arguments[1])
files = {'/file': bytes(i * 7 % 251 for i in range(size)), '/other': bytes(i * 5 % 241 for i in range(size))}
seen = set()

@serve
def run(c):
    data = head(c)
    if not data: return
    say('GOT', data.hex())
    target = data.split(b' ')[1].decode()
    path, _, query = target.partition('?')
    places = redirects.get(path, [])
    place = places.pop(0) if places else ''
    if place: return respond(c, b'moved', '302 Found', 'Location: ' + place, 'Connection: close')
    whole = files.get(path, files['/file'])

    def field(name): return (re.search(name + br': *([^\r]*)', data, re.I) or [None, None])[1]
    first = re.match(br'bytes=(\d+)-$', field(b'\r\nrange') or b'')
    start = int(first[1]) if first and field(b'\r\nif-range') == b'"a"' else 0
    lines = ['HTTP/1.1 200 OK']
    if start: lines = ['HTTP/1.1 206 Partial', 'Content-Range: bytes %d-%d/%d' % (start, size - 1, size)]
    lines += ['ETag: "a"', 'Content-Length: %d' % (size - start), 'Connection: close', '', '']
    c.sendall('\r\n'.join(lines).encode())
    stop = re.match(r'(cut|hold)=(\d+)', query)
    if stop and not start and target not in seen:
        seen.add(target)
        c.sendall(whole[:int(stop[2])])
        if stop[1] == 'hold': c.recv(1)
    else: c.sendall(whole[start:])
