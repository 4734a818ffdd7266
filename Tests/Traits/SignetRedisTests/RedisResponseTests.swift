import SignetRedis
import SignetSigning
import TestSupport
import Testing

/// Responses of a server that isn't a correct Redis.
@Suite struct RedisResponseTests {
    @Test(
        arguments: [
            "HTTP/1.1 400 Bad Request\\r\\n\\r\\n", "\\x00", "\\r\\n", "\\xff\\xff\\xff\\xff",
            "+ok\\r\\n",
            "+QUEUED\\r\\n", "+\\r\\n", "+OKAY\\r\\n", "+OK \\r\\n", "$2\\r\\nOK\\r\\n", ":1\\r\\n",
            ":0\\r\\n", "$0\\r\\n\\r\\n",
            "$-2\\r\\n", "$99999999999999999999\\r\\n", "*0\\r\\n", "*1\\r\\n+OK\\r\\n",
            "*-1\\r\\n",
            "*2147483647\\r\\n", "*1152921504606846977\\r\\n",
            "*1\\r\\n*1\\r\\n*1\\r\\n*1\\r\\n*1\\r\\n*1\\r\\n*1\\r\\n*1\\r\\n*1\\r\\n",
            ":99999999999999999999\\r\\n", ":x\\r\\n", "-\\r\\n", "-ERR \\x1b[31mred\\r\\n",
            "-readonly\\r\\n",
            "-OK\\r\\n", "_\\r\\n",
        ])
    func refusesUnclearResponses(_ response: String) async throws {
        let fake = try await FakeRedis(.responds, response)
        let store = try RedisNonceStore(fake.options)
        let found = await words {
            try await store.remember("a", of: "k", expiration: now + 300, now: now)
        }
        // The null of RESP3, which hiredis 1 reads: then the nonce counts as used.
        let isNothing = response == "_\\r\\n"
        #expect(
            found.hasPrefix("nonce-store-unavailable: ")
                || isNothing && found.hasPrefix("replayed-nonce"), "\(found)")
        #expect(!found.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
        #expect(!found.contains("red"))
    }

    @Test(
        arguments: [
            ("READONLY You can't write against a read only replica.", "it is a replica"),
            ("OOM command not allowed", "its memory is full"),
            ("LOADING Redis is", "loading its data"),
            ("MISCONF Redis is configured to save", "cannot write its data"),
            ("MOVED 3999 127.0.0.1:6381", "part of a cluster"), ("NOAUTH x", "requires a password"),
            ("NOREPLICAS Not enough good replicas", "fewer replicas"),
            ("ERR unknown command 'secret'", "it refuses the command (ERR)"),
            ("x y", "it refuses the command (an error)"),
        ])
    func namesTheErrorsOfRedis(_ error: String, _ wanted: String) async throws {
        let fake = try await FakeRedis(.responds, "-\(error)\\r\\n")
        let store = try RedisNonceStore(fake.options)
        let found = await words {
            try await store.remember("a", of: "k", expiration: now + 300, now: now)
        }
        #expect(found.contains(wanted) && !found.contains("secret"), "\(found)")
    }

    @Test(
        arguments: [
            ("#t\\r\\n", "a boolean"), ("#f\\r\\n", "a boolean"), (",1.5\\r\\n", "a double"),
            (",nan\\r\\n", "a double"), ("(1234567890123\\r\\n", "a big number"),
            ("=6\\r\\ntxt:OK\\r\\n", "a verbatim string"), ("!3\\r\\nERR\\r\\n", "a bulk error"),
            ("*0\\r\\n", "a list"), ("*-1\\r\\n", "a list"), ("*1\\r\\n+OK\\r\\n", "a list"),
            ("%0\\r\\n", "a map"), ("~0\\r\\n", "a set"), (">0\\r\\n", "a push message"),
            ("|0\\r\\n+OK\\r\\n", "an attribute"),
        ])
    func refusesOtherTypesByName(_ response: String, _ type: String) async throws {
        for good in ["+OK", "$-1"] {
            let fake = try await FakeRedis(.responds, "\(good)\\r\\n@\(response)")
            var options = fake.options
            options.connections = 1
            let store = try RedisNonceStore(options)
            #expect(await store.code("a") == (good == "+OK" ? "no error" : "replayed-nonce"))
            let found = await words {
                try await store.remember("b", of: "k", expiration: now + 300, now: now)
            }
            #expect(found.hasPrefix("nonce-store-unavailable: "), "\(found)")
            #expect(found.contains("found \(type), expected a status"), "\(found)")
        }
    }

    @Test func neverUsesAnExtraResponse() async throws {
        let fake = try await FakeRedis(.responds, "+OK\\r\\n$-1\\r\\n")
        var options = fake.options
        options.connections = 1
        let store = try RedisNonceStore(options)
        // If the second response were kept, every other nonce would count as used.
        for number in 0..<6 { #expect(await store.code("n\(number)") == "no error") }
    }

    @Test func sendsNothingAgainAfterALostConnection() async throws {
        let fake = try await FakeRedis(.ends)
        let store = try RedisNonceStore(fake.options)
        for _ in 0..<3 {
            #expect(
                await words { try await store.remember("a", of: "k", expiration: now, now: now) }
                    .contains("the connection broke"))
        }
    }

    /// Gives up at once if a response is too long, and at the deadline if it comes too slowly.
    @Test(
        arguments: [
            (FakeRedis.Manner.drips, "+O"), (.drips, "$"),
            (.floods, "$60000000\\r\\nxxxxxxxxxxxxxxxxx"),
            (.floods, "+xxxxxxxxxxxxxxxxxxxxxxxxxxx"), (.isSilent, ""),
        ])
    func endsOnEndlessResponses(_ manner: FakeRedis.Manner, _ bytes: String) async throws {
        let fake = try await FakeRedis(manner, bytes)
        var options = fake.options
        options.commandTimeout = .milliseconds(300)
        let store = try RedisNonceStore(options)
        #expect(await store.code("a") == "nonce-store-unavailable")
        #expect(await code { try await store.check() } == "nonce-store-unavailable")
    }
}
