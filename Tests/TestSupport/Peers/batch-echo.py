"""Responds to each JSON-RPC batch of a connection with its parameters, in the reverse order."""
import json, socket, sys
family = socket.AF_INET6 if ':' in sys.argv[2] else socket.AF_INET
s = socket.socket(family)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((sys.argv[2], int(sys.argv[1])))
s.listen()
print('ready', flush=True)
f = s.accept()[0].makefile('rw')
for line in f:
    responses = [{'jsonrpc': '2.0', 'id': c['id'], 'result': c['params']} for c in json.loads(line)]
    f.write(json.dumps(responses[::-1]) + chr(10))
    f.flush()
