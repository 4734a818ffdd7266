#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSigning

/// `signet sign`: a message, and its signed form, its new fields or the signed bytes.
struct SignCommand: ParsableCommand {
    /// The part that is printed.
    enum Show: String, ExpressibleByArgument, CaseIterable {
        case message, headers, base
    }

    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign an HTTP message.",
        discussion: """
            Without --covers, rfc9421 covers @method, @authority and @path, also @query if the \
            target has one and content-digest if there is a body (a response: @status, and \
            content-digest with a body). salted-hmac-v1 always covers all of these; --covers adds \
            fields. A covered Content-Digest that is missing is added.

            --covers takes the identifiers of RFC 9421, those with parameters in quotes: --covers \
            '@method,"@query-param";name="q","cache-status";sf'. The key's own alg is the \
            algorithm. --show base prints exactly the bytes signed; their parts are printed with \
            names on standard error, and with --json in "parts".
            """,
        examples: [
            "signet sign --scheme rfc9421 --keys keys request > signed.http",
            "signet sign --scheme rfc9421 -k keys --show headers < request",
        ])

    @OptionGroup var signing: SigningOptions

    @Option(
        parsing: .unconditional, help: "The key's id; needed if the set has several signing keys.")
    var keyID: String?

    @Option(help: ArgumentHelp("The time of signing (now).", valueName: "unix"))
    var time: Int64?

    @Option(parsing: .unconditional, help: "A text that no other signature has.")
    var nonce: String?

    @Option(help: "The covered components, a comma list; --covers= is the empty list.")
    var covers: String?

    @Option(help: "The signature's label (sig1).")
    var label: String?

    @Option(help: ArgumentHelp("The end of the signature's validity.", valueName: "unix"))
    var expires: Int64?

    @Option(
        help: ArgumentHelp(
            """
            Sign as the Accept-Signature of this message asks: label, components and parameters. \
            If it asks for several signatures, --label chooses.
            """, valueName: "file"), completion: .file())
    var answer: String?

    @Option(help: "Print the whole message, the fields added, or the bytes signed.")
    var show = Show.message

    @OptionGroup var common: CommonOptions

    func run() throws {
        let scheme = try signing.resolvedScheme()
        var options = MessageSigner.Options()
        options.coveredComponents = try covers.map { try ComponentIdentifier.list(parsing: $0) }
        options.label = label
        options.tag = signing.options.tag
        let settings = try signing.settings(of: scheme)
        options.settings = settings.values
        options.fieldTypes = settings.fieldTypes
        if let answer {
            options.acceptSignature = try request(in: answer)
            options.label = nil
        }
        let now = try unixTime(time, of: "--time") ?? UnixTime.now()
        let signer = try MessageSigner(scheme: scheme, key: key(), options: options)
        common.terminal.awaitInput("a message", from: signing.file)
        var message = try signing.message()
        if let file = signing.body { common.terminal.awaitInput("a body", from: file) }
        var body = try signing.openedBody(of: message)
        let writesBody = show == .message && !common.json
        if body != nil {
            guard !writesBody || body?.isRepeatable == true else {
                throw ToolError.usage(
                    "--body: found a pipe, which cannot be read twice, expected a file or --show headers"
                )
            }
            // The digests with which the written body is compared.
            let algorithms = signer.bodyDigests(for: message).union([.sha256])
            if let digests = try body?.digest(algorithms) { message.setBody(digests) }
        }
        let result = try signer.sign(
            &message, now: now, expiration: try unixTime(expires, of: "--expires"), nonce: nonce)
        if show == .base {
            common.terminal.show(
                result.parts.flatMap { part in
                    part.lines.enumerated().map { $0 == 0 ? "part \($1)" : $1 }
                })
        }
        try common.terminal.result(
            object(message, signedAs: result),
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
        if writesBody { try body?.write(to: common.terminal) }
    }

    private func key() throws -> CryptoKey {
        let keys = try signing.loadKeys(notingOn: common.terminal)
        return try keyID.map { try keys.key(id: $0) } ?? keys.onlySigningKey()
    }

    /// The one signature that a message's Accept-Signature asks for, or the one of `--label`.
    private func request(in file: String) throws -> AcceptSignature {
        let shown = Terminal.printable(file)
        do {
            let all = try AcceptSignature.all(
                in: SignableMessage(file: file, plainHTTP: signing.plainHTTP))
            let chosen = all.filter { label == nil || $0.label == label }
            guard let request = chosen.first, chosen.count == 1 else {
                throw SigningError(
                    .unanswerableRequest,
                    "it asks for \(all.count) signatures: "
                        + (all.isEmpty ? "expected an Accept-Signature" : "choose one by --label"))
            }
            return request
        } catch let error as SigningError where error.code != .malformedMessage {
            throw SigningError(error.code, "\(shown): \(error.message)")
        }
    }

    private func object(_ message: SignableMessage, signedAs result: MessageSigner.Result)
        -> JSONObject
    {
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
        // If only the body's digests are known, print the head alone.
        case .message where message.bodyDigests != nil:
            object.setText("head", to: message.serialized())
        case .message: object.setText("message", to: message.serialized())
        case .base:
            object.setText("base", to: result.base)
            object["parts"] = .array(result.parts.map(\.json))
        case .headers: break
        }
        return object
    }
}
#endif
