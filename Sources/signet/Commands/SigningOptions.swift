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
        help: "How it is signed: \(SigningScheme.all.map(\.name).joined(separator: " or ")).")
    var scheme: String

    @Option(help: "The keys: FILE, env:NAME, fd:N, command:LINE or credential:NAME.")
    var keys: String

    @Option(
        help: ArgumentHelp("What the scheme must know besides.", valueName: "name=value"))
    var set: [String] = []

    @Flag(name: .customLong("plain-http"), help: "The request travels without TLS.")
    var plainHTTP = false

    @Argument(help: "The message as HTTP/1.1 text; - or nothing is standard input.")
    var file: String?

    /// The scheme, if it exists and takes every `--set`.
    func resolvedScheme() throws -> SigningScheme {
        let scheme = try SigningScheme(named: scheme)
        for entry in set {
            guard let equals = entry.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw ToolError.usage("--set wants NAME=VALUE")
            }
            throw ToolError.usage(
                "--set \(Terminal.printable(String(entry[..<equals]))): \(scheme.name) takes no "
                    + "such value")
        }
        return scheme
    }

    func loadKeys() throws -> KeySet { try KeySource(keys).load() }

    func message() throws -> SignableMessage {
        try SignableMessage(file: file, plainHTTP: plainHTTP)
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
