import Foundation
import SignetPinning
import TestSupport
import Testing

@testable import SignetPinFormats

/// Other programs' formats, read and written.
@Suite struct PinConversionTests {
    struct Sample: Decodable, Sendable, CustomTestStringConvertible {
        let name: String?
        let format: String
        let text: String?
        let base64: String?
        let host: String?
        let policy: String?
        let notes: [String]?
        let code: String?

        var bytes: [UInt8] {
            text.map { Array($0.utf8) } ?? Array(Data(base64Encoded: base64 ?? "") ?? Data())
        }
        var testDescription: String { "\(format): \(name ?? code ?? "")" }
    }

    /// As much of an Info.plist as TrustKit reads.
    struct InfoList: Codable {
        struct Configuration: Codable { let TSKPinnedDomains: [String: Domain] }
        struct Domain: Codable {
            let TSKPublicKeyHashes: [String]
            let TSKIncludeSubdomains: Bool
        }
        let TSKConfiguration: Configuration
    }

    private static let a = "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="
    private static let b = "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g="

    private static func policy(_ text: String) throws -> PinPolicy {
        let text = text.replacing("$a", with: a).replacing("$b", with: b)
        return try PinPolicy(parsing: Array(text.utf8))
    }

    @Test(arguments: try VectorFile<Sample>.load("formats", in: Bundle.module))
    func reads(_ sample: Sample) throws {
        let format = try #require(PinFormat(name: sample.format))
        let reading = try PinConversion.read(sample.bytes, as: format, host: sample.host)
        #expect(try reading.policy == PinPolicy(parsing: Array((sample.policy ?? "").utf8)))
        for word in sample.notes ?? [] {
            #expect(reading.notes.contains { $0.contains(word) }, "\(word): \(reading.notes)")
        }
    }

