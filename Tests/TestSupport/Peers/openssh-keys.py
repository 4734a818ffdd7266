"""Writes a private and a public key as OpenSSH does, and the public key in PEM: TYPE FOLDER."""
import sys, os
from cryptography.hazmat.primitives.asymmetric import ed25519, ec, rsa
from cryptography.hazmat.primitives import serialization as s
key = {'ed25519': ed25519.Ed25519PrivateKey.generate,
    'ecdsa': lambda: ec.generate_private_key(ec.SECP256R1()),
    'rsa': lambda: rsa.generate_private_key(65537, 2048)}[sys.argv[1]]()
p = key.public_key()
def write(name, b):
    with open(os.path.join(sys.argv[2], name), 'wb') as f: f.write(b)
write('private', key.private_bytes(
    s.Encoding.PEM, s.PrivateFormat.OpenSSH, s.NoEncryption()))
write('public', p.public_bytes(s.Encoding.OpenSSH, s.PublicFormat.OpenSSH) + b' me@host\n')
write('pem', p.public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo))
