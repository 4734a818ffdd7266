"""Sends large bodies over HTTP/2 as fast as the windows allow; prints connections, calls and bytes."""
import select, ssl, struct
from http2 import begin, frame, head_of, response
from servers import arguments, say, serve

# The first `waiting` calls get `late` once the bodies of the next `bodies` calls, of `size` bytes each, are sent
# or given up. All other calls get `ok`.
waiting, bodies, size = map(int, arguments)
calls, waits = 0, 0

@serve
def run(c):
    say('CONNECTION')
    begin(c)
    window, initial, windows, left = 65535, 65535, {}, {}
    queue, incoming, sent = bytearray(), bytearray(), 0

    def take(kind, flags, stream, payload):
        global calls, waits
        nonlocal window, initial
        if kind == 4 and not flags & 1:
            for i in range(0, len(payload), 6):
                name, value = struct.unpack('>HI', payload[i:i + 6])
                if name == 4: initial = value
            queue.extend(frame(4, 1, 0))
        elif kind == 8:
            change = int.from_bytes(payload, 'big')
            if stream == 0: window += change
            elif stream in windows: windows[stream] += change
        elif kind == 3:
            left.pop(stream, None)
            say('RESET')
        elif kind == 1:
            calls += 1
            say('CALL')
            if calls <= waiting: waits = stream
            elif calls <= waiting + bodies:
                windows[stream], left[stream] = initial, size
                queue.extend(head_of(stream))
            else: queue.extend(response(stream, b'ok'))

    def fill():
        nonlocal window
        global waits
        for stream in list(left):
            count = min(16384, left[stream], windows[stream], window)
            if count <= 0: continue
            left[stream] -= count
            windows[stream] -= count
            window -= count
            queue.extend(frame(0, 0 if left[stream] else 1, stream, b'x' * count))
            if not left[stream]: del left[stream]
        if waits and not left and calls > bodies:
            queue.extend(response(waits, b'late'))
            waits = 0
    c.setblocking(False)
    while True:
        wants_read = wants_write = False
        try:
            more = c.recv(1 << 16)
            if not more: return
            incoming.extend(more)
        except ssl.SSLWantReadError: wants_read = True
        while len(incoming) >= 9 and len(incoming) >= 9 + int.from_bytes(incoming[:3], 'big'):
            end = 9 + int.from_bytes(incoming[:3], 'big')
            take(incoming[3], incoming[4], int.from_bytes(incoming[5:9], 'big'), bytes(incoming[9:end]))
            del incoming[:end]
        if not queue: fill()
        if queue:
            try:
                count = c.send(bytes(queue[:1 << 18]))
                del queue[:count]
                sent += count
                wants_read = False
            except ssl.SSLWantWriteError: wants_write = True
        if wants_read or wants_write:
            ready = select.select([c], [c] if queue else [], [], 0.5)
            if not ready[0] and not ready[1]: say('SENT', sent)
