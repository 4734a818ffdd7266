"""Takes batches of an outbox, each id once, with delays, failures and cut connections by chance of a seed (0: none).

Prints `BATCH ID N,N,…` for a new batch, `AGAIN ID` for one that it has, `CHANGED ID` for one that is not as before,
`DROPPED JSON` for what a batch tells, `GONE` if a client is gone before it got its answer, and `UNSIGNED` for a
request without a signature.
"""
import json, random, re, threading, time
from servers import arguments, request, respond, say, serve

seed, lock, batches = int(arguments[0]), threading.Lock(), {}
chance = random.Random(seed)

def pause():
    if seed: time.sleep(chance.random() * 0.03)

@serve
def run(c):
    rest = b''
    while True:
        first, body, rest = request(c, rest)
        if not first: return
        if not re.search(br'\r\nsignature: ', first, re.I): say('UNSIGNED')
        luck = chance.random() if seed else 1
        pause()
        if luck < 0.05: return
        if luck < 0.1:
            respond(c, b'', '503 Service Unavailable')
            continue
        batch = json.loads(body)
        name, records = batch['batch'], batch['records']
        with lock:
            if name in batches:
                say('AGAIN' if batches[name] == body else 'CHANGED', name)
            else:
                batches[name] = body
                say('BATCH', name, ','.join(str(record['n']) for record in records))
                if 'dropped' in batch: say('DROPPED', json.dumps(batch['dropped']))
        pause()
        if luck < 0.15: return
        try: respond(c, b'{}', '200 OK', 'Content-Type: application/json')
        except OSError:
            say('GONE')
            return
