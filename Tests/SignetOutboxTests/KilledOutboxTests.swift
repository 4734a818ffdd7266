#if Storage
import Foundation
import SignetClient
import SignetOutbox
import TestSupport
import Testing

/// Processes that are killed at any moment, and a server that knows batches by their id, over TLS
/// with pins and signatures.
@Suite struct KilledOutboxTests {
    /// The kills: `SIGNET_OUTBOX_KILLS`, else 500 with SIGNET_SOAK.
    private static let count =
        ProcessInfo.processInfo.environment["SIGNET_OUTBOX_KILLS"].flatMap { Int($0) }
        ?? (ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil ? 500 : 24)

    /// A program of the test: the files that its runs share.
    private struct Program: Codable, Sendable {
        let folder: String
        let url: String
        let pins: [String]
        let caFile: String
        let keys: String

        var ledger: String { "\(folder)/ledger" }

        func system() async throws -> NetworkSystem {
            var service = ServiceConfiguration(baseURL: url, payloadProtocol: .rest)
            service.pins = try pins.map { try Pin(parsing: $0) }
            service.signing = .init(scheme: "rfc9421", keyID: OrdersHost.keyID)
            service.timeout = .seconds(5)
            var options = NetworkSystem.Options()
            options.caFile = caFile
            return try await NetworkSystem.start(
                services: ["shop": service], keys: KeySource(keys).load(), options: options)
        }

        func outbox() throws -> Outbox {
            var options = OutboxOptions()
            options.batchCount = 5
            options.batchAge = .milliseconds(20)
            options.firstPause = .milliseconds(2)
            options.longestPause = .milliseconds(20)
            return try Outbox(
                "clicks", in: "\(folder)/outbox", to: .post("/clicks", on: "shop"),
                options: options)
        }

