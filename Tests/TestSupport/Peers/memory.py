"""Prints which secret members of a JWK Set a process's memory holds as text, and whether it holds the control."""
import json, re, sys
with open(sys.argv[2]) as file: keys = json.load(file)['keys']
needles = {'control': sys.argv[3].encode()}
for key in keys:
    for name in ('k', 'd', 'p', 'q', 'dp', 'dq', 'qi'):
        if name in key: needles[key['kid'] + '.' + name] = key[name][16:40].encode()
found = set()
with open('/proc/%s/maps' % sys.argv[1]) as maps, \
        open('/proc/%s/mem' % sys.argv[1], 'rb', 0) as memory:
    for line in maps:
        span = re.match('([0-9a-f]+)-([0-9a-f]+) rw', line)
        if not span: continue
        at, end = (int(part, 16) for part in span.groups())
        # AddressSanitizer's shadow: terabytes without a byte of the program.
        if end - at > 1 << 38: continue
        tail = b''
        while at < end:
            try:
                memory.seek(at)
                part = memory.read(min(end - at, 1 << 24))
            except (OSError, OverflowError): break
            if not part: break
            found.update(name for name in needles if needles[name] in tail + part)
            tail = part[-64:]
            at += len(part)
print(' '.join(sorted(found)))
