"""Responds with the request, or with its body alone."""
from servers import arguments, request, respond, serve

@serve
def run(c):
    first, body, _ = request(c)
    respond(c, body if arguments else first + body)
