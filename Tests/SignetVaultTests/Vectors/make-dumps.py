#!/usr/bin/env python3
"""Makes dumps.json from Documentation/sealed-dump.md with PyPI's `cryptography`, without Signet's code.

Every root and salt is SHA-256 of a label, so that a second run gives the same bytes:
    python3 make-dumps.py > dumps.json
"""
import base64, hashlib, hmac, json, struct
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def lp(text):
    data = text.encode()
    return struct.pack(">I", len(data)) + data


def keys(root, salt, names):
    prk = hmac.new(salt, root, hashlib.sha256).digest()
    info = b"signet1 dump dir+A256GCM\x00" + b"".join(map(lp, names))
    okm, block = b"", b""
    for number in (1, 2, 3):
        block = hmac.new(prk, block + info + bytes([number]), hashlib.sha256).digest()
        okm += block
    return okm[:32], okm[32:44], okm[44:76]


def kid_of(key_id, salt, commitment, names):
    parts = [key_id.encode(), salt, commitment] + [name.encode() for name in names]
    return "signet1." + ".".join(map(b64, parts))


def inside(names, sequence=1, values=None, origins=None, sealed_at="2026-11-21T05:00:00Z"):
    values = {"orders.host": "orders.example.com"} if values is None else values
    origins = {key: "defaults" for key in values} if origins is None else origins
    return {
        "app": {"id": names[0], "version": names[1]},
        "system": {"id": names[2], "version": names[3]},
        "sequence": sequence, "sealedAt": sealed_at, "values": values, "origins": origins,
    }


NAMES = ("com.example.shop", "1.4.2", "signet", "0.1.0")


def dump(name, plaintext=None, header=None, key_id="vault-2026", names=NAMES, refusal=None,
         nonce=None, change=None):
    root = hashlib.sha256(b"root " + key_id.encode()).digest()
    salt = hashlib.sha256(b"salt " + name.encode()).digest()
    cek, iv, com = keys(root, salt, (key_id,) + tuple(names))
    kid = kid_of(key_id, salt, com, names)
    if plaintext is None:
        plaintext = inside(names)
    if not isinstance(plaintext, str):
        plaintext = json.dumps(plaintext, ensure_ascii=False, separators=(",", ":"))
    members = ('{"alg":"dir","enc":"A256GCM","typ":"signet-dump","cty":"application/json",'
               '"kid":"KID"}') if header is None else header
    protected = b64(members.replace("KID", kid).encode())
    iv = iv if nonce is None else nonce
    sealed = AESGCM(cek).encrypt(iv, plaintext.encode(), protected.encode())
    parts = [protected, "", b64(iv), b64(sealed[:-16]), b64(sealed[-16:])]
    result = {
        "name": name, "root": b64(root), "salt": b64(salt), "keyID": key_id,
        "app": list(names[:2]), "system": list(names[2:]), "contentKey": b64(cek), "kid": kid,
        "plaintext": plaintext,
        "dump": ".".join(change(*parts) if change else parts),
    }
    if refusal:
        result["refusal"] = refusal
    return result


