import Foundation
import SignetJSON
import TestSupport
import Testing

@testable import SignetSigning

/// Scheme documents with one or two nodes replaced at random. A document that the reader accepts
/// signs and verifies, or throws an error; nothing traps. `SIGNET_MUTATIONS` sets their number
/// (2,000).
@Suite struct SchemeMutationTests {
    private static let texts = [
        "", "{body}", "{method}", "{target}", "{query}", "{keyid}", "{nonce}", "{time}",
        "{time.ms}",
        "{time.day}", "{signature}", "{secret}", "{host}", "{header.x}", "{headers.lines}",
        "{headers.names}", "{set.tenant}", "{digest}", "{sorted}", "{lifetime}", "a", ",", "&", " ",
        "\n", "{{", "}}", "{", "host", "Host", "*", "x-*", "X-Acme-Time", "hex", "base64", "sha256",
        "md5", "sha512", "whsec", "query", "form", "xml", "pair", "key", "none", "keep", "eu",
        "{keyid} {time} {nonce} {signature}", "{path}{host}", "\u{e9}", "]]>", "rfc9421",
    ]

    private func value(_ random: inout SplitMix, depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0..<(depth > 2 ? 6 : 9), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .number(JSONNumber(random.pick([0, 1, 2, 16, 64, -1, 1 << 40])))
        case 6: return .array((0..<2).map { _ in value(&random, depth: depth + 1) })
        case 7: return [random.pick(Self.members): value(&random, depth: depth + 1)]
        case 8:
            return [
                random.pick(Self.members): value(&random, depth: depth + 1),
                random.pick(Self.members): value(&random, depth: depth + 1),
            ]
        default: return .string(random.pick(Self.texts))
        }
    }

    private static let members = [
        "join", "with", "hash", "of", "as", "path", "parameters", "when", "is", "header", "query",
        "xml", "value", "list", "hmac", "chain", "prefix", "from", "sort", "add", "except",
        "tenant",
        "region", "encode", "skipEmpty", "nonce", "before", "behind", "key",
    ]

    /// The document with one node replaced, removed or doubled.
    private func mutated(_ node: JSONValue, _ random: inout SplitMix) -> JSONValue {
        if var object = node.object, !object.isEmpty, Int.random(in: 0..<8, using: &random) > 0 {
            let name = random.pick(object.memberNames)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: object[name] = JSONValue?.none
            case 1: object[random.pick(Self.members)] = object[name]
            default: object[name] = mutated(object[name] ?? .null, &random)
            }
            return .object(object)
        }
        if var array = node.array, !array.isEmpty, Int.random(in: 0..<8, using: &random) > 0 {
            let index = Int.random(in: 0..<array.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: array.remove(at: index)
            case 1: array.append(array[index])
            case 2: array.swapAt(0, index)
            default: array[index] = mutated(array[index], &random)
            }
            return .array(array)
        }
        return value(&random)
    }

    @Test func signsVerifiablyOrRefuses() throws {
        var random = SplitMix(seed: 5)
        let builtIn = try SigningScheme.names.dropFirst(2).map {
            JSONValue.object(try SigningScheme.Insecure.scheme(named: $0).document)
        }
        let sources = builtIn + SchemeDocumentTests.good.map(\.document)
        let settings = [
            "tenant": "t", "region": "eu", "service": "iam", "mchid": "1", "apiVersion": "v1",
            "methodName": "m",
        ]
        let keys = BuiltInSchemeTests.keys
        let examples = BuiltInSchemeTests.Example.self
        let requests = [examples.form, examples.xml, examples.all[0].text]
        let count =
            ProcessInfo.processInfo.environment["SIGNET_MUTATIONS"].flatMap { Int($0) } ?? 2000
        var accepted = 0
        var signed = 0
        var verified = 0
        for _ in 0..<count {
            var document = mutated(random.pick(sources), &random)
            if Bool.random(using: &random) { document = mutated(document, &random) }
            let scheme: SigningScheme
            do throws(SigningError) {
                scheme = try .Insecure.scheme(document: document.serialized())
            } catch {
                #expect(error.code == .malformedScheme)
                continue
            }
            accepted += 1
            _ = scheme.findings
            guard case .document(let plan) = scheme.kind else { continue }
            var options = MessageSigner.Options()
            options.settings = settings.filter { name, _ in
                plan.settings.contains { $0.name == name }
            }
            var policy = VerificationPolicy()
            policy.settings = options.settings
            var message = try SignableMessage(parsing: Array(random.pick(requests).utf8))
            do throws(SigningError) {
                let isPublic = if case .asymmetric = plan.algorithm { true } else { false }
                let key = keys.keys[isPublic ? 1 : 0]
                _ = try MessageSigner(scheme: scheme, key: key, options: options).sign(
                    &message, now: Sample.now)
            } catch { continue }
            signed += 1
            let verifier = try Verifier(scheme: scheme, keys: keys, policy: policy)
            // A message signed by a contradictory document is refused, not accepted as a different
            // message.
            if code({ _ = try verifier.verify(message, now: Sample.now) }) == "no error" {
                verified += 1
                #expect(verifier.explain(message, now: Sample.now).base != nil)
            }
        }
        #expect(verified * 100 >= signed * 98, "\(verified) of \(signed)")
        #expect(accepted > count / 50 && signed > count / 100, "\(accepted) \(signed)")
    }
}
