// Re-exports SignetCrypto, because key sets are part of this module's interface.
@_exported public import SignetCrypto
