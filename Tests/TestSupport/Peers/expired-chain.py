"""Writes a root, an intermediate that has expired, one that has not, and leaves to a folder."""
import datetime, sys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization as s
from cryptography.hazmat.primitives.asymmetric import ec
now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
day = datetime.timedelta(days=1)
def make(name, issuer, ca, end=now + 30 * day, start=now - 300 * day):
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    by, signer = issuer or (subject, key)
    built = (x509.CertificateBuilder().subject_name(subject).issuer_name(by)
        .public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(start).not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca, None), True))
    if not ca:
        built = built.add_extension(
            x509.SubjectAlternativeName([x509.DNSName('localhost')]), False)
    certificate = built.sign(signer, hashes.SHA256())
    file = sys.argv[1] + '/' + name
    open(file + '.pem', 'wb').write(certificate.public_bytes(s.Encoding.PEM))
    open(file + '.key', 'wb').write(key.private_bytes(
        s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()))
    return subject, key
root = make('root', None, True)
old = make('old', root, True, start=datetime.datetime(2023, 1, 1),
    end=datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.timezone.utc))
make('leaf', old, False)
good = make('good', root, True)
make('fine', good, False)
make('past', good, False, end=now - day)
