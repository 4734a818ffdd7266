"""Responds to each call of a request with an array of many small values, of so many bytes."""
import json
from servers import arguments, request, respond, serve

result = '[' + '1,' * (int(arguments[0]) // 2 - 1) + '1]'

@serve
def run(c):
    first, body, _ = request(c)
    calls = json.loads(body) if body else None

    def response(call): return '{"jsonrpc":"2.0","id":%d,"result":%s}' % (call['id'], result)
    text = result if calls is None else response(calls) if isinstance(calls, dict) \
        else '[' + ','.join(map(response, calls)) + ']'
    respond(c, text.encode(), '200 OK', 'Connection: close')