    @Test(arguments: try VectorFile<Sample>.load("formats-refused", in: Bundle.module))
    func refuses(_ sample: Sample) throws {
        let format = try #require(PinFormat(name: sample.format))
        let error = #expect(throws: PinError.self) {
            try PinConversion.read(sample.bytes, as: format, host: sample.host)
        }
        #expect(error?.code.name == sample.code, "\(sample.text ?? "")")
        #expect(error?.message.contains("root:") == false)
    }

    @Test func rejectionsOutnumberAcceptances() throws {
        let taken = try VectorFile<Sample>.load("formats", in: Bundle.module).count
        let refused = try VectorFile<Sample>.load("formats-refused", in: Bundle.module).count
        #expect(refused > 5 * taken)
    }

    /// The parts that a format can express are unchanged after a round trip.
    @Test(
        arguments: [
            (
                #"{"hosts":{"a.example":{"pins":["$a","$b"],"includeSubdomains":true,"expires":"2027-06-30","afterExpiry":"allow"},"b.a.example":{"exclude":true},"c.example":{"pins":["$a","$b"],"mode":"report"}}}"#,
                ["trustkit", "trustkit-json", "signet"]
            ),
            (
                #"{"hosts":{"a.example":{"pins":["$a","$b"],"includeSubdomains":true,"expires":"2027-06-30","afterExpiry":"allow"},"b.a.example":{"exclude":true,"includeSubdomains":true},"::1":{"pins":["$a"]}}}"#,
                ["android", "signet"]
            ),
            (
                #"{"hosts":{"a.example":{"pins":["$a","$b"]},"**.b.example":{"pins":["$b"]},"*.c.example":{"pins":["$a"]},"::1":{"pins":["$a"]}}}"#,
                ["okhttp", "signet"]
            ),
            (#"{"hosts":{"a.example":{"pins":["$a","$b"]}}}"#, PinFormat.all.map(\.name)),
            (
                #"{"hosts":{"a.example":{"pins":["$a"],"includeSubdomains":true,"mode":"report"}}}"#,
                ["hpkp"]
            ),
        ] as [(String, [String])])
    func comesBack(_ text: String, _ formats: [String]) throws {
        let policy = try Self.policy(text)
        for name in formats {
            let format = try #require(PinFormat(name: name))
            let host = format.namesHosts ? nil : policy.rules[0].pattern.description
            for binary in [false, true] {
                let written = try PinConversion.write(policy, as: format, binary: binary)
                let read = try PinConversion.read(written.bytes, as: format, host: host)
                #expect(read.policy == policy, "\(name)")
            }
        }
    }

    @Test(
        arguments: [
            ("android", #"{"hosts":{"*.a.example":{"pins":["$a"]}}}"#),
            ("trustkit", #"{"hosts":{"*.a.example":{"pins":["$a"]}}}"#),
            ("trustkit-json", #"{"hosts":{"*.a.example":{"pins":["$a"]}}}"#),
            ("trustkit", #"{"hosts":{"127.0.0.1":{"pins":["$a","$b"]}}}"#),
            ("trustkit", #"{"hosts":{"a.b":{"pins":["$a"]},"**.a.b":{"pins":["$b"]}}}"#),
            (
                "trustkit",
                #"{"hosts":{"a.b":{"pins":["$a"]},"c.b":{"exclude":true,"includeSubdomains":true}}}"#
            ),
            ("trustkit", #"{"hosts":{"a.b":{"exclude":true}}}"#),
            ("android", #"{"hosts":{"a.b":{"pins":["$a"]},"**.a.b":{"pins":["$b"]}}}"#),
            ("okhttp", #"{"hosts":{"**.b":{"pins":["$a"]},"a.b":{"exclude":true}}}"#),
            (
                "okhttp",
                #"{"hosts":{"**.b":{"pins":["$a"]},"a.b":{"pins":["$b"],"mode":"report"}}}"#
            ),
            ("okhttp", #"{"hosts":{"**.b":{"pins":["$a"]},"a.b":{"pins":["$b"]}}}"#),
            ("okhttp", #"{"hosts":{"*.b":{"pins":["$a"],"includeSubdomains":true}}}"#),
            ("curl", #"{"hosts":{"a.b":{"pins":["$a"]},"c.b":{"pins":["$a"]}}}"#),
            ("hpkp", #"{"hosts":{"a.b":{"pins":["$a"]},"c.b":{"pins":["$a"]}}}"#),
            ("curl", #"{"hosts":{"a.b":{"exclude":true}}}"#), ("curl", #"{"hosts":{}}"#),
            ("curl", #"{"hosts":{"a.b":{"pins":["$a"],"mode":"report"}}}"#),
            ("hpkp", #"{"hosts":{"*.b":{"pins":["$a"]}}}"#),
            ("hpkp", #"{"hosts":{"127.0.0.1":{"pins":["$a"]}}}"#),
        ])
    func refusesToPinLess(_ name: String, _ text: String) throws {
        let error = #expect(throws: PinError.self) {
            try PinConversion.write(
                Self.policy(text), as: #require(PinFormat(name: name)))
        }
        #expect(error?.code == .notExpressible)
    }

    /// A date after which a host is refused is never written as one after which it is open.
    @Test(arguments: ["trustkit", "trustkit-json", "android", "okhttp", "curl", "hpkp"])
    func namesTheDateItCannotSay(_ name: String) throws {
        let policy = try Self.policy(
            #"{"hosts":{"a.example":{"pins":["$a","$b"],"expires":"2027-06-30"}}}"#)
        let written = try PinConversion.write(policy, as: #require(PinFormat(name: name)))
        #expect(!String(decoding: written.bytes, as: UTF8.self).contains("2027"))
        #expect(written.notes.contains { $0.contains("2027-06-30") })
    }

    @Test func choosesTheHostThatIsAskedFor() throws {
        let policy = try Self.policy(
            #"{"hosts":{"**.a.b":{"pins":["$a"]},"c.b":{"pins":["$b"]},"d.b":{"exclude":true}}}"#)
        func write(_ host: String) throws -> String {
            String(
                decoding: try PinConversion.write(policy, as: .curl, host: host).bytes,
                as: UTF8.self)
        }
        #expect(try write("x.A.b.").contains("//d6qz"))
        #expect(try write("**.a.b").contains("//d6qz"))
        #expect(try write("c.b").contains("//E9CZ"))
        for host in ["d.b", "e.b", "*.c.b"] {
            #expect(throws: PinError.self) { try write(host) }
        }
    }

    /// Apple's format as Foundation reads and writes it.
    @Test func agreesWithFoundationOnPropertyLists() throws {
        let policy = try Self.policy(
            #"{"hosts":{"a.example":{"pins":["$a","$b"],"includeSubdomains":true}}}"#)
        for binary in [false, true] {
            let written = try PinConversion.write(policy, as: .trustKit, binary: binary)
            #expect(written.bytes.starts(with: "bplist00".utf8) == binary)
            let list = try PropertyListDecoder().decode(InfoList.self, from: Data(written.bytes))
            let domain = try #require(list.TSKConfiguration.TSKPinnedDomains["a.example"])
            #expect(domain.TSKIncludeSubdomains)
            #expect(
                domain.TSKPublicKeyHashes
                    == policy.rules[0].pins.map { String($0.text.dropFirst(7)) })
            for again in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
                let encoder = PropertyListEncoder()
                encoder.outputFormat = again
                let bytes = Array(try encoder.encode(list))
                #expect(try PinConversion.read(bytes, as: .trustKit).policy == policy)
            }
        }
    }

    /// No change of one byte, and no cut, ends otherwise than in a policy or a refusal.
    @Test(arguments: try VectorFile<Sample>.load("formats", in: Bundle.module))
    func surviveEveryMutation(_ sample: Sample) throws {
        let format = try #require(PinFormat(name: sample.format))
        let bytes = sample.bytes
        var refused = 0
        for index in stride(from: 0, to: bytes.count, by: bytes.count / 60 + 1) {
            for value in [bytes[index] ^ 1, bytes[index] ^ 0x80, 0xFF] as [UInt8] {
                var mutant = bytes
                mutant[index] = value
                do {
                    _ = try PinConversion.read(mutant, as: format, host: sample.host)
                } catch { refused += 1 }
            }
            do {
                _ = try PinConversion.read(Array(bytes[..<index]), as: format, host: sample.host)
            } catch { refused += 1 }
        }
        #expect(refused > 0)
    }

    /// OkHttp's own rule, a key that any matching pattern wants, against the converted policy's,
    /// for every host of many small sets of patterns.
    @Test func takesTheKeysThatOkHttpTakes() throws {
        let names = ["a", "b.a", "c.b.a", "d.c.b.a", "x.a", "c.x.a"]
        let patterns = names.flatMap { [$0, "*.\($0)", "**.\($0)"] }
        let pins = (0..<4).map { number in
            Pin.prefix + "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh"
                + ["8", "A", "E", "I"][number]
                + "="
        }
        var random = SplitMix(seed: 7)
        for _ in 0..<400 {
            let chosen = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                (
                    patterns[Int.random(in: 0..<patterns.count, using: &random)],
                    pins[Int.random(in: 0..<pins.count, using: &random)]
                )
            }
            let code = chosen.map { ".add(\"\($0.0)\", \"\($0.1)\")" }.joined(separator: "\n")
            let policy = try PinConversion.read(
                Array(code.utf8), as: #require(PinFormat(name: "okhttp")), host: nil
            ).policy
            for host in names {
                let wanted = Set(chosen.filter { Self.okHTTPMatches($0.0, host) }.map(\.1))
                let rule = policy.rule(for: try HostName.canonical(host))
                #expect(Set(rule?.pins.map(\.text) ?? []) == wanted, "\(host) of\n\(code)")
            }
        }
    }

    private static func okHTTPMatches(_ pattern: String, _ host: String) -> Bool {
        if pattern.hasPrefix("**.") {
            let suffix = String(pattern.dropFirst(3))
            return host == suffix || host.hasSuffix(".\(suffix)")
        }
        guard pattern.hasPrefix("*.") else { return host == pattern }
        let suffix = pattern.dropFirst(1)
        return host.hasSuffix(suffix) && !host.dropLast(suffix.count).contains(".")
    }

    /// A document type that declares nothing would be harmless; it is refused because it could
    /// contain more.
    @Test(arguments: ["", " ", "<!ENTITY x 'y'>", "<!ENTITY % x SYSTEM 'file:///etc/passwd'>"])
    func refusesEveryDeclarationOfAType(_ inside: String) throws {
        let pins = try PinConversion.write(
            Self.policy(#"{"hosts":{"a.example":{"pins":["$a","$b"]}}}"#), as: .trustKit)
        let text = String(decoding: pins.bytes, as: UTF8.self)
        let start = try #require(text.firstRange(of: "<!DOCTYPE")?.lowerBound)
        let end = try #require(text[start...].firstIndex(of: ">"))
        let plain = text[..<start] + "<!DOCTYPE plist>" + text[text.index(after: end)...]
        _ = try PinConversion.read(Array(plain.utf8), as: .trustKit)
        let declared =
            text[..<start] + "<!DOCTYPE plist [\(inside)]>" + text[text.index(after: end)...]
        let error = #expect(throws: PinError.self) {
            try PinConversion.read(Array(declared.utf8), as: .trustKit)
        }
        #expect(error?.code == .malformedInput)
        #expect(error?.message.contains("declarations") == true)
    }

    private static let add = #"b.add("a.test", PIN)"#

    @Test(arguments: [
        #"private const val PIN = "$a"\#n\#(add)"#, #"\#(add) val PIN: String = "$a""#,
        #"private static final String PIN = "$a"; \#(add);"#,
        #"final static String PIN="$a";.add("a.test", Pins.PIN)"#,
        #"object Pins { const val PIN = "$a" }\#nval HOST = "a.test"; .add(HOST, Pins.A.PIN, PIN)"#,
        #"val PIN = "$a"\#nval PIN = "$a"\#nval OTHER = "x" + PIN\#n\#(add)"#,
    ])
    func readsAConstantOfOkHttpsCode(_ code: String) throws {
        let code = code.replacing("$a", with: Pin.prefix + zeros)
        let read = try PinConversion.read(Array(code.utf8), as: .okHTTP)
        let policy = #"{"hosts":{"a.test":{"pins":["\#(Pin.prefix + zeros)"]}}}"#
        #expect(read.policy == (try PinPolicy(parsing: Array(policy.utf8))))
    }

    @Test(arguments: [
        add, #"val PIN = "$a" + "x"\#n\#(add)"#, #"val PIN = "$a".trim()\#n\#(add)"#,
        #"val PIN = "$a" to 1\#n\#(add)"#, #"val PIN = "$a"\#n.trim()\#n\#(add)"#,
        #"var PIN = "$a"\#n\#(add)"#, #"String PIN = "$a";\#(add)"#, #"val PIN = pin()\#n\#(add)"#,
        #"val PIN = "$a"\#nval PIN = "$b"\#n\#(add)"#, #"val PIN = "$a"\#nval PIN = b()\#n\#(add)"#,
        #"val PIN == "$a"\#n\#(add)"#, #"val PIN = "$a"\#nb.add("a.test", PIN + "")"#,
        #"val PIN = "$a"\#nb.add("a.test", PIN())"#, #"val PIN = "$a"\#nb.add("a.test", *PIN)"#,
        #"// val PIN = "$a"\#n\#(add)"#, #"val PINS = "$a"\#n\#(add)"#,
        #"val PIN = "${x}$a"\#n\#(add)"#, #"final int PIN = "$a";\#(add)"#,
    ])
    func refusesWhatIsNoConstant(_ code: String) throws {
        let code = code.replacing("$a", with: Pin.prefix + zeros)
            .replacing("$b", with: Pin.prefix + zeros.replacing("Hh8", with: "HhA"))
        let error = #expect(throws: PinError.self) {
            try PinConversion.read(Array(code.utf8), as: .okHTTP)
        }
        #expect(error?.message.contains("line ") == true)
    }

    @Test func readsAndWritesManyHosts() throws {
        let hosts = (0..<10_000).map { ".add(\"h\($0).example\", \"\(Pin.prefix)\(zeros)\")" }
        let format = try #require(PinFormat(name: "okhttp"))
        let read = try PinConversion.read(
            Array(hosts.joined(separator: "\n").utf8), as: format, host: nil)
        #expect(read.policy.rules.count == 10_000)
        let written = try PinConversion.write(read.policy, as: format)
        #expect(written.bytes.count { $0 == UInt8(ascii: "\n") } == 10_002)
    }
}

private let zeros = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
