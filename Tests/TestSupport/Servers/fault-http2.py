"""Responds over HTTP/2 with the number of each request, and with the faults of its plan."""
import struct
from faults import content, next_fault, note
from http2 import begin, frame, frames
from servers import arguments, serve

def going_away(last): return frame(7, 0, 0, struct.pack('>II', last, 0))

def field(name, value): return name + bytes([len(value)]) + value

def respond(c, stream, method, body):
    n, kind, amount = next_fault()
    if kind == 'goaway-unseen':
        c.sendall(going_away(0))
        raise EOFError
    note(method, body)
    text = b'' if kind == 'status' else content(n)
    status = amount if kind == 'status' else 200
    length = len(text) + (amount if kind == 'length' else 0)
    # :status, content-length and set-cookie of the static table
    head = frame(1, 4, stream, field(b'\x08', b'%d' % status)
        + field(b'\x0f\x0d', b'%d' % length) + field(b'\x0f\x28', b's=' + arguments[0].encode()))
    half = head + frame(0, 0, stream, text[:len(text) // 2])
    last = {'silence': b'', 'half-line': head[:5], 'garbage': b'\0\1 this is not HTTP\r\n\r\n',
        'death': half, 'goaway': half + going_away(stream)}
    if kind in last:
        c.sendall(last[kind])
        raise EOFError
    c.sendall(head + frame(0, 1, stream, text))

@serve
def run(c):
    begin(c)
    bodies = {}
    for kind, flags, stream, payload in frames(c):
        # A body is what makes a POST here.
        if kind == 1:
            bodies[stream] = b''
            if flags & 1: respond(c, stream, 'GET', b'')
        if kind == 0:
            if payload: c.sendall(frame(8, 0, 0, struct.pack('>I', len(payload))))
            bodies[stream] += payload
            if flags & 1: respond(c, stream, 'POST', bodies[stream])
