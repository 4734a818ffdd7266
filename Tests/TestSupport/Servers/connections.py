"""Prints which connection each request came by, and the end of each connection."""
from servers import head, respond, say, serve

@serve
def run(c):
    while head(c):
        say('REQUEST', c.fileno(), id(c))
        respond(c, b'ok')
    say('CLOSED')
