"""Responds over HTTP/2 to five calls at once when a file is there, in each round in another order."""
import os, time
from http2 import begin, frame, frames, head_of
from servers import arguments, say, serve

go, size = arguments[0], int(arguments[1])

@serve
def run(c):
    begin(c)
    streams = []
    for kind, _, stream, _ in frames(c):
        if kind != 1: continue
        streams.append(stream)
        if len(streams) % 5: continue
        number = len(streams) // 5
        say('CALLS', number)
        while not os.path.exists('%s%d' % (go, number)): time.sleep(0.01)
        waiting = streams[-5:]
        for stream in waiting[number - 1:] + waiting[:number - 1]:
            c.sendall(head_of(stream))
            left = size
            while left:
                count = min(left, 10000)
                left -= count
                c.sendall(frame(0, 0 if left else 1, stream, b'x' * count))
        say('SENT', number)
