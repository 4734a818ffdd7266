"""Sends the bytes of a JSON object for each path, unchanged; `~` at their end waits without end."""
import json
from servers import arguments, head, serve

responses = json.loads(arguments[0])

@serve
def run(c):
    try:
        text = responses[head(c).split(b' ')[1].decode()].encode('latin-1')
        if text == b'flood':
            c.sendall(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
            while True: c.sendall(b'10000\r\n' + b'[' * 65536 + b'\r\n')
        c.sendall(text.removesuffix(b'~'))
        while text.endswith(b'~') and c.recv(1): pass
    except OSError: pass
