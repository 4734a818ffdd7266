"""Accepts no byte of an upload over HTTP/2, or none for half a second; responds with the number of bytes."""
import struct, time
from http2 import begin, frame, frames, response
from servers import arguments, say, serve

@serve
def run(c):
    begin(c, window=0)
    got = 0
    for kind, flags, stream, payload in frames(c):
        if kind == 1:
            say('REQUEST')
            if arguments[0] == 'opens':
                time.sleep(0.5)
                c.sendall(frame(8, 0, stream, struct.pack('>I', 65535)))
        if kind == 0:
            got += len(payload)
            more = struct.pack('>I', len(payload))
            if flags & 1: c.sendall(response(stream, b'%d' % got))
            elif payload: c.sendall(frame(8, 0, 0, more) + frame(8, 0, stream, more))
