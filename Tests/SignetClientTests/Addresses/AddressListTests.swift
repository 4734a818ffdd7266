import Foundation
import HTTPTypes
import SignetBase
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetRPC
import SignetSystem
import SignetTransport
import Synchronization
import TestSupport
import Testing

@testable import SignetClient

/// Lists of addresses that are fetched once a day, stored, and perhaps signed.
@Suite struct AddressListTests {
    /// An engine that serves a list, and on which all addresses work.
    private final class ListEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "list", pinsPublicKeys: true, speaksHTTP2: false, connectsToAddresses: true)
        private let state: Mutex<(list: [UInt8]?, count: Int)>

        init(_ list: [UInt8]?) { state = Mutex((list, 0)) }

        /// The number of times that the list was asked for.
        var count: Int { state.withLock { $0.count } }

        func serve(_ list: [UInt8]?) { state.withLock { $0.list = list } }

        func probe(_ probe: EngineProbe) async throws(TransportError) -> ProbeResult {
            ProbeResult(chain: [], isTrusted: true)
        }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            var body: [UInt8]? = Array("1".utf8)
            if request.request.authority == "lists.example.com" {
                body = state.withLock { state in
                    state.count += 1
                    return state.list
                }
            }
            guard let body else { throw TransportError(.connect, "down") }
            return EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: body),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    /// Noon of a day.
    private static let noon: Int64 = 1_790_000_000 / 86_400 * 86_400 + 43_200
    private static let list = Array(#"{"addresses":["192.0.2.1","[2001:db8::1]:8443"]}"#.utf8)

    private static let tooMany: String = {
        let texts = (0...64).map { "\"192.0.2.\($0)\"" }
        return "{\"addresses\":[" + texts.joined(separator: ",") + "]}"
    }()

    private let folder: TemporaryDirectory
    private var file: String { folder.url.appending(path: "addresses.json").path }

    init() throws { folder = try TemporaryDirectory() }

    private func system(
        _ engine: ListEngine, at time: Int64 = noon, verifier: AddressListVerifier? = nil,
        given: [String] = [],
        sleep: @escaping @Sendable (Duration) async throws -> Void = {
            try await Task.sleep(for: $0)
        }
    ) async throws -> NetworkSystem {
        let addresses = try ServiceAddress.list(given)
        let plan = AddressListPlan(
            url: "https://lists.example.com/a", file: file, verifier: verifier)
        return try await Pipeline.system(engine) { options in
            options.networkWatcher = NetworkWatcher { -1 }
            options.clock.now = { time }
            options.clock.sleep = sleep
            options.addresses.startLimit = .seconds(60)
            options.addresses.lists["a"] = plan
        } changeService: {
            $0.addresses = addresses
        }
    }

    private static func names(_ system: NetworkSystem) -> [String] {
        system.addresses(of: "a").map(\.address)
    }

    @Test(.features("003-37"))
    func theFirstStartOfADayFetches() async throws {
        let engine = ListEngine(Self.list)
        let wanted = ["192.0.2.1", "[2001:db8::1]:8443"]
        // The first start, one three hours later, and one on the next day.
        for (time, count) in [
            (Self.noon, 1), (Self.noon + 10_800, 1), (Self.noon + 86_400, 2),
            (Self.noon + 86_401, 2),
        ] {
            let system = try await system(engine, at: time, given: ["192.0.2.9"])
            #expect(Self.names(system) == wanted && engine.count == count)
            await system.shutdown()
        }
        // A clock that went back makes the list one of another day.
        let system = try await system(engine, at: Self.noon)
        #expect(engine.count == 3)
        await system.shutdown()
    }

    @Test func aFailedFetchUsesTheStoredList() async throws {
        let engine = ListEngine(Self.list)
        await (try await system(engine)).shutdown()
        engine.serve(nil)
        let system = try await system(engine, at: Self.noon + 86_400, given: ["192.0.2.9"])
        #expect(Self.names(system) == ["192.0.2.1", "[2001:db8::1]:8443"] && engine.count == 2)
        await system.shutdown()
        // Without one it uses the given addresses.
        try FileManager.default.removeItem(atPath: file)
        let other = try await self.system(engine, given: ["192.0.2.9"])
        #expect(Self.names(other) == ["192.0.2.9"])
        await other.shutdown()
    }

    @Test(
        arguments: [
            "", "[]", "{}", #"{"addresses":[]}"#, #"{"addresses":["example.com"]}"#,
            #"{"addresses":[1]}"#, #"{"addresses":"192.0.2.1"}"#,
            #"{"addresses":["192.0.2.1"],"more":1}"#,
            #"{"addresses":["192.0.2.1"],"addresses":["192.0.2.2"]}"#,
            AddressListTests.tooMany,
        ])
    func aMalformedListIsNotUsed(_ text: String) async throws {
        let system = try await system(ListEngine(Array(text.utf8)), given: ["192.0.2.9"])
        #expect(Self.names(system) == ["192.0.2.9"])
        #expect(!FileManager.default.fileExists(atPath: file))
        await system.shutdown()
    }

    @Test func aListThatIsTooLargeIsNotUsed() async throws {
        let spaces = [UInt8](repeating: 0x20, count: 64 << 10)
        let system = try await system(ListEngine(Self.list + spaces), given: ["192.0.2.9"])
        #expect(Self.names(system) == ["192.0.2.9"])
        await system.shutdown()
    }

    @Test(arguments: ["", "{}", #"{"fetchedAt":1,"document":"{}"}"#, "x"])
    func aBrokenFileIsReplaced(_ text: String) async throws {
        try folder.write(text, to: "addresses.json")
        let engine = ListEngine(Self.list)
        let system = try await system(engine)
        #expect(Self.names(system).count == 2 && engine.count == 1)
        await system.shutdown()
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    /// The pauses between the fetches of a running system: a day, and less after failures.
    @Test func aRunningSystemFetchesAgain() async throws {
        let engine = ListEngine(Self.list)
        let pauses = Mutex<[(time: Duration, end: CheckedContinuation<Void, Never>)]>([])
        let system = try await system(engine) { time in
            guard time > .seconds(25), time != .seconds(60) else { return }
            await withCheckedContinuation { end in pauses.withLock { $0.append((time, end)) } }
        }
        func next() async throws -> Duration? {
            #expect(try await eventually { pauses.withLock { $0.count } == 1 })
            let pause = pauses.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            pause?.end.resume()
            return pause?.time
        }
        let day = Duration.seconds(86_400)
        #expect(try await next().map { (day * 0.9...day * 1.1).contains($0) } == true)
        #expect(try await eventually { engine.count == 2 })
        engine.serve(nil)
        #expect(try await next().map { $0 > day * 0.8 } == true)
        #expect(try await eventually { engine.count == 3 })
        // A minute, and then two, half of them or all.
        #expect(try await next().map { (.seconds(30)..<(.seconds(60))).contains($0) } == true)
        #expect(try await eventually { engine.count == 4 })
        #expect(
            try await next().map { (.seconds(60)...(.seconds(120))).contains($0) } == true)
        #expect(Self.names(system).count == 2)
        await system.shutdown()
    }

    @Test func aPlanIsChecked() async throws {
        for url in ["http://lists.example.com/a", "lists.example.com", ""] {
            let error = await #expect(throws: ClientError.self) {
                try await Pipeline.system(ListEngine(nil)) {
                    $0.addresses.lists["a"] = AddressListPlan(url: url, file: "x")
                }
            }
            #expect(error?.code == .invalidPlan)
        }
    }

    // MARK: Signed lists

    @Test func onlyASignedListIsUsed() async throws {
        let key = try SignedListKeys.first
        let verifier = try AddressListVerifier(keys: SignedListKeys.set)
        let addresses = try ServiceAddress.list(["192.0.2.1"])
        let good = try AddressListVerifier.list(
            addresses, for: "a", at: Authority(parsing: "api.example.com"), issued: Self.noon,
            expires: Self.noon + 60, signedBy: key)
        let system = try await system(ListEngine(good), verifier: verifier)
        #expect(Self.names(system) == ["192.0.2.1"])
        await system.shutdown()
        // The stored one is verified too: it has expired by now.
        let later = try await self.system(ListEngine(nil), at: Self.noon + 60, verifier: verifier)
        #expect(Self.names(later).isEmpty)
        await later.shutdown()
    }

    /// A list is for one host, so that of another one is fetched without waiting for a day.
    @Test func anotherHostNeedsAnotherList() async throws {
        func list(_ address: String, at host: String) throws -> [UInt8] {
            try AddressListVerifier.list(
                ServiceAddress.list([address]), for: "a", at: Authority(parsing: host),
                issued: Self.noon, expires: Self.noon + 86_400, signedBy: SignedListKeys.first)
        }
        let engine = ListEngine(try list("192.0.2.1", at: "api.example.com"))
        var options = NetworkSystem.Options()
        options.engine = engine
        options.networkWatcher = NetworkWatcher { -1 }
        options.clock.now = { Self.noon }
        var plan = AddressListPlan(
            url: "https://lists.example.com/a", file: file,
            verifier: try AddressListVerifier(keys: SignedListKeys.set))
        plan.hostPolicy = try .allowingAll()
        options.addresses.lists["a"] = plan
        let system = try await NetworkSystem.start(Settings.configuration([:]), options: options)
        #expect(Self.names(system) == ["192.0.2.1"])
        // A change of something else fetches nothing.
        try system.update(Settings.configuration(["services.a.attempts": 2]))
        engine.serve(try list("192.0.2.2", at: "other.example.com"))
        try system.update(
            Settings.configuration(["services.a.baseURL": "https://other.example.com/rpc"]))
        #expect(try await eventually { Self.names(system) == ["192.0.2.2"] })
        #expect(engine.count == 2)
        await system.shutdown()
    }

    @Test func everyOtherListIsRefused() async throws {
        let verifier = try AddressListVerifier(keys: SignedListKeys.set)
        let (first, other) = try (SignedListKeys.first, SignedListKeys.stranger)
        let addresses = try ServiceAddress.list(["192.0.2.1"])
        func signed(
            by key: CryptoKey, for service: ServiceName = "a", at host: String = "api.example.com",
            expires: Int64 = Self.noon + 60
        ) throws -> [UInt8] {
            try AddressListVerifier.list(
                addresses, for: service, at: Authority(parsing: host), issued: Self.noon - 60,
                expires: expires, signedBy: key)
        }
        let good = try JSONValue(parsing: signed(by: first))
        func changed(_ name: String, _ value: JSONValue) -> [UInt8] {
            var object = good.object ?? [:]
            object[name] = value
            return JSONValue.object(object).serialized()
        }
        let header = Base64.encode(
            Array(#"{"alg":"none","kid":"first","typ":"signet-addresses"}"#.utf8), as: .url)
        let pins = Base64.encode(
            Array(#"{"alg":"EdDSA","kid":"first","typ":"signet-pins"}"#.utf8), as: .url)
        let documents: [[UInt8]] = [
            try signed(by: other), try signed(by: first, for: "b"),
            try signed(by: first, expires: Self.noon), Self.list,
            try signed(by: first, at: "other.example.com"),
            try signed(by: first, at: "api.example.com:8443"),
            changed("payload", .string(Base64.encode(Self.list, as: .url))),
            changed("protected", .string(header)), changed("protected", .string(pins)),
            changed(
                "signature", .string(Base64.encode([UInt8](repeating: 0, count: 64), as: .url))),
            changed("signature", ""), changed("more", 1),
        ]
        for document in documents {
            let system = try await system(
                ListEngine(document), verifier: verifier, given: ["192.0.2.9"])
            #expect(Self.names(system) == ["192.0.2.9"], "\(text(document))")
            await system.shutdown()
        }
    }

    @Test func onlyEd25519Signs() throws {
        let hmac = """
            {"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"k",\
            "k":"WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo"}]}
            """
        let keys = try KeySet(parsing: Array(hmac.utf8), source: "test")
        let error = #expect(throws: ClientError.self) { try AddressListVerifier(keys: keys) }
        #expect(error?.code == .invalidPlan)
        let empty = try KeySet(parsing: Array(#"{"keys":[]}"#.utf8), source: "test")
        #expect(throws: ClientError.self) { try AddressListVerifier(keys: empty) }
    }
}

/// Ed25519 keys of RFC 8032, section 7.1.
private enum SignedListKeys {
    private static func key(_ id: String, x: String, d: String) -> String {
        #"{"kty":"OKP","crv":"Ed25519","use":"sig","kid":"\#(id)","x":"\#(x)","d":"\#(d)"}"#
    }

    private static let known = key(
        "first", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
    private static let unknown = key(
        "first", x: "PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw",
        d: "TM0Imyj_ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U-4pvs")

    private static func set(_ key: String) throws -> KeySet {
        try KeySet(parsing: Array(#"{"keys":[\#(key)]}"#.utf8), source: "test")
    }

    static var set: KeySet { get throws { try set(known) } }
    static var first: CryptoKey { get throws { try set.key(id: "first") } }
    /// Another key of the same id.
    static var stranger: CryptoKey { get throws { try set(unknown).key(id: "first") } }
}
