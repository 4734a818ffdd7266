"""A server of python-lsp-jsonrpc on standard input and output."""
import logging, sys, threading
from pylsp_jsonrpc.dispatchers import MethodDispatcher
from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter
logging.disable()

class Server(MethodDispatcher):
    def __init__(self): self.gate = threading.Event()
    def m_echo(self, **members): return members
    def m_null(self): return None
    def m_fail(self): raise ValueError('ZZZZZZCANARYZZZZZZ')
    def m_slow(self): return lambda: self.gate.wait(3600)
    def m_open(self): self.gate.set()
    def m_ask(self, number): return lambda: endpoint.request('double', [number]).result()
    def m_told(self, text): endpoint.notify('told', {'text': text})
    def m_exit(self): sys.exit(0)
endpoint = Endpoint(Server(), JsonRpcStreamWriter(sys.stdout.buffer).write)
JsonRpcStreamReader(sys.stdin.buffer).listen(endpoint.consume)
