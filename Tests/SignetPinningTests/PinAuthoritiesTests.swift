import Foundation
import SignetCrypto
import SignetPinFormats
import SignetPinning
import TestSupport
import Testing

/// CA files that a policy names.
@Suite struct PinAuthoritiesTests {
    private let folder: TemporaryDirectory
    private let root: [UInt8]

    init() throws {
        folder = try TemporaryDirectory()
        root = [UInt8](try Data(contentsOf: URL(filePath: TestAuthority.trusted.get().root.pem)))
        try folder.write(root, to: "ca.pem")
    }

    private func policy(_ members: String, in directory: String? = nil) throws -> PinPolicy {
        try PinPolicy(
            parsing: Array(#"{"hosts":{"a.example":{"exclude":true,\#(members)}}}"#.utf8),
            filesIn: directory ?? folder.url.path)
    }

    @Test func readsAFileInThePolicysFolder() throws {
        let usual = try #require(try policy(#""caFile":"ca.pem""#).rules[0].authorities)
        #expect(usual.mode == .replace && usual.file == "ca.pem")
        let facts = try X509Parser.certificates(usual.pem)
        #expect(facts.map(\.spkiSHA256) == (try X509Parser.certificates(root)).map(\.spkiSHA256))
        let added = try policy(#""caFile":"ca.pem","caMode":"add""#)
        #expect(added.rules[0].authorities?.mode == .add)
        #expect(added.rules[0].authorities?.digest == usual.digest)
        let absolute = try policy(#""caFile":"\#(folder.path("ca.pem"))""#, in: "/")
        #expect(absolute.rules[0].authorities?.digest == usual.digest)
        // Words and keys around the certificates do not count, nor does DER instead of PEM.
        try folder.write(Array("# words\n".utf8) + root + Array("\nmore".utf8), to: "words.pem")
        #expect(try policy(#""caFile":"words.pem""#).rules[0].authorities?.digest == usual.digest)
        try folder.write(facts[0].der, to: "ca.der")
        #expect(try policy(#""caFile":"ca.der""#).rules[0].authorities?.digest == usual.digest)
    }

    @Test func writesWhatItRead() throws {
        for members in [#""caFile":"ca.pem","caMode":"add""#, #""caFile":"ca.pem""#] {
            let policy = try policy(members)
            #expect(
                try PinPolicy(parsing: policy.serialized(), filesIn: folder.url.path) == policy)
        }
    }

    @Test(
        arguments: [
            (#""caFile":"absent.pem""#, "unreadable-file"), (#""caFile":".""#, "unreadable-file"),
            (#""caFile":"large.pem""#, "unreadable-file"),
            (#""caFile":"empty.pem""#, "malformed-policy"),
            (#""caFile":"key.pem""#, "malformed-policy"),
            (#""caFile":"broken.pem""#, "malformed-policy"),
            (#""caFile":"many.pem""#, "malformed-policy"),
            (#""caFile":"""#, "malformed-policy"), (#""caFile":1"#, "malformed-policy"),
            (#""caFile":"ca.pem\u0000""#, "malformed-policy"),
            (#""caFile":"ca.pem","caMode":"Add""#, "malformed-policy"),
            (#""caFile":"ca.pem","caMode":null"#, "malformed-policy"),
            (#""caMode":"add""#, "malformed-policy"),
            (#""cafile":"ca.pem""#, "malformed-policy"),
        ])
    func refuses(_ members: String, _ code: String) throws {
        try folder.write([UInt8](repeating: 0x0A, count: (1 << 20) + 1), to: "large.pem")
        try folder.write([], to: "empty.pem")
        try folder.write(
            "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n",
            to: "key.pem")
        try folder.write(root.prefix(root.count / 2), to: "broken.pem")
        try folder.write(Array(repeatElement(root, count: 257).joined()), to: "many.pem")
        let error = #expect(throws: PinError.self) { try policy(members) }
        #expect(error?.code.name == code, "\(String(describing: error))")
        #expect(error?.message.contains("a.example") == true)
    }

    @Test func aPolicyFromBytesNamesNoFile() throws {
        let text = Array(#"{"hosts":{"a.example":{"exclude":true,"caFile":"/etc/passwd"}}}"#.utf8)
        let error = #expect(throws: PinError.self) { try PinPolicy(parsing: text) }
        #expect(error?.code == .malformedPolicy)
        let named = try policy(#""caFile":"ca.pem""#)
        let signed = #expect(throws: PinError.self) {
            try SignedPinPolicy(serial: 1, notBefore: 0, expires: 1, policy: named)
        }
        #expect(signed?.code == .malformedUpdate)
    }

    @Test func aPolicyNamesSoManyFilesAndNoMore() throws {
        func many(_ count: Int) throws -> PinPolicy {
            let hosts = try (0..<count).map { number in
                try folder.write(root, to: "\(number).pem")
                return #""h\#(number).example":{"exclude":true,"caFile":"\#(number).pem"}"#
            }
            return try PinPolicy(
                parsing: Array(#"{"hosts":{\#(hosts.joined(separator: ","))}}"#.utf8),
                filesIn: folder.url.path)
        }
        #expect(try many(8).rules.count == 8)
        let error = #expect(throws: PinError.self) { try many(9) }
        #expect(error?.code == .malformedPolicy)
    }

    @Test func lintLooksIntoTheFiles() throws {
        func codes(_ members: String, _ directory: String?) throws -> [String] {
            try PinLint.findings(
                of: Array(#"{"hosts":{"a.example":{"exclude":true,\#(members)}}}"#.utf8), now: 0,
                filesIn: directory
            ).map(\.code)
        }
        let here = folder.url.path
        #expect(try codes(#""caFile":"ca.pem","caMode":"add""#, here) == [])
        #expect(try codes(#""caFile":"absent.pem""#, nil) == [])
        #expect(try codes(#""caFile":"absent.pem""#, here) == ["bad-ca-file"])
        #expect(try codes(#""caFile":7,"caMode":"x""#, here) == ["bad-value", "bad-value"])
        #expect(try codes(#""caMode":"add""#, here) == ["bad-value"])
    }

    @Test func otherFormatsSayThatTheyLeaveItOut() throws {
        let pin = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let text = #"{"hosts":{"a.example":{"pins":["\#(pin)"],"caFile":"ca.pem"}}}"#
        let policy = try PinPolicy(parsing: Array(text.utf8), filesIn: folder.url.path)
        for format in PinFormat.all where format != .signet {
            let notes = try PinConversion.write(policy, as: format).notes
            #expect(notes.contains { $0.contains("ca.pem") }, "\(format)")
        }
    }
}
