// Re-exports the modules whose types are part of this module's interface.
@_exported public import HTTPTypes
@_exported public import SignetCache
@_exported public import SignetCrypto
@_exported public import SignetJSON
@_exported public import SignetPinning
@_exported public import SignetRPC
@_exported public import SignetSigning
@_exported public import SignetTransport
@_exported public import SignetVault
