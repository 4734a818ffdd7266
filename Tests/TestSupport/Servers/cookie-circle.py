"""Redirects to the same URL until the request has its cookie."""
from servers import head, respond, serve

@serve
def run(c):
    data = head(c)
    if b'seen=1' in data: respond(c, b'true', '200 OK', 'Connection: close')
    else: respond(c, b'', '302 Found', 'Set-Cookie: seen=1', 'Location: /a', 'Connection: close')