def main():
    good = inside(NAMES)
    without = lambda member: {key: value for key, value in good.items() if key != member}
    base = '"alg":"dir","enc":"A256GCM","typ":"signet-dump","cty":"application/json"'
    accepted = [
        dump("one value"),
        dump("no values", inside(NAMES, values={})),
        dump("other key id", key_id="k"),
        dump("ids and versions beyond ASCII", names=("сom.example.shop", "1.4.2-β", "signet", "é")),
        dump("key id beyond ASCII", key_id="clé e\u0301"),
        dump("long names", names=("a" * 255, "1." * 127 + "1", "b" * 255, "c" * 255)),
        dump("members in another order", header='{"kid":"KID","cty":"application/json",'
             '"typ":"signet-dump","enc":"A256GCM","alg":"dir"}'),
        dump("white space in the header", header="{ " + base.replace(",", ", ") + ', "kid": "KID" }'),
        dump("escapes in the header", header="{" + base.replace("dir", "d\\u0069r") + ',"kid":"KID"}'),
        dump("white space inside", json.dumps(good, indent=2)),
        dump("numbers beyond binary64",
             json.dumps(inside(NAMES, values={"n": 0})).replace('"n": 0', '"n": 1e400')),
        dump("late sequence, offset and fraction",
             inside(NAMES, sequence=9223372036854775807, sealed_at="2026-11-21T05:00:00.25+01:00")),
        dump("100 keys", inside(NAMES, values={f"key.{n}": "v" * n for n in range(100)})),
        dump("origins in another order", inside(
            NAMES, values={"a": 1, "b": 2}, origins={"b": "launch", "a": "fetched"})),
        dump("an origin's name with an escape", json.dumps(good).replace(
            '"orders.host": "defaults"', '"orders\\u002ehost": "defaults"')),
        dump("empty inside strings", inside(NAMES, values={"": ""})),
    ]
    tampered = [
        ("another app version inside", inside(("com.example.shop", "1.4.3") + NAMES[2:])),
        ("another app id inside", inside(("com.example.shop2",) + NAMES[1:])),
        ("another system version inside", inside(NAMES[:3] + ("0.1.1",))),
        ("another system id inside", inside(NAMES[:2] + ("signet2", "0.1.0"))),
        ("sequence 0", inside(NAMES, sequence=0)),
        ("sequence -1", inside(NAMES, sequence=-1)),
        ("sequence 1.0", inside(NAMES, sequence=1.0)),
        ("sequence as text", inside(NAMES, sequence="1")),
        ("sequence beyond 64 bits", inside(NAMES, sequence=9223372036854775808)),
        ("no app", without("app")), ("no system", without("system")),
        ("no sequence", without("sequence")), ("no time", without("sealedAt")),
        ("no values", without("values")), ("no origins", without("origins")),
        ("a member more", {**good, "more": 1}),
        ("a duplicate member", json.dumps(good)[:-1] + ',"sequence":2}'),
        ("a duplicate value", json.dumps(good).replace('"orders.host":', '"orders.host":1,"orders.host":', 1)),
        ("values as array", {**good, "values": []}), ("values null", {**good, "values": None}),
        ("a value without origin", {**good, "origins": {}}),
        ("an origin without value", {**good, "values": {}}),
        ("an origin of another name", {**good, "origins": {"orders.hosT": "defaults"}}),
        ("another set of names", inside(
            NAMES, values={"a": 1, "b": 2}, origins={"a": "launch", "c": "launch"})),
        ("an origin in capitals", {**good, "origins": {"orders.host": "Defaults"}}),
        ("an unknown origin", {**good, "origins": {"orders.host": "default"}}),
        ("an origin that is no text", {**good, "origins": {"orders.host": 1}}),
        ("app with a member more", {**good, "app": {"id": NAMES[0], "version": NAMES[1], "x": 1}}),
        ("app as text", {**good, "app": "com.example.shop"}),
        ("no date", inside(NAMES, sealed_at="")), ("a day that is none", inside(NAMES, sealed_at="2026-02-29T05:00:00Z")),
        ("a time without zone", inside(NAMES, sealed_at="2026-11-21T05:00:00")),
        ("hour 24", inside(NAMES, sealed_at="2026-11-21T24:00:00Z")),
        ("not JSON", "not JSON"), ("empty", ""), ("an array", "[]"), ("a BOM", "\ufeff" + json.dumps(good)),
        ("behind the object", json.dumps(good) + "{}"),
    ]
    header = [
        ("no alg", '{"enc":"A256GCM","typ":"signet-dump","cty":"application/json","kid":"KID"}'),
        ("no enc", '{"alg":"dir","typ":"signet-dump","cty":"application/json","kid":"KID"}'),
        ("no typ", '{"alg":"dir","enc":"A256GCM","cty":"application/json","kid":"KID"}'),
        ("no cty", '{"alg":"dir","enc":"A256GCM","typ":"signet-dump","kid":"KID"}'),
        ("no kid", "{" + base + "}"),
        ("duplicate alg", "{" + base + ',"kid":"KID","alg":"dir"}'),
        ("duplicate kid", "{" + base + ',"kid":"KID","kid":"KID"}'),
        ("duplicate kid by an escape", "{" + base + ',"kid":"KID","k\\u0069d":"KID"}'),
        ("zip", "{" + base + ',"kid":"KID","zip":"DEF"}'),
        ("crit", "{" + base + ',"kid":"KID","crit":["exp"],"exp":1}'),
        ("crit instead of cty", "{" + base.replace("cty", "crit") + ',"kid":"KID"}'),
        ("apu", "{" + base + ',"kid":"KID","apu":"QQ"}'), ("p2c", "{" + base + ',"kid":"KID","p2c":1}'),
        ("jwk", "{" + base + ',"kid":"KID","jwk":{}}'), ("empty name", "{" + base + ',"kid":"KID","":""}'),
        ("alg A256KW", "{" + base.replace('"dir"', '"A256KW"') + ',"kid":"KID"}'),
        ("alg Dir", "{" + base.replace('"dir"', '"Dir"') + ',"kid":"KID"}'),
        ("alg none", "{" + base.replace('"dir"', '"none"') + ',"kid":"KID"}'),
        ("alg in a list", "{" + base.replace('"dir"', '["dir"]') + ',"kid":"KID"}'),
        ("alg null", "{" + base.replace('"dir"', "null") + ',"kid":"KID"}'),
        ("enc A128GCM", "{" + base.replace("A256", "A128") + ',"kid":"KID"}'),
        ("typ JWT", "{" + base.replace("signet-dump", "JWT") + ',"kid":"KID"}'),
        ("cty json", "{" + base.replace("application/json", "json") + ',"kid":"KID"}'),
        ("kid null", "{" + base + ',"kid":null}'), ("kid empty", "{" + base + ',"kid":""}'),
        ("kid with a part more", "{" + base + ',"kid":"KID.QQ"}'),
        ("kid with a part less", "{" + base + ',"kid":"signet1.QQ.QQ.QQ.QQ.QQ.QQ"}'),
        ("kid of signet2", "{" + base + ',"kid":"KID"}'.replace("KID", "signet2.KID")),
        ("kid with padding", "{" + base + ',"kid":"KID="}'),
        ("kid with a space", "{" + base + ',"kid":"KID "}'),
        ("trailing comma", "{" + base + ',"kid":"KID",}'), ("behind the object", "{" + base + ',"kid":"KID"} x'),
        ("an array", "[]"), ("a BOM", "\ufeff{" + base + ',"kid":"KID"}'), ("empty", ""), ("null", "null"),
        ("alg and enc swapped", "{" + base.replace("dir", "X").replace("A256GCM", "dir").replace("X", "A256GCM") + ',"kid":"KID"}'),
        ("p2s and p2c", "{" + base + ',"kid":"KID","p2s":"QUFBQUFBQUE","p2c":100000}'),
        ("apv", "{" + base + ',"kid":"KID","apv":"QQ"}'), ("b64", "{" + base + ',"kid":"KID","b64":true}'),
        ("epk", "{" + base + ',"kid":"KID","epk":{"kty":"OKP","crv":"X25519","x":"QQ"}}'),
        ("iv and tag", "{" + base + ',"kid":"KID","iv":"QUFBQUFBQUFBQUFB","tag":"QUFBQUFBQUFBQUFBQUFBQQ"}'),
        ("encrypted_key", "{" + base + ',"kid":"KID","encrypted_key":""}'),
        ("jku", "{" + base + ',"kid":"KID","jku":"https://example.com/"}'),
        ("zip none", "{" + base + ',"kid":"KID","zip":""}'), ("zip null", "{" + base + ',"kid":"KID","zip":null}'),
        ("zip instead of cty", "{" + base.replace('"cty":"application/json"', '"zip":"DEF"') + ',"kid":"KID"}'),
        ("crit empty", "{" + base + ',"kid":"KID","crit":[]}'),
        ("crit of a known member", "{" + base + ',"kid":"KID","crit":["kid"]}'),
        ("member name in capitals", "{" + base.replace('"enc"', '"ENC"') + ',"kid":"KID"}'),
        ("member name beyond ASCII", "{" + base + ',"kid":"KID","k\u0456d":"KID"}'),
        ("value with a space", "{" + base.replace('"dir"', '"dir "') + ',"kid":"KID"}'),
        ("value with a NUL", "{" + base.replace('"dir"', '"dir\\u0000"') + ',"kid":"KID"}'),
        ("kid as list", "{" + base + ',"kid":["KID"]}'),
        ("kid of two", "{" + base + ',"kid":"KID KID"}'), ("kid as object", "{" + base + ',"kid":{"KID":1}}'),
        ("text in front", 'x{' + base + ',"kid":"KID"}'), ("a comment", "{/**/" + base + ',"kid":"KID"}'),
        ("deep nesting", "{" + base + ',"kid":' + "[" * 600 + "]" * 600 + "}"),
        ("not UTF-8 by escape", "{" + base + ',"kid":"KID","x":"\\ud800"}'),
        ("a member of 7 KiB more", "{" + base + ',"kid":"KID","x":"' + "x" * 7000 + '"}'),
    ]
    # Each of these would hold, could it reach the cipher: OpenSSL takes short tags and long nonces.
    shapes = [(f"a tag of {n} bytes", dict(change=lambda h, k, i, c, t, n=n: (h, k, i, c, b64(unb64(t)[:n]))))
              for n in (0, 1, 4, 8, 12, 13, 14, 15)]
    shapes += [(f"a nonce of {n} bytes", dict(nonce=b"\x07" * n)) for n in (8, 11, 13, 16, 64)]
    shapes += [
        ("an encrypted key", dict(change=lambda h, k, i, c, t: (h, b64(bytes(40)), i, c, t))),
        ("a sixth part", dict(change=lambda h, k, i, c, t: (h, k, i, c, t, ""))),
        ("the encrypted key left out", dict(change=lambda h, k, i, c, t: (h, i, c, t))),
        ("the tag with the ciphertext", dict(change=lambda h, k, i, c, t: (h, k, i, b64(unb64(c) + unb64(t)), ""))),
        ("padding behind the header", dict(change=lambda h, k, i, c, t: (h + "=" * (-len(h) % 4 or 4), k, i, c, t))),
        ("padding behind the tag", dict(change=lambda h, k, i, c, t: (h, k, i, c, t + "=="))),
        ("the other base64", dict(change=lambda h, k, i, c, t: (h, k, i, c + "+/+/", t))),
        ("a line break", dict(change=lambda h, k, i, c, t: (h, k, i, c[:64] + "\n" + c[64:], t))),
        ("a final line break", dict(change=lambda h, k, i, c, t: (h, k, i, c, t + "\n"))),
        ("a space", dict(change=lambda h, k, i, c, t: (h, k, " " + i, c, t))),
    ]
    refused = [dump("inside: " + name, value, refusal="tampered") for name, value in tampered]
    refused += [dump("header: " + name, header=value, refusal="malformed-dump") for name, value in header]
    refused += [dump("shape: " + name, refusal="malformed-dump", **change) for name, change in shapes]
    empty = [("key id", dict(key_id="")), ("app id", dict(names=("", "1", "signet", "1"))),
             ("app version", dict(names=("a", "", "signet", "1"))),
             ("system id", dict(names=("a", "1", "", "1"))), ("system version", dict(names=("a", "1", "signet", ""))),
             ("control character", dict(names=("a\n", "1", "signet", "1"))),
             ("256 bytes", dict(names=("a" * 256, "1", "signet", "1")))]
    refused += [dump("name: " + name, refusal="malformed-dump", **change) for name, change in empty]
    print(json.dumps({
        "source": "Documentation/sealed-dump.md, computed by make-dumps.py with PyPI cryptography",
        "accepted": accepted, "refused": refused}, indent=1, ensure_ascii=False))


main()