        /// Adds records and sends them until the process is killed.
        ///
        /// - Parameter adds: False for a process that sends only.
        func run(killedAfter pause: Int, seed: UInt64, adds: Bool) async throws {
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: Double(pause) / 1000)
                kill(getpid(), SIGKILL)
            }
            var random = SplitMix(seed: seed)
            let ledger = try FileHandle(forWritingTo: URL(filePath: ledger))
            var number = try Self.last(in: String(contentsOfFile: self.ledger, encoding: .utf8))
            try ledger.seekToEnd()
            let outbox = try outbox()
            try await outbox.start(through: system())
            if !adds { try await Task.sleep(for: .seconds(3600)) }
            while true {
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    number += 1
                    ledger.write(Data("begun \(number)\n".utf8))
                    try await outbox.add(Numbered(n: number))
                    ledger.write(Data("added \(number)\n".utf8))
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0..<15, using: &random)))
            }
        }

        static func numbers(_ word: String, in ledger: String) -> [Int] {
            ledger.split(separator: "\n").filter { $0.hasPrefix(word + " ") }
                .compactMap { Int($0.dropFirst(word.count + 1)) }
        }

        static func last(in ledger: String) -> Int { numbers("begun", in: ledger).last ?? 0 }
    }

    private static func start(
        _ program: String, killedAfter pause: Int, seed: UInt64, adds: Bool = true
    ) async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                program = program as String, pause = pause as Int, seed = seed as UInt64,
                adds = adds as Bool
            ] in
            try await JSONDecoder().decode(Program.self, from: Data(program.utf8))
                .run(killedAfter: pause, seed: seed, adds: adds)
        }
    }

    @Test(.features("003-32", "003-33"), .timeLimit(.minutes(60)))
    func eachRecordArrivesOnceAndInOrder() async throws {
        let directory = try TemporaryDirectory()
        let authority = try TestAuthority.trusted.get()
        let (server, port) = try await SocketServer.start(
            "outbox", ["39"], tls: authority.leaf)
        try directory.write([], to: "ledger")
        let key = Base64.encode(Array("0123456789abcdef0123456789abcdef".utf8), as: .url)
        let program = Program(
            folder: directory.path, url: "https://localhost:\(port)",
            pins: [authority.leaf.pin, authority.root.pin], caFile: authority.caFile,
            keys: try directory.write(
                #"{"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"\#(OrdersHost.keyID)","k":"\#(key)"}]}"#,
                to: "keys"))
        let text = String(decoding: try JSONEncoder().encode(program), as: UTF8.self)
        var random = SplitMix(seed: 39)
        for round in 0..<Self.count {
            let pause = Int.random(in: 20..<300, using: &random)
            let seed = random.next()
            // In each third round another process wants to send too.
            let other = round % 3 == 0 ? Int.random(in: 20..<300, using: &random) : nil
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await Self.start(text, killedAfter: pause, seed: seed) }
                guard let other else { return }
                group.addTask {
                    await Self.start(text, killedAfter: other, seed: seed, adds: false)
                }
            }
        }
        // The last run sends what is left.
        let outbox = try program.outbox()
        let system = try await program.system()
        try outbox.start(through: system)
        for _ in 0..<100 where await !outbox.flush() {}
        await outbox.close()
        await system.shutdown()

        let ledger = String(decoding: try directory.read("ledger"), as: UTF8.self)
        let arrived = server.lines("BATCH").flatMap { line in
            (line.split(separator: " ").last ?? "").split(separator: ",").compactMap { Int($0) }
        }
        let added = Program.numbers("added", in: ledger)
        #expect(arrived == arrived.sorted() && Set(arrived).count == arrived.count)
        #expect(Set(added).isSubset(of: arrived))
        #expect(Set(arrived).isSubset(of: Program.numbers("begun", in: ledger)))
        // Kills and cuts between the server's work and its answer.
        #expect(Self.count < 100 || server.lines("AGAIN").count > Self.count / 16)
        #expect(server.lines("CHANGED").isEmpty && server.lines("DROPPED").isEmpty)
        #expect(!server.stdout.contains("UNSIGNED"))
        guard Self.count > 100 else { return try await server.stop() }
        print(
            "\(Self.count) kills: \(added.count) records added, \(arrived.count) arrived in "
                + "\(server.lines("BATCH").count) batches, \(server.lines("AGAIN").count) sent again"
        )
        try await server.stop()
    }

    @Test func aWrongPinSendsNothingAndKeepsAll() async throws {
        let directory = try TemporaryDirectory()
        let authority = try TestAuthority.trusted.get()
        let (server, port) = try await SocketServer.start("outbox", ["0"], tls: authority.leaf)
        let key = Base64.encode(Array("0123456789abcdef0123456789abcdef".utf8), as: .url)
        let keys = try directory.write(
            #"{"keys":[{"kty":"oct","use":"sig","alg":"HS256","kid":"\#(OrdersHost.keyID)","k":"\#(key)"}]}"#,
            to: "keys")
        func program(_ pins: [String]) -> Program {
            Program(
                folder: directory.path, url: "https://localhost:\(port)", pins: pins,
                caFile: authority.caFile, keys: keys)
        }
        let rogue = try TestAuthority.rogue.get()
        let wrong = program([rogue.leaf.pin, rogue.root.pin])
        let outbox = try wrong.outbox()
        try await outbox.add(1...7)
        var system = try await wrong.system()
        try outbox.start(through: system)
        #expect(await outbox.flush() == false)
        await outbox.close()
        await system.shutdown()
        #expect(try await outbox.status().waitingCount == 7)
        #expect(server.lines("BATCH").isEmpty && !server.stdout.contains("UNSIGNED"))
        let right = program([authority.leaf.pin, authority.root.pin])
        let next = try right.outbox()
        system = try await right.system()
        try next.start(through: system)
        #expect(await next.flush())
        await next.close()
        await system.shutdown()
        #expect(
            server.lines("BATCH").map { $0.split(separator: " ").last } == ["1,2,3,4,5", "6,7"])
        try await server.stop()
    }
}
#endif
