"""A server of PyPI's pjrpc with the methods `echo`, `add`, `null` and `fail`."""
import sys, http.server, pjrpc.server
methods = pjrpc.server.MethodRegistry()
@methods.add()
def echo(text): return text
@methods.add()
def add(a, b): return a + b
@methods.add()
def null(): return None
@methods.add()
def fail():
    raise pjrpc.server.exceptions.JsonRpcError(4, 'no', data={'why': 'é'})
dispatcher = pjrpc.server.Dispatcher()
dispatcher.add_methods(methods) if hasattr(dispatcher, 'add_methods') else None
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers['Content-Length'])).decode()
        response = dispatcher.dispatch(text, None)
        body = response[0].encode() if response else b''
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
