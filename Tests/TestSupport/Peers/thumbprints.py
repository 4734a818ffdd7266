"""Prints the thumbprint of each key of a JSON array, on which jwcrypto and joserfc agree."""
import json, sys
from jwcrypto.jwk import JWK
from joserfc.jwk import JWKRegistry
for key in json.load(sys.stdin):
    one, other = JWK(**key).thumbprint(), JWKRegistry.import_key(key).thumbprint()
    assert one == other
    print(one)
