"""HTTP/2 (RFC 9113) over TLS, frame by frame, so that a server decides what it reads, sends and omits."""
import struct
from servers import context, exactly

context.set_alpn_protocols(['h2'])

def frame(kind, flags, stream, payload=b''):
    return len(payload).to_bytes(3, 'big') + bytes([kind, flags]) + stream.to_bytes(4, 'big') + payload

def begin(c, window=65535):
    """Does the handshake of HTTP/2; `window` is the initial window of each stream."""
    exactly(c, 24)
    c.sendall(frame(4, 0, 0, struct.pack('>HI', 4, window)))

def frames(c):
    """The client's frames as kind, flags, stream and payload; acknowledges SETTINGS and PING."""
    while True:
        length, kind, flags, stream = struct.unpack('>IBBI', b'\0' + exactly(c, 9))
        payload = exactly(c, length)
        if kind == 4 and not flags & 1: c.sendall(frame(4, 1, 0))
        if kind == 6 and not flags & 1: c.sendall(frame(6, 1, 0, payload))
        yield kind, flags, stream & 0x7fffffff, payload

def request_stream(c, whole=False):
    """Reads up to the end of a request's header, or of the whole request; returns its stream."""
    for kind, flags, stream, _ in frames(c):
        if (kind in (0, 1) and flags & 1) if whole else kind == 1: return stream

def literal(name, value):
    """A field of a header block."""
    return bytes([0, len(name)]) + name + bytes([len(value)]) + value

def head_of(stream, length=None, ends=False):
    field = b'' if length is None else literal(b'content-length', b'%d' % length)
    return frame(1, 5 if ends else 4, stream, b'\x88' + field)

def response(stream, body, ends=True, length=None):
    return head_of(stream, length) + frame(0, 1 if ends else 0, stream, body)
