"""Writes keys of jwcrypto to a folder: with and without kid, public, symmetric, and one of another curve."""
import sys
from jwcrypto.jwk import JWK, JWKSet
folder = sys.argv[1] + '/'
def write(name, text): open(folder + name, 'w').write(text)
key = JWK.generate(kty='EC', crv='P-256')
write('ec.jwk', key.export())
public = JWKSet()
public.add(JWK.from_json(key.export_public()))
write('public.jwks', public.export(private_keys=False))
write('thumbprint', key.thumbprint())
two = JWKSet()
two.add(JWK.generate(kty='RSA', size=2048, kid='rsa'))
two.add(JWK.generate(kty='OKP', crv='Ed25519', kid='ed', use='sig', nbf=7))
two.add(JWK.generate(kty='OKP', crv='X448', kid='x448'))
write('two.jwks', two.export())
write('oct.jwk', JWK.generate(kty='oct', size=256).export())
