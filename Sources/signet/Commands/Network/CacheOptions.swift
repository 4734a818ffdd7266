#if Tool
import ArgumentParser
import SignetCache
import SignetClient
import SignetJSON
#if Storage
import SignetStorage
#endif

/// The cache of a call.
struct CacheOptions: ParsableArguments {
    @Option(
        name: .customLong("cache"),
        help: ArgumentHelp(
            "Keep responses in this folder, and use them as HTTP allows (RFC 9111).",
            valueName: "folder"), completion: .directory)
    var folder: String?

    @Option(
        name: .customLong("cache-size"),
        help: ArgumentHelp(
            """
            The bytes that the folder may take; the default is 256 MiB. A response of more than an \
            eighth of it isn't stored.
            """,
            valueName: "bytes"))
    var byteLimit: Int?

    @Option(
        name: .customLong("cache-mode"),
        help: """
            refresh asks the server and stores its response; only uses what is stored, also if it is \
            stale, and asks no server.
            """)
    var mode: CacheMode = .standard

    func validate() throws {
        if folder == nil, byteLimit != nil || mode != .standard {
            throw ValidationError("--cache-size and --cache-mode need --cache")
        }
        if folder?.isEmpty == true { throw ValidationError("--cache: the folder's name is empty") }
        #if Storage
        if let byteLimit, byteLimit < DiskCacheStore.smallestByteLimit {
            throw ValidationError(
                "--cache-size is at least \(DiskCacheStore.smallestByteLimit) bytes")
        }
        #else
        if folder != nil {
            throw ValidationError("--cache needs the package trait Storage")
        }
        #endif
    }

    /// Adds the cache to a system's options.
    func add(to options: inout NetworkSystem.Options) throws {
        #if Storage
        guard let folder else { return }
        // One command reads a response once, so memory in front of the disk would be no use.
        options.cacheStore = try DiskCacheStore(
            folder: folder, byteLimit: byteLimit ?? DiskCacheStore.defaultByteLimit,
            memoryLimit: 0)
        options.callOptions.cache = .http
        options.callOptions.cacheMode = mode
        #endif
    }
}

extension CacheUse {
    /// For `trace` in `--json`.
    var object: JSONObject {
        var object: JSONObject = [
            "decision": .string("\(decision)"), "stored": .bool(isStored),
            "reason": reason.map(JSONValue.string) ?? .null,
        ]
        object["age"] = age.map { .number(JSONNumber($0)) } ?? .null
        return object
    }

    /// One line for people.
    var line: String {
        "cache: \(decision)" + (reason.map { " (\($0))" } ?? "")
            + (age.map { ", age \($0) s" } ?? "") + (isStored ? ", stored" : "")
    }
}
#endif
