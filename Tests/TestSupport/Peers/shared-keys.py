"""Opens or seals shared keys with jwcrypto or joserfc."""
import json, sys
folder, library, action = sys.argv[1] + '/', sys.argv[2], sys.argv[3]
def read(name): return open(folder + name).read()
types = ['x25519', 'p256', 'p384', 'rsa']
keys = {}
for name in types:
    jwk = json.loads(read(name))['keys'][0]
    keys[name] = {k: v for k, v in jwk.items() if k not in ('kid', 'use', 'alg')}
algorithm = lambda name: 'RSA-OAEP-256' if name == 'rsa' else 'ECDH-ES+A256KW'
protected = {'enc': 'A256GCM', 'typ': 'signet-keys'}
if library == 'jwcrypto':
    from jwcrypto import jwe, jwk
    from jwcrypto.common import json_encode
    load = {n: jwk.JWK(**keys[n]) for n in types}
    if action == 'open':
        for n in types:
            token = jwe.JWE()
            token.deserialize(read('shared'), load[n])
            assert token.payload.decode() == read('keys'), n
    else:
        token = jwe.JWE(read('keys').encode(), json_encode(protected))
        for n in types:
            token.add_recipient(load[n], json_encode(
                {'alg': algorithm(n), 'kid': load[n].thumbprint()}))
        print(token.serialize())
else:
    from joserfc import jwe
    from joserfc.jwk import OKPKey, ECKey, RSAKey
    kinds = {'x25519': OKPKey, 'p256': ECKey, 'p384': ECKey, 'rsa': RSAKey}
    load = {n: kinds[n].import_key(keys[n]) for n in types}
    names = ['ECDH-ES+A256KW', 'RSA-OAEP-256', 'A256GCM']
    if action == 'open':
        data = json.loads(read('shared'))
        by = {k.thumbprint(): k for k in load.values()}
        find = lambda r: by[r.headers()['kid']]
        registry = jwe.JWERegistry(algorithms=names, verify_all_recipients=True)
        token = jwe.decrypt_json(data, find, registry=registry)
        assert token.plaintext.decode() == read('keys')
    else:
        token = jwe.GeneralJSONEncryption(protected, read('keys').encode())
        for n in types:
            token.add_recipient(
                {'alg': algorithm(n), 'kid': load[n].thumbprint()}, load[n])
        print(json.dumps(jwe.encrypt_json(token, None, algorithms=names)))
