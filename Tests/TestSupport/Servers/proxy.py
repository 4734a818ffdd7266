"""A proxy: HTTP (CONNECT and absolute URLs), the same in TLS, SOCKS 4a and 5; connects to 127.0.0.1."""
import base64, json, select, socket, struct, threading
from servers import arguments, exactly, head, play, respond, say, serve

# A required USER:PASSWORD, whether the origin's bytes are gathered into one TLS record, and the steps that
# respond to CONNECT instead of the host; each may be empty.
login, gathers, steps = arguments
steps = json.loads(steps) if steps else None

def pump(a, b, gathers=False):
    try:
        while data := a.recv(16384):
            while gathers and len(data) < 16384 and select.select([a], [], [], 0.2)[0]:
                more = a.recv(16384 - len(data))
                if not more: break
                data += more
            b.sendall(data)
    except Exception: pass
    finally:
        for s in (a, b):
            try: s.shutdown(socket.SHUT_RDWR)
            except Exception: pass

def join(c, port, first=b'', greeting=b''):
    if steps is not None: return play(c, steps)
    c.sendall(greeting)
    s = socket.create_connection(('127.0.0.1', port))
    s.sendall(first)
    t = threading.Thread(target=pump, args=(s, c, gathers), daemon=True)
    t.start()
    pump(c, s)
    t.join()
    s.close()

def socks5(c):
    methods = exactly(c, exactly(c, 1)[0])
    wanted = 2 if login else 0
    if wanted not in methods: return c.sendall(b'\x05\xff')
    c.sendall(bytes([5, wanted]))
    if wanted:
        exactly(c, 1)
        user = exactly(c, exactly(c, 1)[0]).decode()
        word = exactly(c, exactly(c, 1)[0]).decode()
        say('LOGIN', user + ':' + word)
        if user + ':' + word != login: return c.sendall(b'\x01\x01')
        c.sendall(b'\x01\x00')
    kind = exactly(c, 4)[3]
    if kind == 3: host = exactly(c, exactly(c, 1)[0]).decode()
    else: host = socket.inet_ntop(
        socket.AF_INET if kind == 1 else socket.AF_INET6, exactly(c, 4 if kind == 1 else 16))
    port = struct.unpack('>H', exactly(c, 2))[0]
    say('ASKED SOCKS5', host + ':' + str(port))
    join(c, port, greeting=b'\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00')

def socks4(c):
    _, port = struct.unpack('>BH', exactly(c, 3))
    exactly(c, 4)
    texts = []
    for _ in range(2):
        text = b''
        while (byte := exactly(c, 1)) != b'\0': text += byte
        texts.append(text.decode())
    say('ASKED SOCKS4', texts[1] + ':' + str(port))
    join(c, port, greeting=b'\x00\x5a\x00\x00\x00\x00\x00\x00')

@serve
def run(c):
    first = exactly(c, 1)
    if first == b'\x05': return socks5(c)
    if first == b'\x04': return socks4(c)
    data = head(c, first)
    say('GOT', data.hex())
    start, rest = data.split(b'\r\n\r\n', 1)
    line, *fields = start.split(b'\r\n')
    line = line.decode()
    say('ASKED', line.rsplit(' ', 1)[0])
    given = [f[20:] for f in fields if f.lower().startswith(b'proxy-authorization')]
    given = base64.b64decode(given[0].split(b' ')[-1]).decode() if given else ''
    if given: say('LOGIN', given)
    if login and given != login: return respond(c, b'', '407 Login', 'Proxy-Authenticate: Basic realm="p"')
    method, target = line.split(' ')[:2]
    if method == 'CONNECT':
        join(c, int(target.rsplit(':', 1)[1]), rest, b'HTTP/1.1 200 Connected\r\nX-Proxy: 1\r\n\r\n')
    # A client uses the proxy as a host.
    elif target.startswith('/') and steps is None: respond(c, b'ok')
    else: join(c, int(target.split('/')[2].rsplit(':', 1)[1]) if steps is None else 0, data)
