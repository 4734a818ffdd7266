"""Breaks or stalls the handshake of TLS, or breaks what comes after it."""
import ssl, time
from servers import arguments, reset, say, serve

behaviour, chain, key = arguments
sides = {}

def flight(c):
    """The complete response of a TLS server to the ClientHello."""
    side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    side.load_cert_chain(chain, key)
    read, written = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = side.wrap_bio(read, written, server_side=True)
    sides[c] = (tls, read)
    read.write(c.recv(65536))
    try: tls.do_handshake()
    except ssl.SSLWantReadError: pass
    return written.read()

def hear(c):
    """Prints the bytes that the client sends after its handshake."""
    tls, read = sides[c]
    while more := c.recv(65536):
        read.write(more)
        try:
            tls.do_handshake()
            while True: say('GOT', tls.read(65536).hex())
        except ssl.SSLWantReadError: pass

def half(c):
    data = flight(c)
    c.sendall(data[:len(data) // 2])

def after_hello(c, data):
    c.recv(65536)
    c.sendall(data)

def forever(c, data):
    c.recv(65536)
    while True: c.sendall(data * 1000)

def stall_before(c): time.sleep(3600)

def stall_in_a_record(c):
    after_hello(c, b'\x16\x03')
    time.sleep(3600)

def stall_in_the_flight(c):
    half(c)
    time.sleep(3600)

def drip(c):
    for byte in flight(c): c.sendall(bytes([byte])); time.sleep(0.1)

def stall_after_the_flight(c):
    c.sendall(flight(c))
    hear(c)

def cut_before(c): pass

def cut_after_the_hello(c): c.recv(65536)

def reset_after_the_hello(c):
    c.recv(65536)
    reset(c)

def cut_in_the_flight(c): half(c)

def garbage(c): after_hello(c, bytes(range(256)) * 64)

def cleartext(c): after_hello(c, b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')

def changed_byte(c):
    data = bytearray(flight(c))
    data[len(data) // 2] ^= 1
    c.sendall(data)
    c.recv(65536)

def flight_twice(c):
    c.sendall(flight(c) * 2)
    c.recv(65536)
    c.recv(65536)

def message_of_16_mib(c):
    after_hello(c, b'\x16\x03\x03\x40\x00\x02\xff\xff\xff' + b'x' * 16380)
    c.recv(65536)

def endless_change_cipher_spec(c): forever(c, b'\x14\x03\x03\x00\x01\x01')

def endless_warnings(c): forever(c, b'\x15\x03\x03\x00\x02\x01\x5a')

def endless_empty_records(c): forever(c, b'\x16\x03\x03\x00\x00')

def fatal_alert(c): after_hello(c, b'\x15\x03\x03\x00\x02\x02\x28')

serve(globals()[behaviour])
