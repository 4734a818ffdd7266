"""Sends fixed bytes for each command that arrives, in one of the manners of `FakeRedis`."""
import time
from servers import arguments, serve

manner, response = arguments[0], arguments[1].encode('latin-1').decode('unicode_escape').encode('latin-1')

@serve
def run(c):
    parts = response.split(b'@') if manner == 'responds' else []
    while data := c.recv(65536):
        # Each command is a list of its own.
        for _ in range(data.count(b'*6') + data.count(b'*1\r\n$4\r\nPING')):
            if parts: c.sendall(parts.pop(0) if len(parts) > 1 else parts[0])
            while manner == 'floods': c.sendall(response * 1000)
            while manner == 'drips':
                for byte in response: c.sendall(bytes([byte])); time.sleep(0.01)
            if manner == 'ends': return
