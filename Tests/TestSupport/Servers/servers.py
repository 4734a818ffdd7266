"""What the servers of the tests share: TCP or TLS on loopback, and a thread for each connection."""
import fcntl, re, socket, ssl, struct, sys, termios, threading, time

# The port, the files of a certificate's chain and key, a TLS version, and the server's own arguments.
# The three in the middle may be empty.
port, arguments, context = int(sys.argv[1]), sys.argv[5:], None
if sys.argv[2]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    if sys.argv[4]: context.minimum_version = context.maximum_version = ssl.TLSVersion[sys.argv[4]]

listener = socket.socket()

def say(*words):
    """Prints a line, which no other thread's line interrupts."""
    sys.stdout.write(' '.join(map(str, words)) + '\n')
    sys.stdout.flush()

def head(c, data=b'', notes=False):
    """Reads up to the empty line, and perhaps more; less if the client went. May print what comes as `GOT …`."""
    while b'\r\n\r\n' not in data:
        more = c.recv(65536)
        if not more: break
        data += more
        if notes: say('GOT', more.hex())
    return data

def request(c, data=b''):
    """Reads a request: head, body of a Content-Length, and the bytes after it; all empty if the client went."""
    first, end, rest = head(c, data).partition(b'\r\n\r\n')
    length = re.search(br'\r\ncontent-length: *([0-9]+)', first, re.I)
    length = int(length.group(1)) if length else 0
    while end and len(rest) < length:
        more = c.recv(65536)
        if not more: end = b''
        rest += more
    return (first + end, rest[:length], rest[length:]) if end else (b'', b'', b'')

def respond(c, body=b'', status='200 OK', *fields):
    lines = ['HTTP/1.1 ' + status, *fields, 'Content-Length: %d' % len(body), '', '']
    c.sendall('\r\n'.join(lines).encode() + body)

def exactly(c, count):
    data = b''
    while len(data) < count:
        more = c.recv(count - len(data))
        if not more: raise EOFError
        data += more
    return data

def close_at_once(c):
    """Closes without close_notify."""
    socket.socket(fileno=c.detach()).close()
    # With its TLS, `c` would read from the descriptor's number, which the next connection may have.
    if context: c._sslobj = None

def notify_close(c):
    """Sends close_notify, and doesn't wait for the client's."""
    c.settimeout(0.01)
    try: c.unwrap()
    except OSError: pass
    c.settimeout(None)

def reset(c):
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))

def wait_until_delivered(c):
    """Waits until the client's kernel has acknowledged all bytes."""
    while struct.unpack('i', fcntl.ioctl(c, termios.TIOCOUTQ, bytes(4)))[0]: time.sleep(0.001)

def play(c, steps):
    """Does what steps of `ServerStep` say, one after the other."""
    for word, text, times in steps:
        data = text.encode('latin-1') * times
        if word == 'head' and not head(c, notes=True): return
        elif word == 'request':
            first, body, _ = request(c)
            if not first: return
            say('GOT', (first + body).hex())
        elif word == 'hello': c.recv(65536)
        elif word == 'send': c.sendall(data)
        elif word == 'flood':
            while True: c.sendall(data * (65536 // len(data) + 1))
        elif word == 'drip':
            while True: c.sendall(data); time.sleep(0.1)
        elif word == 'say': say(text)
        elif word == 'raw': socket.socket(fileno=c.detach()).sendall(data)
        elif word == 'notify': c.unwrap()
        elif word == 'fin': c.shutdown(socket.SHUT_WR)
        elif word == 'reset': reset(c)
        elif word == 'drain':
            while c.recv(65536): pass
        elif word == 'stall': time.sleep(3600)
        elif word == 'again': return play(c, steps)

def serve(run):
    """Calls `run` with each connection, which sends at once (TCP_NODELAY), and prints its errors as `ERR …`."""
    def accepted(c):
        try:
            c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context: c = context.wrap_socket(c, server_side=True)
            run(c)
        except Exception as error: say('ERR', repr(error))
        finally: c.close()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(('127.0.0.1', port))
    listener.listen(1024)
    while True:
        threading.Thread(target=accepted, args=(listener.accept()[0],), daemon=True).start()
