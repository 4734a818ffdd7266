#if Tool && Storage
import ArgumentParser
import HTTPTypes
import SignetBase
import SignetCache
import SignetCrypto
import SignetJSON
import SignetStorage
import SignetSystem

/// `signet cache`: the responses that `--cache` keeps.
struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "List and remove the responses that --cache keeps.",
        examples: [
            "signet cache list ~/.cache/shop",
            "signet cache clear --host api.example.com ~/.cache/shop",
        ],
        subcommands: [CacheListCommand.self, CacheClearCommand.self])

    /// Opens a folder that has a cache.
    ///
    /// - Throws: If there is none: these commands create nothing.
    static func open(_ folder: String) throws -> DiskCacheStore {
        guard DiskCacheStore.exists(in: folder) else {
            throw ToolError(
                .unusableCacheFolder,
                "\(Terminal.printable(folder)): found no cache in this folder")
        }
        return try DiskCacheStore(folder: folder, memoryLimit: 0)
    }

    /// The error of a cache that is read-only, on a full disk, or held by another process.
    static func unusable(_ folder: String, _ outcome: String) -> ToolError {
        ToolError(
            .unusableCacheFolder,
            "\(Terminal.printable(folder)): the cache can't be opened for writing, so \(outcome); "
                + "is the disk full or read-only, or does another process hold the database?")
    }
}

/// `signet cache list`.
struct CacheListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the stored responses, the most recently used ones first.",
        discussion: """
            Queries aren't shown, because they may have secrets. A response of a call by the program's \
            own rules has the URL call:SERVICE/API. "Fresh until" is when it has to be validated; a stale \
            one may still be used then.
            """,
        examples: ["signet cache list ~/.cache/shop"])

    @Argument(help: ArgumentHelp("The folder.", valueName: "FOLDER"), completion: .directory)
    var folder: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        guard let responses = try await CacheCommand.open(folder).readableList() else {
            throw CacheCommand.unusable(folder, "nothing can be listed")
        }
        if responses.isEmpty { common.terminal.note("no responses are stored") }
        let now = UnixTime.now()
        var table = Table("URL", "status", "stored", "fresh until", "bytes")
        for response in responses {
            let end = Self.freshUntil(response, now: now)
            table.add([
                (response.shownURL, .plain), ("\(response.response.status.code)", .plain),
                (UnixTime.rfc3339(response.responseTime), .plain),
                (end.map { UnixTime.rfc3339($0) } ?? "-", (end ?? 0) > now ? .good : .warning),
                ("\(response.length)", .plain),
            ])
        }
        try common.terminal.result(
            [
                "responses": .array(
                    responses.map { response in
                        [
                            "url": .string(response.shownURL),
                            "status": .number(JSONNumber(response.response.status.code)),
                            "stored": .string(UnixTime.rfc3339(response.responseTime)),
                            "freshUntil": Self.freshUntil(response, now: now).map {
                                .string(UnixTime.rfc3339($0))
                            } ?? .null,
                            "bytes": .number(JSONNumber(Int(response.length))),
                        ]
                    })
            ],
            lines: responses.isEmpty
                ? [] : table.lines(colored: common.terminal.allowsColor))
    }

    /// The end of a response's freshness; nil for one of a call, whose rules the program has, and
    /// if the clock was set back.
    private static func freshUntil(_ response: StoredResponse, now: Int64) -> Int64? {
        guard !response.id.key.origin.startsWithBytes(of: "call:"),
            let age = response.age(at: now)
        else { return nil }
        return now + PrivateCache().lifetime(of: response) - age
    }
}

/// `signet cache clear`.
struct CacheClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove the stored responses, or those of a host.",
        examples: [
            "signet cache clear ~/.cache/shop",
            "signet cache clear --host api.example.com ~/.cache/shop",
        ])

    @Option(help: ArgumentHelp("Remove the responses of this host alone.", valueName: "host"))
    var host: String?

    @Argument(help: ArgumentHelp("The folder.", valueName: "FOLDER"), completion: .directory)
    var folder: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let selection = try host.map { CacheSelection.host(try HostName.canonical($0).uriText) }
        let store = try CacheCommand.open(folder)
        let before = await store.readableList()
        await store.remove(selection ?? .all)
        // Nil also if the folder can't be written.
        guard let after = await store.readableList() else {
            throw CacheCommand.unusable(folder, "nothing was removed")
        }
        guard let before else {
            return try common.terminal.result(
                ["removed": nil], lines: ["removed: the whole cache, which couldn't be read"])
        }
        let removed = before.count - after.count
        try common.terminal.result(
            ["removed": .number(JSONNumber(removed))], lines: ["removed: \(removed)"])
    }
}

extension StoredResponse {
    /// The URL as people write it, without the default port and the query, which may have secrets.
    fileprivate var shownURL: String {
        String(decoding: wholeURL.utf8.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
    }

    private var wholeURL: String {
        let key = id.key
        for ending in ["https://": ":443", "http://": ":80"]
        where key.origin.startsWithBytes(of: ending.key)
            && key.origin.endsWithBytes(of: ending.value)
        {
            let origin = key.origin.utf8.count
            return String(
                decoding: key.origin.utf8.dropLast(ending.value.utf8.count), as: UTF8.self)
                + String(decoding: key.url.utf8.dropFirst(origin), as: UTF8.self)
        }
        return key.url
    }
}
#endif
