import Configuration
import SignetConfiguration
import SignetJSON
import SignetVault
import Synchronization
import Testing

/// A change reaches each watcher once and in order, and a cancelled watch ends.
@Suite(.timeLimit(.minutes(1))) struct WatchingTests {
    let live: LiveConfiguration
    let provider: VaultProvider

    init() throws {
        live = LiveConfiguration(try shopConfiguration(host: "host0.example"))
        provider = VaultProvider(live)
    }

    func replace(_ number: Int) throws {
        try live.replace(with: shopConfiguration(host: "host\(number).example"))
    }

    @Test func aValueOnceAndInOrder() async throws {
        let seen = try await provider.watchValue(
            forKey: "orders.host", type: .string
        ) { [self] updates in
            var seen: [ConfigContent?] = []
            for await update in updates {
                seen.append(try update.get().value?.content)
                if seen.count == 6 { break }
                try replace(seen.count)
            }
            return seen
        }
        #expect(seen == (0...5).map { .string("host\($0).example") })
    }

    @Test func reportsNoChangeOfOtherKeys() async throws {
        let seen = try await provider.watchValue(
            forKey: "orders.host", type: .string
        ) { [self] updates in
            var seen: [ConfigContent?] = []
            for await update in updates {
                let content = try update.get().value?.content
                seen.append(content)
                if content == .string("host200.example") { break }
                // Mostly read before the host changes; told, it would be the same host again.
                try live.set(launch: ["orders.limit": .number(JSONNumber(seen.count))])
                let next = seen.count
                Task.detached { try replace(next) }
            }
            return seen
        }
        #expect(seen == (0...200).map { .string("host\($0).example") })
    }

    @Test func aSnapshotOnceAndInOrder() async throws {
        let seen = try await provider.watchSnapshot { [self] updates in
            var seen: [ConfigContent?] = []
            for await snapshot in updates {
                seen.append(
                    try snapshot.value(forKey: "orders.host", type: .string).value?.content)
                if seen.count == 6 { break }
                try replace(seen.count)
            }
            return seen
        }
        #expect(seen == (0...5).map { .string("host\($0).example") })
    }

    @Test func throughAReader() async throws {
        let reader = ConfigReader(provider: provider)
        let seen = try await reader.watchString(forKey: "orders.host") { [self] updates in
            var seen: [String?] = []
            for await value in updates {
                seen.append(value)
                if seen.count == 4 { break }
                try replace(seen.count)
            }
            return seen
        }
        #expect(seen == (0...3).map { "host\($0).example" })
    }

    @Test func aValueThatGoesAndOneOfAnotherType() async throws {
        let others: [GlobalConfiguration] = try [
            GlobalConfiguration(schema: shopSchema(), defaults: .none),
            publicConfiguration(["orders.host": "integer"], ["orders.host": 1]),
            publicConfiguration(["orders.host": "integer"], ["orders.host": 2]),
            GlobalConfiguration(
                schema: schema(#"{"orders.host":{"type":"string"}}"#),
                defaults: .values(["orders.host": .string(canary)])),
            shopConfiguration(host: "again.example"),
        ]
        let seen = try await provider.watchValue(
            forKey: "orders.host", type: .string
        ) { [live] updates in
            var seen: [String] = []
            for await update in updates {
                switch update {
                case .success(let found):
                    seen.append(found.value.map { "\($0.content)" } ?? "nothing")
                case .failure(let error):
                    seen.append((error as? VaultError)?.code.name ?? "another error")
                }
                // The second wrong type gives the same result, so both are set at once.
                switch seen.count {
                case 1: try live.replace(with: others[0])
                case 2: try live.replace(with: others[1])
                case 3:
                    try live.replace(with: others[2])
                    try live.replace(with: others[3])
                case 4: try live.replace(with: others[4])
                default: return seen
                }
            }
            return seen
        }
        #expect(
            seen == [
                #"string("host0.example")"#, "nothing", "wrong-type", "not-public",
                #"string("again.example")"#,
            ])
    }

    @Test func twoUnicodeFormsAreTwoValues() async throws {
        let count = try await provider.watchValue(
            forKey: "orders.host", type: .string
        ) { [live] updates in
            var count = 0
            for await _ in updates {
                count += 1
                switch count {
                case 1: try live.replace(with: shopConfiguration(host: "\u{e9}.example"))
                case 2: try live.replace(with: shopConfiguration(host: "e\u{301}.example"))
                default: return count
                }
            }
            return count
        }
        #expect(count == 3)
    }

    @Test func aSnapshotStaysUnchanged() throws {
        let reader = ConfigReader(provider: provider)
        let before = reader.snapshot()
        try replace(1)
        #expect(before.string(forKey: "orders.host") == "host0.example")
        #expect(reader.string(forKey: "orders.host") == "host1.example")
        #expect(reader.snapshot().string(forKey: "orders.host") == "host1.example")
    }

    @Test func aHundredWatchersSeeTheLastValue() async throws {
        let last = "host500.example"
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 {
                group.addTask { [provider] in
                    let sawLast = try? await provider.watchValue(
                        forKey: "orders.host", type: .string
                    ) { updates in
                        var numbers: [Int] = []
                        for await update in updates {
                            guard case .string(let host) = try update.get().value?.content else {
                                return false
                            }
                            numbers.append(
                                Int(host.dropFirst(4).prefix { $0.isNumber }) ?? -1)
                            if host == last { break }
                        }
                        return numbers == Set(numbers).sorted()
                    }
                    return sawLast ?? false
                }
            }
            group.addTask { [self] in
                for number in 1...500 { try? replace(number) }
                return true
            }
            for await sawLast in group { #expect(sawLast) }
        }
    }

    @Test func cancellingEndsAWatch() async throws {
        let (started, hasStarted) = AsyncStream<Void>.makeStream()
        let value = Task { [provider] in
            try await provider.watchValue(forKey: "orders.host", type: .string) { updates in
                var count = 0
                for await _ in updates {
                    count += 1
                    hasStarted.yield()
                }
                return count
            }
        }
        let snapshots = Task { [provider] in
            try await provider.watchSnapshot { updates in
                var count = 0
                for await _ in updates {
                    count += 1
                    hasStarted.yield()
                }
                return count
            }
        }
        var starts = started.makeAsyncIterator()
        for _ in 0..<2 { _ = await starts.next() }
        value.cancel()
        snapshots.cancel()
        #expect(try await value.value == 1)
        #expect(try await snapshots.value == 1)
    }

    @Test func aWatchThatIsCancelledBeforeItStartsEnds() async throws {
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let watch = Task { [provider] in
            for await _ in gate {}  // ends at the cancellation
            return try await provider.watchValue(forKey: "orders.host", type: .string) { updates in
                var count = 0
                for await _ in updates { count += 1 }
                return count
            }
        }
        watch.cancel()
        #expect(try await watch.value == 0)
        opener.finish()
    }
}
