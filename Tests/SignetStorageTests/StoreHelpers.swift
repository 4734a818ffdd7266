#if Storage
import HTTPTypes
import SignetCache
import SignetStorage
import TestSupport

/// A response to store, with its content.
struct Sample {
    var path = "/"
    var scope = "aa.bb.cc"
    var host = "api.example.com"
    var variant: String?
    var content: [UInt8] = []
    var part: ContentPart?
    var time: Int64 = 1_790_000_000
    var fields: HTTPFields = [.cacheControl: "max-age=60"]

    var key: CacheKey {
        CacheKey(
            HTTPRequest(method: .get, scheme: "https", authority: host, path: path), scope: scope)!
    }

    var response: StoredResponse {
        StoredResponse(
            id: .init(
                key: key, selected: variant.map { [SelectedField(name: "foo", value: $0)] } ?? []),
            response: HTTPResponse(status: .ok, headerFields: fields), requestTime: time,
            responseTime: time, length: Int64(content.count), part: part,
            publicKeys: ["sha256/one", "sha256/two"])
    }

    /// A content that only one path and size has.
    static func bytes(_ count: Int, of path: String) -> [UInt8] {
        let seed = Array(path.utf8) + [1]
        return (0..<count).map { seed[$0 % seed.count] &+ UInt8(truncatingIfNeeded: $0 / 251) }
    }

    static func of(_ path: String, _ count: Int) -> Sample {
        Sample(path: path, content: bytes(count, of: path))
    }
}

extension DiskCacheStore {
    /// Stores a response, in chunks.
    @discardableResult
    func store(_ sample: Sample, chunk: Int = 10_000, isWhole: Bool = true) async -> Bool {
        await write(sample.content, of: .store(sample.response), chunk: chunk, isWhole: isWhole)
    }

    @discardableResult
    func write(
        _ content: [UInt8], of change: CacheChange, chunk: Int = 10_000, isWhole: Bool = true
    ) async -> Bool {
        guard let writer = await writer(for: change) else { return false }
        var rest = content[...]
        while !rest.isEmpty {
            await writer.write(Array(rest.prefix(chunk)))
            rest = rest.dropFirst(chunk)
        }
        return await writer.finish(isWhole: isWhole)
    }

    /// The contents that are stored under a key, or nil for one that is damaged.
    func contents(of key: CacheKey) async -> [[UInt8]?] {
        var contents: [[UInt8]?] = []
        for entry in await responses(for: key) { contents.append(await entry.bytes) }
        return contents
    }
}

extension CacheEntry {
    var bytes: [UInt8]? {
        get async {
            guard await content.isIntact() else { return nil }
            switch content {
            case .bytes(let bytes): return bytes
            case .pieces(let reader):
                var bytes: [UInt8] = []
                while Int64(bytes.count) < response.length {
                    guard
                        let piece = await reader.piece(in: Int64(bytes.count)..<response.length)
                    else { return nil }
                    bytes += piece
                }
                return bytes
            }
        }
    }
}
#endif
