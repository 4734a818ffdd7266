// Re-exports SignetCrypto, because keys are part of this module's interface.
@_exported public import SignetCrypto
