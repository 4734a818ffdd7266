"""Prints one request of each connection, and responds to its path as a JSON object says."""
import json
from servers import arguments, port, request, respond, say, serve

routes = json.loads(arguments[0])

@serve
def run(c):
    first, body, _ = request(c)
    if first: say('GOT', (first + body).hex())
    target = first.split(b' ')[1].decode() if first else ''
    found = routes.get(target.split('?')[0], '404 Not Found\r\n\r\n')
    found = found.replace('{self}', str(port)).replace('{target}', target)
    fields, _, text = found.partition('\r\n\r\n')
    respond(c, text.encode(), *fields.split('\r\n'), 'Connection: close')
