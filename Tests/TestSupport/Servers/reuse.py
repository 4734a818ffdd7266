"""Ends connections, or writes to them, after the response to a request and before the next one."""
import os, socket, threading, time
from servers import arguments, close_at_once, head, listener, notify_close, request, reset, respond, say, serve

go = threading.Event()

def answer(c):
    """Responds to a request, prints it as `REQUEST …`, and returns whether it was for `/go`."""
    first, body, _ = request(c)
    if not first: raise OSError('gone')
    line = first.split(b'\r\n')[0]
    say('REQUEST', (line + b' ' + body).decode())
    respond(c, b'ok')
    return b' /go ' in line

def wait():
    go.wait()
    go.clear()

def close_notify(c):
    wait()
    notify_close(c)

def fin(c):
    wait()
    c.shutdown(socket.SHUT_RDWR)

def rst(c):
    wait()
    reset(c)
    close_at_once(c)

def poison(c):
    wait()
    respond(c, b'poison')

def quiet(c): pass

def end_of_the_server(c):
    data = head(c)
    while not data.endswith(b'body 1'): data += c.recv(65536)
    listener.shutdown(socket.SHUT_RDWR)
    os._exit(0)

def close_after_the_head(c):
    head(c)
    close_at_once(c)
    say('CUT')

def death(c):
    head(c)
    say('DIED')
    close_at_once(c)

@serve
def run(c):
    # A request for `/go` says that the client has read its response.
    if answer(c): return go.set()
    globals()[arguments[0]](c)
    say('READY')
    try:
        while True: answer(c)
    except OSError: pass
    time.sleep(3600)
