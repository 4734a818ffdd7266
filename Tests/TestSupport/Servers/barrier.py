"""Responds when a number of requests have arrived."""
import threading
from servers import arguments, head, respond, serve

everybody = threading.Barrier(int(arguments[0]))

@serve
def run(c):
    head(c)
    everybody.wait()
    respond(c, b'ok')
