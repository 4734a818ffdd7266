import ArgumentParser
import SignetCrypto
import SignetJSON
import SignetSigning

/// `signet sign`: a message in, the signed message, its new fields or the bytes signed out.
struct SignCommand: ParsableCommand {
    /// What is printed.
    enum Show: String, ExpressibleByArgument, CaseIterable {
        case message, headers, base
    }

    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign an HTTP message.",
        discussion: """
            Without --covers, rfc9421 covers @method, @authority and @path, also @query where the \
            target has one and content-digest where there is a body (a response: @status, and \
            content-digest with a body). salted-hmac-v1 always covers all of these; --covers names \
            the fields it covers too. A covered Content-Digest that is absent is made.
            """)

    @OptionGroup var signing: SigningOptions

    @Option(help: "The key's id; may be left out where the set has one signing key.")
    var keyID: String?

    @Option(help: ArgumentHelp("When it is signed (now).", valueName: "unix"))
    var time: Int64?

    @Option(help: "What makes the signature unlike all others.")
    var nonce: String?

    @Option(help: "What is covered: a comma list of components; --covers= is the empty list.")
    var covers: String?

    @Option(help: "The signature's label (sig1).")
    var label: String?

    @Option(help: ArgumentHelp("When the signature ends.", valueName: "unix"))
    var expires: Int64?

    @Option(help: "What the signature is for.")
    var tag: String?

    @Option(help: "Print the whole message, the fields added, or the bytes signed.")
    var show = Show.message

    @OptionGroup var common: CommonOptions

    func run() throws {
        let scheme = try signing.resolvedScheme()
        var options = MessageSigner.Options()
        options.covers = try covers.map { try ComponentIdentifier.list(parsing: $0) }
        options.label = label
        options.tag = tag
        options.settings = try signing.settings()
        let now = try seconds(time, "--time") ?? UnixTime.now()
        let signer = try MessageSigner(scheme: scheme, key: key(), options: options)
        var message = try signing.message()
        let result = try signer.sign(
            &message, now: now, expires: try seconds(expires, "--expires"), nonce: nonce)
        try common.terminal.result(
            object(message, result),
            text: {
                switch show {
                case .message: message.serialized()
                case .headers:
                    result.addedFields.flatMap { field in
                        Array("\(field.name): ".utf8) + field.value + [UInt8(ascii: "\n")]
                    }
                case .base: result.base
                }
            }())
    }

    private func key() throws -> Key {
        let keys = try signing.loadKeys()
        return try keyID.map { try keys.key(id: $0) } ?? keys.onlySigningKey()
    }

    private func object(_ message: SignableMessage, _ result: MessageSigner.Result) -> JSONObject {
        var object: JSONObject = [
            "headers": .array(
                result.addedFields.map { field in
                    .object([
                        "name": .string(field.name),
                        "value": .string(String(decoding: field.value, as: UTF8.self)),
                    ])
                })
        ]
        switch show {
        case .message: object.setText("message", message.serialized())
        case .base: object.setText("base", result.base)
        case .headers: break
        }
        return object
    }
}

extension JSONObject {
    /// Adds bytes as text, or as `nameBase64` where they are not UTF-8.
    fileprivate mutating func setText(_ name: String, _ bytes: [UInt8]) {
        if let text = String(validating: bytes, as: UTF8.self) {
            self[name] = .string(text)
        } else {
            self[name + "Base64"] = .string(Base64.encode(bytes, .standard))
        }
    }
}
