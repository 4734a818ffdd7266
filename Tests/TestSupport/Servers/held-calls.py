"""Prints JSON-RPC requests, and responds with their calls' parameters after one with the method `go` has come."""
import json, threading
from servers import request, respond, say, serve

may_go = threading.Event()

@serve
def run(c):
    rest = b''
    while True:
        first, body, rest = request(c, rest)
        if not first: return
        calls = json.loads(body)
        if 'method' in calls and calls['method'] == 'go': may_go.set()
        else: say('GOT', (first + body).hex())
        may_go.wait()

        def response(call): return {'jsonrpc': '2.0', 'id': call['id'], 'result': call['params']['n']}
        result = response(calls) if isinstance(calls, dict) else [response(call) for call in calls[::-1]]
        respond(c, json.dumps(result).encode(), '200 OK', 'Content-Type: application/json')
