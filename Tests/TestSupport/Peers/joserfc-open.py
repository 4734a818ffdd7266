"""Decrypts a JWE with a JWK, by joserfc."""
import sys, json
from joserfc import jwe
from joserfc.jwk import OctKey
key = OctKey.import_key(json.loads(sys.argv[1]))
found = jwe.decrypt_compact(sys.stdin.read(), key, algorithms=["dir", "A256GCM"])
sys.stdout.buffer.write(found.plaintext)
