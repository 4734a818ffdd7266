"""Opens the sealed bodies of standard input with jwcrypto or joserfc, and seals others."""
import hashlib, json, sys
library = sys.argv[1]
data = json.load(sys.stdin)
bare = lambda jwk: {k: v for k, v in jwk.items() if k not in ('use', 'alg')}
keys = {k['kid']: bare(k) for k in data['keys']}
if library == 'jwcrypto':
    from jwcrypto import jwe, jwk
    load = {n: jwk.JWK(**k) for n, k in keys.items()}
    def open_(token, kid, alg, enc):
        found = jwe.JWE(algs=[alg, enc])
        found.deserialize(token, load[kid])
        assert json.loads(found.objects['protected'])['cty'] == 'json'
        return found.payload
    def seal(text, header):
        token = jwe.JWE(text, json.dumps(header), algs=[header['alg'], header['enc']])
        token.add_recipient(load[header['kid']])
        return token.serialize(compact=True)
else:
    from joserfc import jwe
    from joserfc.jwk import OctKey, OKPKey, ECKey, RSAKey
    kinds = {'oct': OctKey, 'OKP': OKPKey, 'EC': ECKey, 'RSA': RSAKey}
    load = {n: kinds[k['kty']].import_key(k) for n, k in keys.items()}
    def open_(token, kid, alg, enc):
        return jwe.decrypt_compact(token, load[kid], algorithms=[alg, enc]).plaintext
    def seal(text, header):
        return jwe.encrypt_compact(
            header, text, load[header['kid']], algorithms=[header['alg'], header['enc']])
made = []
for case in data['cases']:
    alg, enc, kid = case['alg'], case['enc'], case['kid']
    text = open_(case['token'], kid, alg, enc)
    header = {'alg': alg, 'enc': enc, 'kid': kid}
    if len(text) % 2: header |= {'cty': 'json', 'typ': 'JOSE'}
    answer = seal(text[::-1], header)
    made.append([hashlib.sha256(text).hexdigest(), answer])
json.dump(made, sys.stdout)
