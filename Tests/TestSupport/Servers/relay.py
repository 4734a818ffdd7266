"""Prints each request as `GOT …`, and sends what the test writes into the file of its number; an empty one closes."""
import itertools, os, time
from servers import arguments, request, say, serve

numbers = itertools.count(1)

@serve
def run(c):
    first, body, _ = request(c)
    if not first: return
    path = os.path.join(arguments[0], str(next(numbers)))
    say('GOT', (first + body).hex())
    while not os.path.exists(path): time.sleep(0.002)
    with open(path, 'rb') as file: c.sendall(file.read())
