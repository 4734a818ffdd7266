"""Prints JWKs, each line the right form of one and forms that other programs write."""
import base64, json
from cryptography.hazmat.primitives.asymmetric import ec, rsa
b = lambda x: base64.urlsafe_b64encode(x).rstrip(b'=').decode()
size = lambda n: (n.bit_length() + 7) // 8
p = lambda t: t + '=' * (-len(t) % 4)
# A key one of whose coordinates begins with a zero byte.
for d in range(1, 5000):
    n = ec.derive_private_key(d, ec.SECP256R1()).private_numbers().public_numbers
    if size(n.x) < 32: break
def key(f): return {'kty': 'EC', 'crv': 'P-256', 'x': f(n.x), 'y': f(n.y), 'd': f(d)}
full = key(lambda v: b(v.to_bytes(32, 'big')))
print(json.dumps([full, key(lambda v: b(v.to_bytes(size(v), 'big'))),
    key(lambda v: b(v.to_bytes(33, 'big'))),
    {k: p(v) if k in 'xyd' else v for k, v in full.items()},
    {k: v.replace('-', '+').replace('_', '/') if k in 'xyd' else v for k, v in full.items()},
    {**full, 'use': None, 'alg': None, 'key_ops': None, 'kid': None}]))
r = rsa.generate_private_key(65537, 2048).private_numbers()
numbers = {'n': r.public_numbers.n, 'e': 65537, 'd': r.d, 'p': r.p, 'q': r.q,
    'dp': r.dmp1, 'dq': r.dmq1, 'qi': r.iqmp}
def key(more): return {'kty': 'RSA', **{
    k: b(v.to_bytes(size(v) + more, 'big')) for k, v in numbers.items()}}
print(json.dumps([key(0), key(1)]))
s = bytes(range(240, 256)) * 2
print(json.dumps([{'kty': 'oct', 'k': b(s)}, {'kty': 'oct', 'k': p(b(s))},
    {'kty': 'oct', 'k': base64.b64encode(s).decode()}]))
