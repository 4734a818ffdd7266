"""What the servers of files share: the bytes of two files, requests for a range, and responses that are cut."""
import re
from servers import respond

def file(size): return bytes(i * 7 % 251 for i in range(size))

def other_file(size): return bytes(i * 5 % 241 for i in range(size))

def field(data, name):
    """The value of a request's field, or None."""
    found = re.search(br'\r\n' + name + br': *([^\r]*)', data, re.I)
    return found and found[1]

def first_byte(data):
    """The first byte of the range `bytes=N-` that a request asks for, or None."""
    found = re.match(br'bytes=(\d+)-$', field(data, b'range') or b'')
    return found and int(found[1])

def send(c, body, status, *fields): respond(c, body, status, 'Connection: close', *fields)

def begin(c, status, *fields, body=b''):
    """Sends a head and what follows it, which may be less than its fields say."""
    c.sendall('\r\n'.join(['HTTP/1.1 ' + status, 'Connection: close', *fields, '', '']).encode() + body)
