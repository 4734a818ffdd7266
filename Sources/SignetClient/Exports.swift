// What a program needs to speak to the system comes with one import.
@_exported public import HTTPTypes
@_exported public import SignetCrypto
@_exported public import SignetJSON
@_exported public import SignetPinning
@_exported public import SignetRPC
@_exported public import SignetTransport
@_exported public import SignetVault
