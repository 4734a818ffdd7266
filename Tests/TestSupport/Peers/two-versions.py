"""A host that speaks exactly JSON-RPC 1.0 at `/old`, and 2.0 at `/new`."""
import sys, json, http.server, jsonrpcserver
from jsonrpcserver import method, Success, Error
@method
def echo(*texts): return Success(list(texts))
@method
def fail(): return Error(4, 'no')
def old(text):
    call = json.loads(text)
    if sorted(call) != ['id', 'method', 'params'] or type(call['params']) is not list:
        return json.dumps({'result': None, 'error': 'not 1.0', 'id': call.get('id')})
    if call['id'] is None: return ''
    failed = call['method'] != 'echo'
    return json.dumps({'result': None if failed else call['params'],
        'error': {'reason': 'no'} if failed else None, 'id': call['id']})
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers['Content-Length'])).decode()
        body = (old(text) if self.path == '/old' else jsonrpcserver.dispatch(text)).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words): pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
