import ArgumentParser
internal import SignetBase
import SignetCrypto
import SignetJSON
import SignetSigning

/// `signet verify`: a signed message in, what its signature proves out.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify a signed HTTP message.",
        discussion: """
            Prints exactly what the signature covers. Exit 1 when policy, key, time or signature \
            says no; the reason is told with --explain alone, because whoever sent the message \
            must not learn it. --explain also prints, on standard error and in "explanation" with \
            --json, the base that was computed and each part of it by name, so that two sides can be \
            compared; no key and no MAC is shown. Exit 2 when the message or its signature cannot be read.
            """)

    @OptionGroup var signing: SigningOptions

    @Option(help: ArgumentHelp("The time at which it is verified (now).", valueName: "unix"))
    var now: Int64?

    @Option(
        help: """
            What must be covered: a comma list. Without it @method, @authority, @path, also @query \
            if the target has one and content-digest with a body (a response: @status, and \
            content-digest with a body); @target-uri and @request-target count as their parts. For \
            salted-hmac-v1 the fields besides.
            """)
    var covers: String?

    @Option(help: ArgumentHelp("How old it may be.", valueName: "seconds"))
    var maxAge: Int64 = 300

    @Option(help: ArgumentHelp("How far ahead of now it may be.", valueName: "seconds"))
    var clockSkew: Int64 = 60

    @OptionGroup var nonces: NonceOptions

    @Option(
        help: ArgumentHelp(
            "The algorithm that is taken (rfc9421); may be given again. Without it all six.",
            valueName: "name"))
    var algorithm: [String] = []

    @Flag(help: "Say why a message is not verified, and what was computed.")
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
        policy.maximumAge = try seconds(maxAge, "--max-age") ?? 300
        policy.clockSkew = try seconds(clockSkew, "--clock-skew") ?? 60
        policy.algorithms = try algorithms()
        let now = try unixTime(now, "--now") ?? UnixTime.now()
        let verifier = try Verifier(
            scheme: scheme, keys: signing.loadKeys(), policy: policy,
            nonces: nonces.store())
        var message = try signing.message()
        var body = try signing.openedBody(of: message)
        let verified: VerifiedMessage
        do {
            if body == nil {
                verified = try verifier.verify(message, now: now)
            } else {
                verified = try verify(message, &body, verifier, now: now)
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
                error, explain && isKnown ? verifier.explain(message, now: now) : nil)
        }
        try common.terminal.result(object(verified), lines: lines(verified))
    }

    /// Verifies a head, then its body, piece by piece.
    private func verify(
        _ message: SignableMessage, _ body: inout BodyFile?, _ verifier: Verifier, now: Int64
    ) throws -> VerifiedMessage {
        var head = message
        let trailers = head.removeTrailers()
        var stream = try verifier.startVerifying(head, now: now)
        try body?.feed(&stream)
        return try stream.finish(trailers: trailers, now: now)
    }

    /// One answer for every refusal; what is no refusal but a file that cannot be used is named.
    private func failure(_ error: SigningError, _ explanation: Explanation?) -> ToolError {
        if error.isSyntax || error.isOwnFailure
            || [.invalidTime, .bodyNotHeld].contains(error.code)
        {
            return ToolError(error.errorCode, error.message)
        }
        guard explain else { return ToolError(.notVerified, SigningError.publicMessage) }
        var failure = ToolError(error.errorCode, "not verified: \(error.message)")
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
        if let base = explanation.base { object.setText("base", base) }
        object["parts"] = .array(explanation.parts.map(\.json))
        return object
    }

    private func algorithms() throws -> Set<HTTPSignatureAlgorithm>? {
        guard !algorithm.isEmpty else { return nil }
        return Set(
            try algorithm.map { name in
                guard let algorithm = HTTPSignatureAlgorithm(name: name) else {
                    throw ToolError.usage(
                        "--algorithm wants one of "
                            + HTTPSignatureAlgorithm.all.map(\.name).joined(separator: ", "))
                }
                return algorithm
            })
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
