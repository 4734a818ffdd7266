import Foundation
import SignetCrypto
import SignetJSON
import SignetSigning
import TestSupport

extension SplitMix {
    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: 0..<choices.count, using: &self)]
    }

    mutating func text(of characters: String, _ count: ClosedRange<Int>) -> String {
        let characters = Array(characters)
        return String(
            (0..<Int.random(in: count, using: &self)).map { _ in pick(characters) })
    }

    mutating func bytes(_ count: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: count, using: &self)).map { _ in
            UInt8.random(in: .min ... .max, using: &self)
        }
    }
}

/// Bytes that are base64 in JSON. (What `Data` holds, LeakSanitizer takes for lost: its pointer is
/// kept beside the number of a case, in one word.)
@propertyWrapper struct Base64Coded: Codable, Sendable {
    var wrappedValue: [UInt8]

    init(wrappedValue: [UInt8]) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) throws {
        wrappedValue = [UInt8](try decoder.singleValueContainer().decode(Data.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Data(wrappedValue))
    }
}

/// A request in a form that both a partner's library and this one accept.
struct PartnerRequest: Codable, Sendable {
    struct Field: Codable, Sendable {
        var name: String
        var value: String
    }

    /// The partner's way to sign it, if there are several.
    var way = ""
    var method = "POST"
    var target = "/"
    var host = "api.example.com"
    var fields: [Field] = []
    @Base64Coded var body: [UInt8] = []
    /// Further values for a script.
    var other: [String: String] = [:]

    /// Enough to know it by when a test fails.
    var summary: String { "\(way) \(method) \(target), \(body.count) bytes" }

    func message() throws -> SignableMessage {
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n"
            + fields.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
        return try SignableMessage(parsing: Array(head.utf8) + body)
    }

    subscript(name: String) -> String? {
        get { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            fields.removeAll { $0.name.lowercased() == name.lowercased() }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }
}

extension SignableMessage {
    /// The value of the one field of a name.
    func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }.map { text($0.value) }
    }
}

/// Partners and their shared keys.
enum Partner {
    /// Asks a partner's library, in one process: the script reads all requests and answers in
    /// order.
    static func ask<Question: Encodable, Answer: Decodable>(
        _ peer: String, _ question: Question
    ) async throws -> Answer {
        let input = Array(try JSONEncoder().encode(question))
        let output = try await PythonPeer.run(peer, stdin: input)
        guard output.exit == 0 else { throw TestSupportError(output.stderr) }
        return try JSONDecoder().decode(Answer.self, from: Data(output.stdout))
    }

    static func keys(_ secrets: [(id: String, secret: String)]) throws -> KeySet {
        try Sample.keySet(
            secrets.map { Sample.jwk($0.id, #""use":"sig""#, Array($0.secret.utf8)) })
    }

    static func signer(
        _ scheme: String, _ keys: KeySet, _ settings: [String: String] = [:]
    ) throws -> MessageSigner {
        var options = MessageSigner.Options()
        options.settings = settings
        return try MessageSigner(
            scheme: SigningScheme(named: scheme), key: keys.keys[0], options: options)
    }

    static func verifier(
        _ scheme: String, _ keys: KeySet, _ settings: [String: String] = [:],
        nonces: (any NonceStore)? = nil
    ) throws -> Verifier {
        var policy = VerificationPolicy()
        policy.settings = settings
        return try Verifier(
            scheme: SigningScheme(named: scheme), keys: keys, policy: policy, nonces: nonces)
    }

    /// Why a message is refused, or "no error".
    static func reason(
        _ verifier: Verifier, _ message: SignableMessage, at now: Int64 = Sample.now
    ) -> String {
        code { _ = try verifier.verify(message, now: now) }
    }
}
