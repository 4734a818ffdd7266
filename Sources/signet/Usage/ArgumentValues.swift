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

extension CryptoKey.Kind {
    /// The values of `alg` that keys can have, each once, for completion.
    static var allAlgorithms: [String] {
        let names = all.flatMap { kind in ["sig", "enc"].flatMap { kind.algorithms(use: $0) } }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }
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
