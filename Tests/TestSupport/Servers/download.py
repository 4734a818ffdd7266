"""Has two files, knows ranges, redirects as a JSON object says, and cuts or holds back what a query asks it to."""
import json, re
from files import begin, field, file, first_byte, other_file, send
from servers import arguments, head, say, serve

size, redirects = int(arguments[0]), json.loads(arguments[1])
files = {'/file': file(size), '/other': other_file(size)}
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
    if place: return send(c, b'moved', '302 Found', 'Location: ' + place)
    whole = files.get(path, files['/file'])
    start = (first_byte(data) or 0) if field(data, b'if-range') == b'"a"' else 0
    fields = ['ETag: "a"', 'Content-Length: %d' % (size - start)]
    if start: begin(c, '206 Partial', 'Content-Range: bytes %d-%d/%d' % (start, size - 1, size), *fields)
    else: begin(c, '200 OK', *fields)
    stop = re.match(r'(cut|hold)=(\d+)', query)
    if stop and not start and target not in seen:
        seen.add(target)
        c.sendall(whole[:int(stop[2])])
        if stop[1] == 'hold': c.recv(1)
    else: c.sendall(whole[start:])
