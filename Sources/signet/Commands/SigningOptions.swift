import ArgumentParser
import SignetCrypto
import SignetJSON
import SignetSigning

extension SigningError: CodedError {
    var codeName: String { code.name }
}

/// What `sign` and `verify` both take.
struct SigningOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How it is signed: a name of `signet schemes list`, or a scheme's document.",
            valueName: "name|file"))
    var scheme: String

    @Flag(help: "Take a scheme that signs with MD5 or SHA-1.")
    var insecureSchemeOk = false

    @Option(help: "The keys: FILE, env:NAME, fd:N, command:LINE or credential:NAME.")
    var keys: String

    @Option(
        help: ArgumentHelp("What the scheme must know besides.", valueName: "name=value"))
    var set: [String] = []

    @Flag(name: .customLong("plain-http"), help: "The request travels without TLS.")
    var plainHTTP = false

    @Argument(help: "The message as HTTP/1.1 text; - or nothing is standard input.")
    var file: String?

    /// The scheme: built in by its name, else of a file.
    func resolvedScheme() throws -> SigningScheme {
        if SigningScheme.names.contains(where: { $0.utf8.elementsEqual(scheme.utf8) }) {
            return insecureSchemeOk
                ? try .insecure.scheme(named: scheme) : try SigningScheme(named: scheme)
        }
        guard scheme.contains("/") || scheme.contains(".") else {
            return try SigningScheme(named: scheme)
        }
        return try SigningScheme(file: scheme, insecure: insecureSchemeOk)
    }

    /// What `--set` gives, each name once.
    func settings() throws -> [String: String] {
        var settings: [String: String] = [:]
        for entry in set {
            guard let equals = entry.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw ToolError.usage("--set wants NAME=VALUE")
            }
            let name = String(entry[..<equals])
            guard settings[name] == nil else {
                throw ToolError.usage("--set \(Terminal.printable(name)) is given twice")
            }
            settings[name] = String(entry[entry.utf8.index(after: equals)...])
        }
        return settings
    }

    func loadKeys() throws -> KeySet { try KeySource(keys).load() }

    func message() throws -> SignableMessage {
        try SignableMessage(file: file, plainHTTP: plainHTTP)
    }
}

extension SigningScheme {
    /// Reads a scheme's document; an error names the file.
    init(file: String, insecure: Bool) throws {
        let document = try InputFile.read(file, limit: 1 << 20)
        do throws(SigningError) {
            self =
                insecure
                ? try .insecure.scheme(document: document) : try SigningScheme(document: document)
        } catch {
            throw SigningError(error.code, "\(Terminal.printable(file)): \(error.message)")
        }
    }
}

extension SignableMessage {
    /// Reads a message from a file or standard input; an error names the file.
    init(file: String?, plainHTTP: Bool) throws {
        let text = try InputFile.read(file)
        do {
            try self.init(parsing: text, plainHTTP: plainHTTP)
        } catch {
            let shown = file.flatMap { $0 == "-" ? nil : $0 } ?? "standard input"
            throw SigningError(error.code, "\(Terminal.printable(shown)): \(error.message)")
        }
    }
}

/// A number of seconds that an option gives.
func seconds(_ value: Int64?, _ option: String) throws -> Int64? {
    if let value, value < 0 { throw ToolError.usage("\(option) must not be negative") }
    return value
}
