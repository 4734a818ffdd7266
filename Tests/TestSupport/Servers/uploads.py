"""Reads whole bodies in any framing; prints the length and checksum of each and whether it was complete."""
import threading, zlib
from servers import arguments, head, respond, say, serve

went, died = threading.Event(), threading.Event()

def whole(c, data=None):
    data = data or head(c, notes=True)
    top, _, rest = data.partition(b'\r\n\r\n')
    buffer = bytearray(rest)
    count, total, ended = 0, 0, True

    def need(n):
        while len(buffer) < n:
            more = c.recv(1 << 18)
            if not more: return False
            buffer.extend(more)
        return True

    def eat(n):
        nonlocal count, total
        while n:
            if not buffer and not need(1): return False
            part = bytes(buffer[:n])
            del buffer[:n]
            count, total, n = count + len(part), zlib.crc32(part, total), n - len(part)
        return True
    lines = top.lower().split(b'\r\n')
    length = [int(line.split(b':')[1]) for line in lines if line.startswith(b'content-length:')]
    size = None
    if b'transfer-encoding: chunked' in lines:
        while ended and size != 0:
            while ended and b'\r\n' not in buffer: ended = need(len(buffer) + 1)
            if not ended: break
            line = bytes(buffer[:buffer.index(b'\r\n')])
            del buffer[:len(line) + 2]
            size = int(line, 16)
            ended = eat(size) and need(2)
            del buffer[:2]
    elif length: ended = eat(length[0])
    say('BODY %d %d %s' % (count, total, 'whole' if ended else 'cut'))
    return top, ended

def mirror(c):
    while True:
        top, ended = whole(c)
        if not ended: break
        respond(c, top)

def reads_after_go(c):
    data = head(c, notes=True)
    if b'/go' in data:
        went.set()
        respond(c)
    else:
        went.wait()
        whole(c, data)
        respond(c, b'done')

def refuses(c):
    head(c, notes=True)
    respond(c, b'too much', '413 Content Too Large')
    try:
        while c.recv(65536): pass
    except OSError: pass
    say('LEFT')

def ends_under_the_second(c):
    """The first connection ends after it has read its second request: libcurl retries only then."""
    whole(c)
    respond(c, b'first')
    if died.is_set(): return
    died.set()
    whole(c)

serve(globals()[arguments[0]])
