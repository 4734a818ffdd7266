import Foundation
import SignetCrypto
import SignetRedis
import SignetSigning
import TestSupport
import Testing

/// Nonces in a real Redis.
@Suite struct RedisNonceStoreTests {
    /// From tasks and from blocking threads; two keys have separate nonces.
    @Test func takesANonceOnce() async throws {
        let host = try await RedisHost.start()
        let store = try RedisNonceStore(host.options)
        #expect(await store.code("a") == "no error")
        #expect(await store.code("a") == "replayed-nonce")
        #expect(await store.code("b") == "no error")
        let other = try RedisNonceStore(host.options)
        #expect(await other.code("b") == "replayed-nonce")
        func blocking(_ nonce: String, _ key: String) -> String {
            do throws(SigningError) {
                try other.remember(nonce, of: key, expiration: now + 300, now: now)
                return "no error"
            } catch {
                return error.code.name
            }
        }
        #expect(blocking("a", "l") == "no error")
        #expect(blocking("a", "l") == "replayed-nonce")
        // A border between key and nonce that moves makes another pair.
        #expect(blocking("kc", "") == "no error")
        #expect(blocking("c", "k") == "no error")
        #expect(blocking("", "kc") == "no error")
    }

    /// Each key of Redis has an expiration.
    @Test func writesNoTextOfAMessageAsAKey() async throws {
        let host = try await RedisHost.start()
        var options = host.options
        options.prefix = "shop:"
        let store = try RedisNonceStore(options)
        try await store.remember("nonce\r\nFLUSHALL", of: "orders", expiration: now + 300, now: now)
        let key = try await host.ask("KEYS", "*")
        #expect(key.hasPrefix("shop:") && key.utf8.count == 5 + 43)
        #expect(!key.contains("nonce") && !key.contains("orders"))
        #expect(try await host.ask("GET", key) == "1")
        // The last second counts, and ten more for a server that asks late.
        let left = try #require(Int(try await host.ask("PTTL", key)))
        #expect(left > 200_000 && left <= 311_000)
        // Another prefix, another store.
        options.prefix = "other:"
        #expect(await code { try await RedisNonceStore(options).check() } == "no error")
        let apart = try RedisNonceStore(options)
        #expect(
            await code {
                try await apart.remember(
                    "nonce\r\nFLUSHALL", of: "orders", expiration: now + 300, now: now)
            } == "no error")
        #expect(try await host.ask("DBSIZE") == "2")
    }

    @Test(arguments: [Int64.max, now, 0, .min])
    func takesAnExpirationFarAway(_ expiry: Int64) async throws {
        let host = try await RedisHost.start()
        let store = try RedisNonceStore(host.options)
        for time in [now, -1, Int64.min] {
            let nonce = "n\(time)"
            func remember() async throws {
                try await store.remember(nonce, of: "k", expiration: expiry, now: time)
            }
            #expect(await code(remember) == "no error")
            // The other cases end within seconds; on a busy machine this one may take as long.
            if expiry == .max { #expect(await code(remember) == "replayed-nonce") }
        }
    }

    /// The verifiers run in several servers.
    @Test func passesOneOfManyReplays() async throws {
        let host = try await RedisHost.start()
        let stores = try (0..<4).map { _ in try RedisNonceStore(host.options) }
        let count = 500
        let passed = await withTaskGroup(of: [Int].self) { group in
            for replay in 0..<16 {
                group.addTask {
                    var passed = [Int](repeating: 0, count: count)
                    for number in 0..<count {
                        let outcome = await stores[replay % 4].code("n\(number)")
                        if outcome == "no error" { passed[number] += 1 }
                        if outcome != "replayed-nonce" && outcome != "no error" {
                            Issue.record("\(outcome)")
                        }
                    }
                    return passed
                }
            }
            return await group.reduce([Int](repeating: 0, count: count)) {
                zip($0, $1).map(+)
            }
        }
        #expect(passed == Array(repeating: 1, count: count))
        #expect(try await host.ask("DBSIZE") == "\(count)")
    }

    @Test func usesASocketOrAnotherDatabase() async throws {
        let host = try await RedisHost.start(port: 0)
        let socket = RedisNonceStore.Options.patient(.socket(host.folder.path("redis")))
        var second = socket
        second.database = 1
        for options in [socket, second] {
            let store = try RedisNonceStore(options)
            #expect(await store.code("a") == "no error")
            #expect(await store.code("a") == "replayed-nonce")
        }
        second.database = 2
        let absent = try RedisNonceStore(second)
        #expect(await absent.code("a") == "nonce-store-unavailable")
        let url = try RedisNonceStore.Options(url: "unix:\(host.folder.path("redis"))")
        #expect(await (try RedisNonceStore(.patient(url))).code("a") == "replayed-nonce")
    }

    // MARK: Down and up again

    /// Refuses while no server is there.
    @Test func usesARestartedServer() async throws {
        let port = freePort()
        let store = try RedisNonceStore(.patient(.host("127.0.0.1", port: port)))
        #expect(await store.code("a") == "nonce-store-unavailable")
        #expect(await code { try await store.check() } == "nonce-store-unavailable")
        for nonce in ["a", "b", "c"] {
            let host = try await RedisHost.start(port: port)
            #expect(await code { try await store.check() } == "no error")
            // The connection of before is gone, and that costs no message.
            #expect(await store.code(nonce) == "no error")
            #expect(await store.code(nonce) == "replayed-nonce")
            try await host.stop()
            #expect(await store.code(nonce) == "nonce-store-unavailable")
        }
    }

    @Test func replacesAnIdleConnectionThatEnded() async throws {
        let host = try await RedisHost.start()
        var options = host.options
        options.connections = 1
        let store = try RedisNonceStore(options)
        for number in 0..<20 {
            #expect(await store.code("n\(number)") == "no error")
            _ = try await host.ask("CLIENT", "KILL", "TYPE", "normal")
        }
    }

    /// Uses the server again when it responds again.
    @Test func givesUpOnAServerThatHangs() async throws {
        let host = try await RedisHost.start()
        let patient = try RedisNonceStore(host.options)
        #expect(await patient.code("a") == "no error")
        var options = host.options
        options.commandTimeout = .milliseconds(200)
        options.connectTimeout = .milliseconds(200)
        let store = try RedisNonceStore(options)
        // So that it has a connection; on a busy machine it may be too late.
        _ = await store.code("b")
        _ = kill(host.processIdentifier, SIGSTOP)
        for nonce in ["c", "d", "a"] {
            #expect(await store.code(nonce) == "nonce-store-unavailable")
        }
        _ = kill(host.processIdentifier, SIGCONT)
        var outcome = ""
        for number in 0..<100 where outcome != "no error" {
            outcome = await store.code("e\(number)")
        }
        #expect(outcome == "no error")
        #expect(await patient.code("a") == "replayed-nonce")
    }

    @Test func boundsTheCallsThatWait() async throws {
        let fake = try await FakeRedis(.isSilent)
        var options = fake.options
        options.connections = 1
        options.waitingLimit = 10
        options.connectTimeout = .milliseconds(100)
        options.commandTimeout = .milliseconds(300)
        let store = try RedisNonceStore(options)
        let outcomes = await withTaskGroup(of: String.self) { group in
            for number in 0..<200 {
                group.addTask {
                    await words {
                        try await store.remember("n\(number)", of: "k", expiration: now, now: now)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.allSatisfy { $0.hasPrefix("nonce-store-unavailable") })
        #expect(outcomes.contains { $0.contains("10 calls wait") })
        #expect(outcomes.contains { $0.contains("in time") })
    }

    @Test func blocksNoThreadOfThePool() async throws {
        let fake = try await FakeRedis(.isSilent)
        let store = try RedisNonceStore(fake.options)
        let outcomes = await withTaskGroup(of: String.self) { group in
            for number in 0..<64 { group.addTask { await store.code("n\(number)") } }
            // None of them has ended when as many others have run.
            let others = (0..<64).map { number in Task { number } }
            var sum = 0
            for other in others { sum += await other.value }
            #expect(sum == 2016)
            try? await fake.stop()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == Array(repeating: "nonce-store-unavailable", count: 64))
    }

    // MARK: A Redis that refuses

    @Test func requiresTheRightPassword() async throws {
        let host = try await RedisHost.start(["--requirepass", "s3cret-ZZZZZZ"])
        let folder = try TemporaryDirectory()
        func password(_ text: String) throws -> Passphrase {
            try Passphrase(.file(folder.write(text, to: "password")))
        }
        let none = try RedisNonceStore(host.options)
        let noWords = await words { try await none.check() }
        #expect(noWords.contains("requires a password (NOAUTH)"))
        let wrong = try RedisNonceStore(host.options, password: password("other-ZZZZZZ"))
        let wrongWords = await words { try await wrong.check() }
        #expect(wrongWords.contains("does not accept the user or the password (WRONGPASS)"))
        #expect(await wrong.code("a") == "nonce-store-unavailable")
        let right = try RedisNonceStore(host.options, password: password("s3cret-ZZZZZZ\n"))
        #expect(await right.code("a") == "no error")
        #expect(await right.code("a") == "replayed-nonce")
        var user = host.options
        user.username = "nobody"
        let stranger = try RedisNonceStore(user, password: password("s3cret-ZZZZZZ"))
        let strangerWords = await words { try await stranger.check() }
        #expect(strangerWords.contains("WRONGPASS"))
        var dumped = ""
        dump(right, to: &dumped)
        dump(user, to: &dumped)
        for shown in [noWords, wrongWords, strangerWords, dumped, "\(right)", "\(user)"] {
            #expect(!shown.contains("ZZZZZZ"))
        }
    }

    @Test func worksForAUserWithFewRights() async throws {
        let host = try await RedisHost.start()
        _ = try await host.ask(
            "ACL", "SETUSER", "few", "on", ">right-ZZZZZZ", "~few:*", "+set", "+ping")
        let folder = try TemporaryDirectory()
        let password = try Passphrase(.file(folder.write("right-ZZZZZZ", to: "password")))
        var options = host.options
        options.username = "few"
        options.prefix = "few:"
        let asking = try RedisNonceStore(options, password: password)
        #expect(await words { try await asking.check() }.contains("maxmemory-policy"))
        options.allowsEviction = true
        let store = try RedisNonceStore(options, password: password)
        #expect(await store.code("a") == "no error")
        #expect(await store.code("a") == "replayed-nonce")
        options.prefix = "elsewhere:"
        let elsewhere = try RedisNonceStore(options, password: password)
        #expect(
            await words { try await elsewhere.remember("a", of: "k", expiration: now, now: now) }
                .contains("NOPERM"))
    }

    @Test func refusesServersThatMayForget() async throws {
        for (settings, wanted) in [
            (["--replicaof", "127.0.0.1 \(freePort())"], "it is a replica, which does not write"),
            (["--maxmemory", "1"], "its memory is full (OOM)"),
            (["--maxmemory-policy", "allkeys-lru"], "expected noeviction"),
            (["--maxmemory-policy", "volatile-ttl"], "expected noeviction"),
        ] {
            let host = try await RedisHost.start(settings)
            let store = try RedisNonceStore(host.options)
            let found = await words {
                try await store.remember("a", of: "k", expiration: now + 300, now: now)
            }
            #expect(found.contains(wanted), "\(found)")
            #expect(found.hasPrefix("nonce-store-unavailable: Redis at 127.0.0.1:\(host.port): "))
        }
        let host = try await RedisHost.start(["--maxmemory-policy", "allkeys-lru"])
        var options = host.options
        options.allowsEviction = true
        #expect(await (try RedisNonceStore(options)).code("a") == "no error")
    }

    @Test func leavesAServerThatBecameAReplica() async throws {
        let host = try await RedisHost.start()
        var options = host.options
        options.connections = 1
        let store = try RedisNonceStore(options)
        #expect(await store.code("a") == "no error")
        _ = try await host.ask("REPLICAOF", "127.0.0.1", "\(freePort())")
        #expect(await store.code("b") == "nonce-store-unavailable")
        let before = try await host.ask("INFO", "stats")
        _ = try await host.ask("REPLICAOF", "NO", "ONE")
        #expect(await store.code("b") == "no error")
        #expect(await store.code("a") == "replayed-nonce")
        let after = try await host.ask("INFO", "stats")
        #expect(connections(before) + 3 == connections(after))
    }

    /// Connections so far, each `ask` among them.
    private func connections(_ text: String) -> Int {
        let name = "total_connections_received:"
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) } ?? -100
    }
}
