"""httpbin: a server that describes the request that it received."""
import sys
from werkzeug.serving import run_simple
from httpbin import app
run_simple('127.0.0.1', int(sys.argv[1]), app, threaded=True)
