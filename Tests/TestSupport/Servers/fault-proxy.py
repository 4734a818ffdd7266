"""A TCP proxy before a port, which does to each connection what its plan says."""
import socket, threading, time
from faults import next_fault
from servers import arguments, reset, serve

def quiet(work):
    try: work()
    except OSError: pass

def upload(c, s, left):
    try:
        while left != 0:
            data = c.recv(65536)
            if not data: break
            if left is not None:
                data = data[:left]
                left -= len(data)
            s.sendall(data)
    except OSError: pass
    quiet(lambda: s.shutdown(socket.SHUT_RDWR))

def download(c, s, kind, amount):
    left = amount if kind in ('cut', 'reset', 'stall') else None
    while True:
        data = s.recv(16384)
        if not data: break
        if left is not None:
            data = data[:left]
            left -= len(data)
        if kind == 'latency': time.sleep(amount / 1000)
        if kind != 'bandwidth': c.sendall(data)
        else:
            step = max(amount // 100, 1)
            for start in range(0, len(data), step):
                c.sendall(data[start:start + step])
                time.sleep(step / amount)
        if left == 0: break
    if kind == 'slow-close': time.sleep(amount / 1000)

@serve
def run(c):
    _, kind, amount = next_fault()
    if kind == 'latency': time.sleep(amount / 1000)
    s = socket.create_connection(('127.0.0.1', int(arguments[0])))
    left = amount if kind == 'cut-request' else None
    t = threading.Thread(target=upload, args=(c, s, left), daemon=True)
    t.start()
    quiet(lambda: download(c, s, kind, amount))
    # The client alone ends it.
    if kind == 'stall': t.join()
    if kind == 'reset':
        reset(c)
        quiet(lambda: c.shutdown(socket.SHUT_RD))
    else: quiet(lambda: c.shutdown(socket.SHUT_RDWR))
    quiet(lambda: s.shutdown(socket.SHUT_RDWR))
    t.join()
    s.close()
