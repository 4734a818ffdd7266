"""The server of PyPI's jsonrpclib-pelix, of version 1.0."""
import sys
from jsonrpclib.SimpleJSONRPCServer import SimpleJSONRPCServer
from jsonrpclib.config import Config
server = SimpleJSONRPCServer(
    ('127.0.0.1', int(sys.argv[1])), logRequests=False, config=Config(version=1.0))
server.register_function(lambda *values: list(values), 'echo')
server.register_function(lambda a, b: a + b, 'add')
server.register_function(lambda: None, 'null')
server.serve_forever()
