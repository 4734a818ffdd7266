// Whoever seals or opens a dump needs key sets; they need not import their module.
@_exported public import SignetCrypto
