"""The server of PyPI's jsonrpcserver with the methods `echo`, `add`, `null` and `fail`."""
import sys, jsonrpcserver
from jsonrpcserver import method, Success, Error
@method
def echo(text): return Success(text)
@method
def add(a, b): return Success(a + b)
@method
def null(): return Success(None)
@method
def fail(): return Error(4, 'no', {'why': 'é'})
jsonrpcserver.serve('127.0.0.1', int(sys.argv[1]))
