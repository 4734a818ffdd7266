#if Storage
import Foundation
import SignetCrypto
import SignetStorage
import TestSupport
import Testing

@testable import SignetRecording

@Suite struct DiskRecordingStoreTests {
    private static func call(_ number: Int, _ text: String = "tea") -> RecordedCall {
        var call = RecordedCall(
            .json(
                "POST", "https://a/\(number)",
                request: #"{"n":\#(number),"token":"redacted-\#(number)"}"#,
                response: #"{"answer":"\#(text)"}"#, started: Int64(number) * 1000))
        (call.id, call.service, call.method) = (number, "shop", "orders.create")
        call.exchanges[0].redactions = [.init(place: "request.body.token", mark: number)]
        call.exchanges[0].times.send = .zero
        call.exchanges[0].times.wait = .zero
        call.exchanges[0].times.receive = .zero
        return call
    }

    @Test func keepsCallsForAnotherProcess() async throws {
        let directory = try TemporaryDirectory()
        let calls = (1...3).map { Self.call($0) }
        do {
            let store = try DiskRecordingStore(in: DataFolder(directory.path("data")))
            for call in calls { store.add(call) }
            #expect(try await store.recording().calls == calls)
            #expect(store.lastMark == 3)
        }
        let store = try DiskRecordingStore(in: DataFolder(directory.path("data")))
        #expect(try await store.recording().calls == calls)
        #expect(store.lastMark == 3)
        try await store.removeAll()
        #expect(try await store.recording().calls.isEmpty)
        let bytes = try Self.bytes(in: directory.path("data"))
        #expect(bytes.range(of: Data("answer".utf8)) == nil)
    }

    /// Also marks that only a stage's contents have; otherwise two secrets would get one number.
    @Test func numbersFollowThoseInStages() {
        var call = Self.call(1)
        call.contents = [.init(stage: "signing", before: nil, after: "X: redacted-5\n")]
        let recording = Recording(calls: [call])
        #expect(recording.lastMark == 5)
        let whole = recording.appending(recording)
        let texts = whole.calls.map { $0.contents[0].after }
        #expect(texts == ["X: redacted-5\n", "X: redacted-10\n"])
        #expect(whole.lastMark == 10)
    }

    private static func bytes(in folder: String) throws -> Data {
        var all = Data()
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            all += FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
        }
        return all
    }

    @Test(.features("000-57"), arguments: DataFolder.Kind.allCases)
    func removingOneKindLeavesFive(_ removed: DataFolder.Kind) async throws {
        let directory = try TemporaryDirectory()
        let folder = try DataFolder(directory.path("data"))
        do {
            let store = try DiskRecordingStore(in: folder)
            store.add(Self.call(1))
            _ = try await store.recording()
        }
        for kind in DataFolder.Kind.allCases where kind != .requests && kind != .responses {
            try Data("x".utf8).write(to: URL(filePath: folder.path(of: kind) + "/file"))
        }
        try folder.remove(removed)
        for kind in DataFolder.Kind.allCases {
            #expect(try (folder.size(of: kind) == 0) == (kind == removed))
        }
        let recording = try await DiskRecordingStore(in: folder).recording()
        let exchange = try #require(recording.exchanges.first)
        #expect((exchange.response == nil) == (removed == .responses))
        #expect((exchange.request.url == "https://a/1") == (removed != .requests))
        if removed != .responses { #expect(exchange.response?.body?.text == #"{"answer":"tea"}"#) }
    }

    @Test func dropsTheOldestBeyondItsLimits() async throws {
        let directory = try TemporaryDirectory()
        var limits = RecordingLimits()
        limits.calls = 5
        let store = try DiskRecordingStore(in: DataFolder(directory.path("data")), limits: limits)
        for number in 1...20 { store.add(Self.call(number)) }
        let recording = try await store.recording()
        #expect(recording.exchanges.map(\.request.url) == (16...20).map { "https://a/\($0)" })
        #expect(recording.exchanges.allSatisfy { $0.response != nil })
        #expect(recording.droppedCount == 15)
    }

    /// A call that was redirected keeps each response without its request, and the reverse.
    @Test(arguments: [DataFolder.Kind.requests, .responses])
    func eachExchangeKeepsItsHalf(_ removed: DataFolder.Kind) async throws {
        let directory = try TemporaryDirectory()
        let folder = try DataFolder(directory.path("data"))
        do {
            let store = try DiskRecordingStore(in: folder)
            var call = Self.call(1)
            call.exchanges += Self.call(2, "milk").exchanges
            store.add(call)
            _ = try await store.recording()
        }
        try folder.remove(removed)
        let exchanges = try await DiskRecordingStore(in: folder).recording().exchanges
        let texts = exchanges.map { $0.response?.body?.text ?? "none" }
        #expect(
            texts
                == (removed == .responses
                    ? ["none", "none"] : [#"{"answer":"tea"}"#, #"{"answer":"milk"}"#]))
        #expect(
            exchanges.map(\.request.url)
                == (removed == .requests
                    ? ["about:blank", "about:blank"] : ["https://a/1", "https://a/2"]))
    }

    @Test func aSealedStoreNeedsItsKey() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("data")
        func key(_ byte: UInt8) throws -> CryptoKey {
            let text = Data(repeating: byte, count: 32).base64EncodedString().dropLast()
            let set = #"{"keys":[{"kty":"oct","use":"enc","kid":"c","k":"\#(text)"}]}"#
            return try KeySet(parsing: Array(set.utf8), source: "test").key(id: "c")
        }
        do {
            let store = try DiskRecordingStore(in: DataFolder(path), sealedWith: key(1))
            store.add(Self.call(1))
            #expect(try await store.recording().calls.count == 1)
        }
        let bytes = try Self.bytes(in: path)
        for text in ["answer", "https://a/1", "redacted-1", "shop"] {
            #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text)")
        }
        for other in [try key(2), nil] {
            let error = #expect(throws: StorageError.self) {
                try DiskRecordingStore(in: DataFolder(path), sealedWith: other)
            }
            #expect(error?.code == .wrongCacheKey)
        }
        let again = try DiskRecordingStore(in: DataFolder(path), sealedWith: key(1))
        #expect(try await again.recording().exchanges.map(\.request.url) == ["https://a/1"])
    }

    /// Otherwise two processes would give one mark to two secrets.
    @Test func oneStoreAtATimeHasAFolder() async throws {
        let directory = try TemporaryDirectory()
        let folder = try DataFolder(directory.path("data"))
        let store = try DiskRecordingStore(in: folder)
        #expect(throws: StorageError.self) { try DiskRecordingStore(in: folder) }
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let error = #expect(throws: StorageError.self) {
                try DiskRecordingStore(in: DataFolder(path))
            }
            #expect(error?.code == .storeFailed)
        }
        store.add(Self.call(1))
        #expect(try await store.recording().calls.count == 1)
    }

    @Test func refusesAFileThatIsNotItsOwn() async throws {
        let directory = try TemporaryDirectory()
        let folder = try DataFolder(directory.path("data"))
        let file = folder.path(of: .requests) + "/signet-records.sqlite"
        try Data("not a database, but long enough to be read as one\n".utf8).write(
            to: URL(filePath: file))
        func refusal() -> StorageError.Code? {
            #expect(throws: StorageError.self) { try DiskRecordingStore(in: folder) }?.code
        }
        // Others may read it.
        #expect(refusal() == .unusableCacheFolder)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(refusal() == .damagedStore)
        #expect(FileManager.default.contents(atPath: file)?.starts(with: Data("not".utf8)) == true)
    }

    /// 100 with SIGNET_SOAK.
    private static let kills =
        ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil ? 100 : 8

    @Test(.timeLimit(.minutes(20))) func aKillLeavesWholeCalls() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("data")
        var random = SplitMix(seed: 11)
        var count = 0
        for _ in 0..<Self.kills {
            let pause = Int.random(in: 0..<150, using: &random)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, pause = pause as Int] in
                try DiskRecordingStoreTests.load(path, killedAfter: pause)
            }
            let recording = try await DiskRecordingStore(in: DataFolder(path)).recording()
            #expect(recording.problems == [])
            for exchange in recording.exchanges {
                #expect(
                    exchange.request.body?.text?.contains("redacted-")
                        ?? (exchange.request.url == "about:blank"))
                #expect(exchange.response?.body?.text?.hasSuffix(#""}"#) ?? true)
            }
            #expect(recording.calls.count >= count)
            count = recording.calls.count
        }
        #expect(count > 0)
    }

    private static func load(_ path: String, killedAfter pause: Int) throws {
        var limits = RecordingLimits()
        limits.calls = 1_000_000
        let store = try DiskRecordingStore(in: DataFolder(path), limits: limits)
        store.add(call(1))
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: Double(pause) / 1000)
            kill(getpid(), SIGKILL)
        }
        var number = 1
        while true {
            number += 1
            store.add(call(number, String(repeating: "x", count: number % 3000)))
            Thread.sleep(forTimeInterval: 0.0005)
        }
    }
}
#endif
