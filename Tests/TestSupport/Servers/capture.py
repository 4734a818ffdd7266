"""Prints each request, and sends the same status and JSON to each."""
from servers import arguments, context, request, respond, say, serve

# The names that clients ask for in their handshakes (SNI).
if context: context.sni_callback = lambda socket, name, _: say('SNI', name)

@serve
def run(c):
    rest = b''
    while True:
        first, body, rest = request(c, rest)
        if not first: return
        say('GOT', (first + body).hex())
        respond(c, arguments[1].encode(), arguments[0], 'Content-Type: application/json')
