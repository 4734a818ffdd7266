"""Writes a chain of 50 intermediates and 50 roots to a folder, and prints two pins."""
import base64, datetime, hashlib, sys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization as s
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
day = datetime.timedelta(days=1)
now = datetime.datetime.now(datetime.timezone.utc)
def name(text): return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
def make(subject, issuer, key, ca):
    own = ec.generate_private_key(ec.SECP256R1())
    b = (x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer))
        .public_key(own.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - day).not_valid_after(now + 30 * day)
        .add_extension(x509.BasicConstraints(ca, None), True))
    if not ca:
        b = b.add_extension(x509.SubjectAlternativeName([x509.DNSName('localhost')]), False)
    return b.sign(key or own, hashes.SHA256()), own
def pem(c): return c.public_bytes(s.Encoding.PEM)
def pin(c):
    der = c.public_key().public_bytes(s.Encoding.DER, s.PublicFormat.SubjectPublicKeyInfo)
    return 'sha256/' + base64.b64encode(hashlib.sha256(der).digest()).decode()
def write(file, data):
    with open(sys.argv[1] + '/' + file, 'wb') as f: f.write(data)
root, key = make('deep 0', 'deep 0', None, True)
chain = []
for i in range(1, 51):
    c, key = make('deep %d' % i, 'deep %d' % (i - 1), key, True)
    chain.insert(0, c)
leaf, own = make('localhost', 'deep 50', key, False)
crowd = [make('no one %d' % i, 'no one %d' % i, None, True)[0] for i in range(50)]
write('root.pem', pem(root))
write('deep.pem', b''.join(map(pem, chain)))
write('leaf.pem', pem(leaf))
write('leaf.key', own.private_bytes(
    s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()))
write('crowd.pem', b''.join(map(pem, crowd)))
print(pin(root), pin(crowd[0]))
