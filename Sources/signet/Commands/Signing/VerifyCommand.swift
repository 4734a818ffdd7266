#if Tool
import ArgumentParser
import SignetBase
import SignetCrypto
import SignetJSON
import SignetSigning

/// `signet verify`: a signed message, and what its signature proves.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify a signed HTTP message.",
        discussion: """
            Prints exactly what the signature covers. Exit 1 if policy, key, time or signature \
            fails; the reason is printed only with --explain, because the sender of the message \
            must not learn it. --explain also prints, on standard error and in "explanation" with \
            --json, the computed base and each of its parts by name, so that two sides can be \
            compared; it shows no key and no MAC. Exit 2 if the message or its signature cannot be \
            read.
            """,
        examples: [
            "signet verify --scheme rfc9421 --keys partner-keys --nonces seen signed",
            "signet verify --scheme rfc9421 -k partner-keys --explain < signed",
        ])

    @OptionGroup var signing: SigningOptions

    @Option(help: ArgumentHelp("The time of verification (now).", valueName: "unix"))
    var now: Int64?

    @Option(
        help: """
            The components that must be covered, a comma list. Without it @method, @authority, \
            @path, also @query if the target has one and content-digest with a body (a response: @status, and \
            content-digest with a body); @target-uri and @request-target count as their parts. For \
            salted-hmac-v1 the fields.
            """)
    var covers: String?

    @Option(help: ArgumentHelp("The highest age of the signature.", valueName: "seconds"))
    var maxAge: Int64 = 300

    @Option(
        help: ArgumentHelp(
            "The accepted clock difference: how far a signature's time may be in the future.",
            valueName: "seconds"))
    var clockSkew: Int64 = 60

    @OptionGroup var nonces: NonceOptions

    @Option(
        help: ArgumentHelp(
            "An accepted algorithm (rfc9421); may be repeated. Without it, all six are.",
            valueName: "name"))
    var algorithm: [HTTPSignatureAlgorithm] = []

    @Flag(
        name: [.customShort("v"), .long],
        help: "Print why a message is not verified, and what was computed.")
    var explain = false

    @OptionGroup var common: CommonOptions

    func run() throws {
        let scheme = try signing.resolvedScheme()
        var policy = VerificationPolicy()
        policy.coveredComponents = try covers.map { try ComponentIdentifier.list(parsing: $0) }
        policy.tag = signing.options.tag
        let settings = try signing.settings(of: scheme)
        policy.settings = settings.values
        policy.fieldTypes = settings.fieldTypes
        policy.maximumAge = try seconds(maxAge, of: "--max-age") ?? 300
        policy.clockSkew = try seconds(clockSkew, of: "--clock-skew") ?? 60
        policy.algorithms = algorithm.isEmpty ? nil : Set(algorithm)
        let now = try unixTime(now, of: "--now") ?? UnixTime.now()
        let verifier = try Verifier(
            scheme: scheme, keys: signing.loadKeys(notingOn: common.terminal), policy: policy,
            nonces: nonces.store())
        common.terminal.awaitInput("a message", from: signing.file)
        var message = try signing.message()
        if let file = signing.body { common.terminal.awaitInput("a body", from: file) }
        var body = try signing.openedBody(of: message)
        let verified: VerifiedMessage
        do {
            if body == nil {
                verified = try verifier.verify(message, now: now)
            } else {
                verified = try verify(message, with: &body, by: verifier, now: now)
            }
        } catch let error as SigningError {
            if explain, body?.isRepeatable == true {
                try body?.rewind()
                if let digests = try body?.digest(Set(BodyDigest.allCases)) {
                    message.setBody(digests)
                }
            }
            let isKnown = body == nil || message.bodyDigests != nil
            throw failure(
                error, explanation: explain && isKnown ? verifier.explain(message, now: now) : nil)
        }
        try common.terminal.result(object(verified), lines: lines(verified))
    }

    /// Verifies a head, then its body, piece by piece.
    private func verify(
        _ message: SignableMessage, with body: inout BodyFile?, by verifier: Verifier, now: Int64
    ) throws -> VerifiedMessage {
        var head = message
        let trailers = head.removeTrailers()
        var stream = try verifier.startVerifying(head, now: now)
        try body?.feed(&stream)
        return try stream.finish(trailers: trailers, now: now)
    }

    /// Returns one message for every refusal. A file that cannot be used is named.
    private func failure(
        _ error: SigningError, explanation: Explanation?
    ) -> ToolError {
        if error.isSyntax || error.isVerifierFailure
            || [.invalidTime, .bodyNotHeld].contains(error.code)
        {
            return ToolError(error.code, error.message)
        }
        guard explain else {
            return ToolError(.notVerified, SigningError.publicMessage + "; --explain says why")
        }
        var failure = ToolError(error.code, "not verified: \(error.message)")
        // Every other error refuses the message, also one that is wrong usage of `sign`.
        failure.status = .refused
        if let explanation {
            common.terminal.show(Array(explanation.lines.dropFirst()))
            failure.details = ["explanation": .object(object(explanation))]
        }
        return failure
    }

    private func object(_ explanation: Explanation) -> JSONObject {
        var object: JSONObject = [:]
        if let base = explanation.base { object.setText("base", to: base) }
        object["parts"] = .array(explanation.parts.map(\.json))
        return object
    }

    private func object(_ verified: VerifiedMessage) -> JSONObject {
        var covered: JSONObject = [:]
        for component in verified.covered {
            covered[component.identifier] = .string(
                String(decoding: component.value, as: UTF8.self))
        }
        var object: JSONObject = ["verified": true, "keyid": .string(verified.keyID)]
        object["created"] = verified.created.map { .number(JSONNumber($0)) }
        object["covered"] = .object(covered)
        return object
    }

    private func lines(_ verified: VerifiedMessage) -> [String] {
        [
            "verified: key \(Terminal.printable(verified.keyID))"
                + (verified.created.map { ", signed at \(UnixTime.rfc3339($0))" } ?? "")
        ]
            + verified.covered.map(\.line)
    }
}
#endif
