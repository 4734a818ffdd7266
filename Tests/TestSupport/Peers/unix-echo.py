"""Sends back what a connection to a UNIX socket sends."""
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
print('ready', flush=True)
c = s.accept()[0]
while data := c.recv(65536): c.sendall(data)
