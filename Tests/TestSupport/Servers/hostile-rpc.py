"""Responds to `/N` with case N of a vector file, which may break the rules of JSON-RPC and of HTTP."""
import json, time
from servers import arguments, request, serve

cases = json.load(open(arguments[0]))['cases']

@serve
def run(c):
    first, rest, _ = request(c)
    if not first: return
    case = cases[int(first.split(b' ')[1][1:])]
    call = json.loads(rest)
    body, mode = case['body'], case.get('mode')
    if isinstance(call, list):
        ids = [one['id'] for one in call if 'id' in one]
        for n, i in enumerate(ids): body = body.replace('{id%d}' % n, json.dumps(i))
    else: body = body.replace('{id}', json.dumps(call.get('id')))
    body = body.encode() * (2000000 if mode == 'large' else 1)
    fields = 'HTTP/1.1 %d X\r\nContent-Type: %s\r\nConnection: close\r\n' % (case['status'], case['type'])

    def sized(size): return (fields + 'Content-Length: %d\r\n\r\n' % size).encode() + body
    if mode == 'hang': time.sleep(3600)
    elif mode == 'close': pass
    elif mode == 'garbage': c.sendall(body)
    elif mode == 'short': c.sendall(sized(len(body) + 10))
    elif mode == 'drip':
        c.sendall(sized(1000000))
        while True:
            c.sendall(b' ')
            time.sleep(0.05)
    elif mode == 'flood':
        c.sendall((fields + '\r\n').encode() + body)
        while True: c.sendall(b' ' * 65536)
    elif case['status'] == 204: c.sendall((fields + '\r\n').encode())
    else: c.sendall(sized(len(body)))
