#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSystem

/// `signet keys list`: the keys of a file, without their secrets.
struct KeysListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the keys of a file: id, type, algorithm, thumbprint.",
        discussion: """
            A thumbprint (RFC 7638, SHA-256) shows whether two sides have the same key: a pair and \
            its public half have the same thumbprint. Shared secrets have none, because it would \
            be a hash of the secret, from which a weak secret could be guessed.
            """,
        examples: ["signet keys list keys"])

    @Argument(
        help: "The key file; - or nothing is standard input.", completion: .file())
    var file: String?

    @OptionGroup var identity: IdentityOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        let terminal = common.terminal
        let keys = try KeySet(fileOrInput: file, identity: identity, on: terminal)
        for key in keys.keys {
            guard let count = key.shortHMACByteCount else { continue }
            terminal.note(
                "the key \(Terminal.printable(key.id)) has \(count) bytes: rfc9421 and"
                    + " salted-hmac-v1 refuse HMAC keys of fewer than \(CryptoKey.minimumHMACByteCount)"
            )
        }
        try terminal.result(
            ["keys": .array(keys.keys.map { .object($0.listed) })],
            lines: terminal.isForPeople
                ? table(keys).lines(colored: terminal.allowsColor) : lines(keys))
    }

    private func lines(_ keys: KeySet) -> [String] {
        keys.keys.map { key in
            let thumbprint = key.shownThumbprint ?? "-"
            let state = (key.isRevoked ? " revoked" : "") + (key.isTooShort ? " too-short" : "")
            return Terminal.printable(
                "\(key.id) \(key.kind.name) \(key.algorithm ?? "-") \(thumbprint)\(state)")
        }
    }

    private func table(_ keys: KeySet) -> Table {
        let now = UnixTime.now()
        var table = Table("ID", "TYPE", "ALGORITHM", "HALF", "UNTIL", "STATE", "THUMBPRINT")
        for key in keys.keys {
            let state: (text: String, tone: Table.Tone) =
                if key.isRevoked {
                    ("revoked", .bad)
                } else if key.isTooShort {
                    ("too short", .warning)
                } else if let end = key.expires, end <= now {
                    ("expired", .bad)
                } else if let start = key.notBefore, start > now {
                    ("not yet valid", .warning)
                } else {
                    ("usable", .good)
                }
            table.add([
                (key.id, .plain), (key.kind.name, .plain), (key.algorithm ?? "-", .plain),
                (key.isPrivate ? "private" : "public", .plain),
                Table.until(key.expires, now: now), state, (key.shownThumbprint ?? "-", .plain),
            ])
        }
        return table
    }
}

extension CryptoKey {
    /// The thumbprint, unless it would be a hash of a secret.
    var shownThumbprint: String? { publicHalf == nil ? nil : thumbprint }

    fileprivate var isTooShort: Bool { shortHMACByteCount != nil }

    fileprivate var listed: JSONObject {
        var object: JSONObject = ["id": .string(id), "type": .string(kind.name)]
        object["alg"] = algorithm.map(JSONValue.string)
        object["thumbprint"] = shownThumbprint.map(JSONValue.string)
        object["private"] = .bool(isPrivate)
        object["nbf"] = notBefore.map { .number(JSONNumber($0)) }
        object["exp"] = expires.map { .number(JSONNumber($0)) }
        if isRevoked { object["revoked"] = true }
        if isTooShort { object["tooShort"] = true }
        return object
    }
}

extension KeySet {
    /// Reads the keys of a source, or of standard input.
    init(
        fileOrInput file: String?, identity: IdentityOptions, on terminal: Terminal
    ) throws {
        if let file, file != "-" {
            self = try identity.load(file, notingOn: terminal)
        } else {
            terminal.awaitInput("a JWK Set", from: file)
            self = try KeySet(
                parsing: InputFile.read(nil, limit: KeySet.maximumByteCount),
                source: "standard input")
        }
    }
}
#endif
