"""Sends 300,000 frames of one byte."""
from http2 import begin, frame, head_of, request_stream
from servers import serve

@serve
def run(c):
    begin(c)
    stream = request_stream(c)
    c.sendall(head_of(stream))
    for _ in range(300): c.sendall(frame(0, 0, stream, b'x') * 1000)
    c.sendall(frame(0, 1, stream))
    while c.recv(65536): pass
