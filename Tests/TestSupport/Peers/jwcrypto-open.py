"""Decrypts a JWE with a JWK, by jwcrypto."""
import sys
from jwcrypto import jwe, jwk
token = jwe.JWE()
token.deserialize(sys.stdin.read(), jwk.JWK.from_json(sys.argv[1]))
sys.stdout.buffer.write(token.payload)
