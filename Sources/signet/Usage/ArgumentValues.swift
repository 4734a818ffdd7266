#if Tool
public import ArgumentParser
public import SignetClient
public import SignetCrypto
public import SignetPinFormats
public import SignetSigning
package import SignetVault

// Options whose values are names of the modules. The parser lists the names in an error, and the
// completion scripts offer them.

extension CryptoKey.Kind: ExpressibleByArgument {
    /// Reads a name.
    public init?(argument: String) { self.init(name: argument) }

    /// The names.
    public static var allValueStrings: [String] { all.map(\.name) }

    /// The names.
    public static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension ImportedKey.Encoding: ExpressibleByArgument {}

extension CacheMode: ExpressibleByArgument {}

extension PinFormat: ExpressibleByArgument {
    /// Reads a name.
    public init?(argument: String) { self.init(name: argument) }

    /// The names.
    public static var allValueStrings: [String] { all.map(\.name) }

    /// The names.
    public static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension HTTPSignatureAlgorithm: ExpressibleByArgument {
    /// Reads a name.
    public init?(argument: String) { self.init(name: argument) }

    /// The names.
    public static var allValueStrings: [String] { all.map(\.name) }

    /// The names.
    public static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension ServiceConfiguration.PayloadProtocol: ExpressibleByArgument {}

extension ValueType: ExpressibleByArgument {}
#endif
