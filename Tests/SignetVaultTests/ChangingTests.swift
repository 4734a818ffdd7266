import SignetJSON
import SignetVault
import TestSupport
import Testing

/// Changes of a configuration: the same checks and the same precedence as for merging, and a new
/// value as the result.
@Suite struct ChangingTests {
    static let keys = """
        {"host":{"type":"string","visibility":"public","pattern":"[a-z.]+"},
         "attempts":{"type":"integer","visibility":"public","minimum":1,"maximum":9,"setBy":["defaults","launch"]},
         "mode":{"type":"string","visibility":"public","setBy":["defaults"]},
         "token":{"type":"string"}}
        """

    func merged() throws -> GlobalConfiguration {
        try GlobalConfiguration(
            schema: schema(Self.keys),
            defaults: json(#"{"host":"d","attempts":1,"mode":"test","token":"t"}"#),
            launch: json(#"{"host":"l"}"#), fetched: json(#"{"host":"f"}"#), requiring: .attempts)
    }

    func text(_ configuration: GlobalConfiguration) -> String {
        JSONValue.object(configuration.publicValues).text
            + JSONValue.object(configuration.publicOrigins).text
    }

    @Test func keepsPrecedenceAndRestoresHiddenValues() throws {
        let first = try merged()
        let before = text(first)
        let hidden = try first.changing(.launch, with: ["host": "m"])
        #expect(hidden.public.values["host"] == "f")
        let second = try hidden.changing(.fetched, with: ["host": nil])
        #expect(second.public.values["host"] == "m")
        #expect(second.origin(of: "host") == .launch)
        let third = try second.changing(.launch, with: ["host": nil])
        #expect(third.public.values["host"] == "d")
        let fourth = try third.changing(.defaults, with: ["host": nil, "token": nil])
        #expect(fourth.origin(of: "host") == nil && fourth.count == 2)
        #expect(text(first) == before)
    }

    @Test func replacesAllOfOneOrigin() throws {
        let first = try merged().changing(.fetched, with: ["token": "f"])
        #expect(first.origin(of: "token") == .fetched)
        let second = try first.replacing(.fetched, with: json(#"{"host":"g"}"#))
        #expect(second.public.values["host"] == "g")
        #expect(second.origin(of: "token") == .defaults)
        let third = try second.replacing(.fetched, with: .none)
        #expect(third.public.values["host"] == "l")
    }

    @Test(
        arguments: [
            (.launch, ["attempts": 0], "out-of-range"),
            (.launch, ["host": "A"], "pattern-mismatch"),
            (.launch, ["attempts": "1"], "wrong-type"),
            (.launch, ["more": 1], "unknown-config-key"),
            (.launch, ["more": nil], "unknown-config-key"),
            (.launch, ["mode": "a"], "source-not-allowed"),
            (.launch, ["mode": nil], "source-not-allowed"),
            (.fetched, ["attempts": 2], "source-not-allowed"),
            (.defaults, ["mode": "-----BEGIN PRIVATE\u{20}KEY-----"], "public-value-looks-secret"),
            (.defaults, ["attempts": nil], "missing-value"),
        ] as [(ConfigurationOrigin, JSONObject, String)])
    func refuses(_ origin: ConfigurationOrigin, _ values: JSONObject, _ wanted: String) throws {
        let configuration = try merged()
        #expect(code { _ = try configuration.changing(origin, with: values) } == wanted)
        #expect(
            code { _ = try configuration.replacing(origin, with: .values(values)) }
                == (values["attempts"]?.isNull == true || values["mode"]?.isNull == true
                    ? wanted == "source-not-allowed" ? wanted : "wrong-type" : wanted))
    }

    @Test func anErrorNamesTheOriginAndNotTheValue() throws {
        let configuration = try merged()
        let error = error {
            _ = try configuration.changing(.launch, with: ["host": "ZZZZZZcanaryZZZZZZ"])
        }
        #expect(
            error?.message == #""host" in launch: the value as a whole does not match the pattern"#)
    }

    @Test func requiredKeysStayRequired() throws {
        let first = try merged().changing(.launch, with: ["attempts": 2])
        let second = try first.changing(.defaults, with: ["attempts": nil])
        #expect(second.public[.attempts] == 2)
        let error = error { _ = try second.changing(.launch, with: ["attempts": nil]) }
        #expect(error?.code == .missingValue)
        #expect(error?.message.contains("\"attempts\"") == true)
        #expect(code { _ = try second.replacing(.launch, with: .none) } == "missing-value")
    }
}

/// A configuration that several tasks change and read.
@Suite struct LiveConfigurationTests {
    func live() throws -> LiveConfiguration {
        LiveConfiguration(
            try GlobalConfiguration(
                schema: schema(
                    #"""
                    {"a":{"type":"integer","visibility":"public"},
                     "b":{"type":"integer","visibility":"public"},
                     "token":{"type":"string","setBy":["fetched"]}}
                    """#),
                defaults: json(#"{"a":0,"b":0}"#)))
    }

    @Test func aChangeIsWholeOrNot() throws {
        let live = try live()
        let before = live.current
        try live.set(launch: ["a": 1, "b": 1])
        #expect(live.public.values == ["a": 1, "b": 1])
        #expect(before.public.values == ["a": 0, "b": 0])
        #expect(code { try live.set(launch: ["a": 2, "b": "2"]) } == "wrong-type")
        #expect(live.public.values == ["a": 1, "b": 1])
        try live.set(launch: ["a": nil])
        #expect(live.public.values == ["a": 0, "b": 1])
        try live.replace(fetched: json(#"{"b":3,"token":"t"}"#))
        #expect(live.public.values == ["a": 0, "b": 3] && live.current.count == 3)
        try live.replace(fetched: .none)
        #expect(live.public.values == ["a": 0, "b": 1])
    }

    @Test func requiredKeysStayReadable() throws {
        let live = try live()
        let key = ConfigurationKey<Int, PublicValue>("a")
        try live.require(key)
        let other = try GlobalConfiguration(
            schema: schema(#"{"a":{"type":"string","visibility":"public"}}"#),
            defaults: json(#"{"a":"x"}"#))
        #expect(code { try live.replace(with: other) } == "wrong-type")
        let without = try GlobalConfiguration(
            schema: schema(#"{"a":{"type":"integer","visibility":"public"}}"#), defaults: .none)
        #expect(code { try live.replace(with: without) } == "missing-value")
        let secret = try GlobalConfiguration(
            schema: schema(#"{"a":{"type":"integer"}}"#), defaults: json(#"{"a":1}"#))
        #expect(code { try live.replace(with: secret) } == "not-public")
        #expect(code { try live.update { _ throws(VaultError) in without } } == "missing-value")
        #expect(live.public[key] == 0)
        try live.replace(with: without.changing(.defaults, with: ["a": 4]))
        #expect(
            code {
                try live.update { current throws(VaultError) in
                    try current.changing(.defaults, with: ["a": nil])
                }
            } == "missing-value")
        #expect(live.public[key] == 4)
        #expect(
            code { try live.require(ConfigurationKey<String, PublicValue>("a")) } == "wrong-type")
        #expect(code { try live.require(ConfigurationKey<Int, PublicValue>("z")) } != nil)
    }

    @Test func aReaderGetsTheNewestAndMissesThoseBetween() async throws {
        let live = try live()
        var reader = live.snapshots.makeAsyncIterator()
        #expect(await reader.next()?.public.values["a"] == 0)
        for number in 1...5 {
            try live.set(launch: ["a": JSONValue(integerLiteral: Int64(number))])
        }
        #expect(await reader.next()?.public.values["a"] == 5)
        var second = live.snapshots.makeAsyncIterator()
        #expect(await second.next()?.public.values["a"] == 5)
    }

    @Test func wakesReadersThatWait() async throws {
        let live = try live()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var seen = 0
                    for await snapshot in live.snapshots {
                        seen += 1
                        let values = snapshot.public.values
                        #expect(values["a"] == values["b"])
                        if values["a"] == 200 { break }
                    }
                    return seen
                }
            }
            for number in 1...200 {
                let value = JSONValue(integerLiteral: Int64(number))
                try live.set(launch: ["a": value, "b": value])
                await Task.yield()
            }
            for try await seen in group { #expect((1...201).contains(seen)) }
        }
    }

    @Test func aCancelledReaderEnds() async throws {
        let live = try live()
        let task = Task {
            var count = 0
            for await _ in live.snapshots { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value <= 1)
        // A reader that certainly waits: it has reported the first snapshot.
        let (seen, tell) = AsyncStream.makeStream(of: Void.self)
        let waiting = Task {
            for await _ in live.snapshots { tell.yield() }
            return true
        }
        for await _ in seen { break }
        waiting.cancel()
        #expect(await waiting.value)
    }

    @Test func changesFromManyTasksAreNotLost() async throws {
        let live = try live()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    _ = try? live.update { current throws(VaultError) in
                        let count = current.public.values["a"]?.number?.int64 ?? 0
                        return try current.changing(
                            .launch, with: ["a": .number(JSONNumber(count + 1))])
                    }
                }
            }
        }
        #expect(live.public.values["a"] == 50)
    }

    @Test func noLockIsHeldWhileAChangeRuns() throws {
        let live = try live()
        try live.update { current throws(VaultError) in
            // Would never return under a lock; and the outer change runs again after the inner one.
            if live.current.public.values["b"] == 0 { try live.set(launch: ["b": 7]) }
            return try current.changing(.launch, with: ["a": 1])
        }
        #expect(live.public.values == ["a": 1, "b": 7])
    }
}
