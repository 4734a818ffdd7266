"""The plan of a `FaultPlan`, which is the second and third argument, and what faulty HTTP servers share."""
import json, random, threading
from servers import arguments, say

seed, faults = arguments[1], json.loads(arguments[2])
count, lock = 0, threading.Lock()

def next_fault():
    """The number of a request or connection, and the kind and amount of its fault."""
    global count
    with lock:
        count += 1
        n = count
    if seed: fault = random.Random(int(seed) * 1000003 + n).choice(faults)
    else: fault = faults[n - 1] if n <= len(faults) else {'kind': 'none', 'amount': 0}
    say('FAULT', fault['kind'])
    return n, fault['kind'], fault['amount']

def note(method, body):
    say(method, json.loads(body)['id'] if body else '-')

def content(n):
    return json.dumps({'id': n, 'secret': arguments[0]}).encode()
