"""Prints whether a connection resumed a session and whether a request arrived; closes after a response."""
from servers import head, respond, say, serve

@serve
def run(c):
    try: data = head(c, notes=True)
    except OSError: data = b''
    say('RESUMED', c.session_reused, 'SAID', data != b'')
    if data: respond(c, b'ok', '200 OK', 'Connection: close')
    # Without a clean end TLS 1.2 doesn't resume.
    c.unwrap()
