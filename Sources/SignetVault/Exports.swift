// Sealing and opening a dump needs key sets, so importing this module imports theirs too.
@_exported public import SignetCrypto
