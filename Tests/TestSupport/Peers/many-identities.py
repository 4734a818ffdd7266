"""Makes many CAs, each with a server and a client of its own, and serves them all by SNI.

Arguments: port, folder, count. A server sN.example.test responds with the common name of its client.
"""
import datetime, http.server, socket, ssl, sys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
port, folder, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
start = datetime.datetime(2020, 1, 1)
end = datetime.datetime(2049, 12, 31)
def name(text): return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
def make(subject, issuer=None, use=None):
    key = ec.generate_private_key(ec.SECP256R1())
    by = issuer or (name(subject), key)
    builder = (x509.CertificateBuilder().subject_name(name(subject)).issuer_name(by[0])
        .public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(start).not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=use is None, path_length=None), True))
    if use is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([use]), False)
        builder = builder.add_extension(
            x509.SubjectAlternativeName([x509.DNSName(subject)]), False)
    return builder.sign(by[1], hashes.SHA256()), key
def pem(certificate): return certificate.public_bytes(serialization.Encoding.PEM)
def pem_key(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption())
def write(name, data):
    path = f'{folder}/{name}'
    with open(path, 'wb') as file: file.write(data)
    return path
contexts = {}
def context(n):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.verify_mode = ssl.CERT_REQUIRED
    made.load_cert_chain(f'{folder}/server-{n}.pem')
    made.load_verify_locations(f'{folder}/ca-{n}.pem')
    return made
for n in range(count):
    ca, ca_key = make(f'CA {n}')
    issuer = (ca.subject, ca_key)
    write(f'ca-{n}.pem', pem(ca))
    server, key = make(f's{n}.example.test', issuer, ExtendedKeyUsageOID.SERVER_AUTH)
    write(f'server-{n}.pem', pem(server) + pem_key(key))
    client, key = make(f'client-{n}', issuer, ExtendedKeyUsageOID.CLIENT_AUTH)
    write(f'client-{n}.pem', pem(client) + pem_key(key))
    contexts[f's{n}.example.test'] = context(n)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        subject = dict(pair[0] for pair in self.connection.getpeercert()['subject'])
        body = subject['commonName'].encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
def choose(connection, server_name, _):
    connection.context = contexts[server_name]
first = contexts['s0.example.test']
first.sni_callback = choose
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    def finish_request(self, request, address):
        with first.wrap_socket(request, server_side=True, do_handshake_on_connect=False) as secure:
            try:
                secure.do_handshake()
            except ssl.SSLError:
                # Reads what has come. Otherwise the close is a reset, which the alert is lost with.
                with socket.socket(fileno=secure.detach()) as plain:
                    plain.shutdown(socket.SHUT_WR)
                    while plain.recv(65536):
                        pass
                return
            self.RequestHandlerClass(secure, address, self)
    def handle_error(self, *_): pass
Server(('127.0.0.1', port), Handler).serve_forever()
