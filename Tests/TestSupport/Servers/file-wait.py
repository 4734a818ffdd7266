"""Sends the second half of a body when a file is there."""
import os, time
from servers import arguments, head, serve

@serve
def run(c):
    head(c)
    c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"abc')
    while not os.path.exists(arguments[0]): time.sleep(0.01)
    c.sendall(b'defg"')
