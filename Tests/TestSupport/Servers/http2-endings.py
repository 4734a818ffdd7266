"""Ends HTTP/2 connections between two calls or during one; prints `REQUEST N`, where N numbers the connections."""
import threading, time
from http2 import begin, frame, request_stream, response
from servers import arguments, notify_close, say, serve, wait_until_delivered

lock, connections = threading.Lock(), 0

class Connection:
    def __init__(self, c, number): self.c, self.number = c, number

    def request(self):
        stream = request_stream(self.c, whole=True)
        say('REQUEST', self.number)
        return stream

    def respond(self): self.c.sendall(response(self.request(), b'ok'))

    # The server takes no request of this connection any more (RFC 9113, section 6.8): its last stream is 0.
    def go_away(self):
        self.request()
        self.c.sendall(frame(7, 0, 0, bytes(8)))
        self.c.close()

def close_notify(one):
    one.respond()
    notify_close(one.c)
    wait_until_delivered(one.c)
    say('READY')
    time.sleep(3600)

def goaway(one):
    if one.number == 0:
        one.respond()
        one.go_away()

def goaway_always(one): one.go_away()

def cut(one):
    one.respond()
    one.request()
    say('CUT')
    one.c.close()

# DATA on stream 0 breaks the whole connection (RFC 9113, section 6.1).
def broken(one):
    if one.number == 0:
        one.respond()
        one.request()
        one.c.sendall(frame(0, 0, 0, b'x'))
        time.sleep(3600)

# REFUSED_STREAM: the server has not read the request (RFC 9113, section 8.7).
def refused(one):
    if one.number == 0:
        one.respond()
        one.c.sendall(frame(3, 0, one.request(), bytes([0, 0, 0, 7])))

@serve
def run(c):
    global connections
    with lock:
        one = Connection(c, connections)
        connections += 1
    begin(c)
    globals()[arguments[0]](one)
    while True: one.respond()
