import SignetRedis
import SignetSigning
import Testing

/// The URL and the options of a Redis.
@Suite struct RedisOptionsTests {
    @Test(
        arguments: [
            ("redis://h", RedisNonceStore.Options.host("h")), ("redis://h/", .host("h")),
            ("redis://h:1", .host("h", port: 1)),
            ("redis://127.0.0.1:65535/", .host("127.0.0.1", port: 65_535)),
            ("redis://[::1]:7", .host("::1", port: 7)), ("redis://[::1]", .host("::1")),
            ("unix:/run/redis", .socket("/run/redis")),
        ])
    func readsAURL(_ text: String, _ wanted: RedisNonceStore.Options) throws {
        #expect(try RedisNonceStore.Options(url: text) == wanted)
    }

    @Test func readsDatabaseAndTLS() throws {
        let options = try RedisNonceStore.Options(url: "rediss://h:6380/3")
        #expect(options.database == 3)
        #expect(options.tls == RedisNonceStore.Options.TLS())
        #expect(try RedisNonceStore.Options(url: "redis://h").tls == nil)
    }

    @Test(
        arguments: [
            "", "h", "http://h", "redis:", "redis://", "redis:///", "redis://:6379", "redis://h:",
            "redis://h:0", "redis://h:65536", "redis://h:-1", "redis://h:x", "redis://h:1x",
            "redis://h/x",
            "redis://h/1/2", "redis://h/-1", "redis://h?db=1", "redis://user:secret@h",
            "redis://:secret@h",
            "redis://secret@", "rediss://u:secret@h/0", "redis://[::1", "redis://[::1]x",
            "redis://h\nsecret", "redis://h\0", "unix:", "unix:/\0",
            "unix:" + String(repeating: "x", count: 108),
            "redis://h:99999999999999999999", "REDIS://h",
        ])
    func refusesAURLWithoutRepeatingIt(_ text: String) async {
        let found = await words {
            _ = try RedisNonceStore.Options(url: text)
        }
        #expect(found.hasPrefix("invalid-value: "), "\(found)")
        #expect(!found.contains("secret"))
    }

    @Test func refusesOptionsOutOfBounds() async {
        let changes: [(inout RedisNonceStore.Options) -> Void] = [
            { $0.connections = 0 }, { $0.connections = 65 }, { $0.waitingLimit = 0 },
            { $0.prefix = "a b" }, { $0.prefix = "ä" }, { $0.database = -1 }, { $0.username = "u" },
            { $0.prefix = String(repeating: "x", count: 201) }, { $0.connectTimeout = .zero },
            { $0.commandTimeout = .seconds(61) }, { $0.commandTimeout = .seconds(-1) },
        ]
        for change in changes {
            var options = RedisNonceStore.Options.host("h")
            change(&options)
            #expect(await code { _ = try RedisNonceStore(options) } == "invalid-value")
        }
        var options = RedisNonceStore.Options.host("h")
        options.tls = .init()
        options.tls?.authorityFile = "a\0b"
        #expect(await code { _ = try RedisNonceStore(options) } == "invalid-value")
        #expect(
            await code { _ = try RedisNonceStore(.socket(String(repeating: "x", count: 108))) }
                == "invalid-value")
    }
}
