// Signers and verifiers need keys, so that their users get the key types with this module.
@_exported public import SignetCrypto
