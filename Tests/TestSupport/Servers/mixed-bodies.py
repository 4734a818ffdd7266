"""Sends over HTTP/2 bodies of several sizes, by turns, in records that may end anywhere."""
import random, select
from http2 import begin, frame
from servers import serve

chance = random.Random(7)

@serve
def run(c):
    begin(c)
    left, received = {}, bytearray()
    while True:
        if not left or select.select([c], [], [], 0)[0] or c.pending():
            more = c.recv(65536)
            if not more: return
            received += more
        while len(received) >= 9:
            end = 9 + int.from_bytes(received[:3], 'big')
            if len(received) < end: break
            kind, flags, stream = received[3], received[4], int.from_bytes(received[5:9], 'big')
            del received[:end]
            if kind == 4 and not flags & 1: c.sendall(frame(4, 1, 0))
            if kind == 3: left.pop(stream, None)
            if kind == 1:
                c.sendall(frame(1, 4, stream, b'\x88' + b'\x90' * chance.choice([1, 20, 200])))
                left[stream] = chance.choice([1, 500, 16000, 16384, 40000, 100000, 300000])
        data = bytearray()
        for stream in list(left):
            count = min(left[stream], chance.choice([100, 5000, 10000, 16384]))
            left[stream] -= count
            data += frame(0, 0 if left[stream] else 1, stream, b'x' * count)
            if not left[stream]: del left[stream]
            if chance.random() < 0.3:
                c.sendall(data)
                data.clear()
        if data: c.sendall(data)
