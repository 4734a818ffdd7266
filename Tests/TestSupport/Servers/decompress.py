"""Responds with the decoded body of a compressed request, or with `plain`."""
import re, zlib
from servers import request, respond, serve

@serve
def run(c):
    first, body, _ = request(c)
    coded = re.search(br'\r\ncontent-encoding: gzip\r\n', first, re.I)
    respond(c, zlib.decompress(body, 31) if coded else b'plain', '200 OK', 'Connection: close')
