"""Seals and opens dumps as Documentation/sealed-dump.md says, without Signet's code: HKDF and the kid by hand,
scrypt by hashlib, AES-256-GCM by cryptography; what is opened goes through joserfc.

Reads one JSON object on standard input and prints one:
    {"do":"seal","keyID","names":[appID,appVersion,systemID,systemVersion],"values","origins",
     "root" (base64url) or "passphrase"}  ->  {"dump"}
    {"do":"open","dump","root" or "passphrase"}  ->  {"plaintext"}, or {"refused"}
"""
import base64, hashlib, hmac, json, os, sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from joserfc import jwe
from joserfc.jwk import OctKey

LABEL = b"signet1 dump dir+A256GCM\x00"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def root_of(order, salt):
    if "passphrase" not in order:
        return unb64(order["root"])
    return hashlib.scrypt(order["passphrase"].encode(), salt=salt, n=1 << 17, r=8, p=1,
                          maxmem=256 << 20, dklen=32)


def keys_of(root, salt, names):
    extracted = hmac.new(salt, root, hashlib.sha256).digest()
    info = LABEL
    for name in names:
        info += len(name.encode()).to_bytes(4, "big") + name.encode()
    expanded = block = b""
    for number in (1, 2, 3):
        block = hmac.new(extracted, block + info + bytes([number]), hashlib.sha256).digest()
        expanded += block
    return expanded[:32], expanded[32:44], expanded[44:76]


def seal(order):
    salt = os.urandom(32)
    key_id, names = order["keyID"], order["names"]
    key, nonce, commitment = keys_of(root_of(order, salt), salt, [key_id] + names)
    scheme = "signet1p" if "passphrase" in order else "signet1"
    parts = [key_id.encode(), salt, commitment] + [name.encode() for name in names]
    header = {"alg": "dir", "enc": "A256GCM", "typ": "signet-dump", "cty": "application/json",
              "kid": ".".join([scheme] + [b64(part) for part in parts])}
    inside = {"app": {"id": names[0], "version": names[1]},
              "system": {"id": names[2], "version": names[3]}, "sequence": 1,
              "sealedAt": "2026-11-21T05:00:00Z", "values": order["values"],
              "origins": order["origins"]}
    protected = b64(json.dumps(header, separators=(",", ":")).encode())
    sealed = AESGCM(key).encrypt(nonce, json.dumps(inside).encode(), protected.encode())
    return {"dump": ".".join([protected, "", b64(nonce), b64(sealed[:-16]), b64(sealed[-16:])])}


def open_(order):
    header = json.loads(unb64(order["dump"].split(".")[0]))
    scheme, *parts = header["kid"].split(".")
    key_id, salt, commitment, *names = map(unb64, parts)
    names = [name.decode() for name in [key_id] + names]
    key, nonce, wanted = keys_of(root_of(order, salt), salt, names)
    if scheme != ("signet1p" if "passphrase" in order else "signet1"):
        return {"refused": "scheme"}
    if not hmac.compare_digest(commitment, wanted):
        return {"refused": "commitment"}
    if unb64(order["dump"].split(".")[2]) != nonce:
        return {"refused": "nonce"}
    found = jwe.decrypt_compact(order["dump"], OctKey.import_key(key), algorithms=["dir", "A256GCM"])
    return {"plaintext": found.plaintext.decode()}


order = json.load(sys.stdin)
json.dump(seal(order) if order["do"] == "seal" else open_(order), sys.stdout, ensure_ascii=False)
