"""Decrypts the JWE of a file with a JWK, by joserfc."""
import sys, json
from joserfc import jwe
from joserfc.jwk import OctKey
key = OctKey.import_key(json.load(sys.stdin))
found = jwe.decrypt_compact(open(sys.argv[1]).read(), key, algorithms=["dir", "A256GCM"])
sys.stdout.buffer.write(found.plaintext)
