#if Storage
import Foundation
import SignetCache
import SignetStorage
import TestSupport
import Testing

/// Processes of `signet send --cache` that share a folder.
@Suite struct SharedFolderTests {
    private let directory: TemporaryDirectory
    private var folder: String { directory.path("cache") }

    init() throws { directory = try TemporaryDirectory() }

    private func send(_ host: RouteServer, _ path: String, _ more: [String] = []) async throws
        -> ProcessOutput
    {
        try await SignetTool.run(
            ["send", "--plain-http", "--cache", folder] + more,
            stdin: Array("GET \(path) HTTP/1.1\r\nHost: localhost:\(host.port)\r\n\r\n".utf8))
    }

    private func server(_ body: String) async throws -> RouteServer {
        try await RouteServer(["/a": "200 OK\r\nCache-Control: max-age=600\r\n\r\n\(body)"])
    }

    @Test func eachSeesWhatTheOtherStored() async throws {
        let host = try await server("one")
        async let one = send(host, "/a")
        async let two = send(host, "/a")
        for output in try await [one, two] {
            #expect(output.exit == 0 && output.text.hasSuffix("\r\n\r\none"), "\(output)")
        }
        let count = host.requests.count
        async let three = send(host, "/a")
        async let four = send(host, "/a")
        for output in try await [three, four] {
            #expect(output.text.contains("cache-status: signet;hit;ttl="), "\(output)")
        }
        #expect(host.requests.count == count)
    }

    @Test func theyKeepTheSizeTogether() async throws {
        let host = try await server(String(repeating: "x", count: 100_000))
        let limit = DiskCacheStore.smallestByteLimit
        var most = 0
        for turn in 0..<8 {
            try await withThrowingTaskGroup(of: Int32.self) { group in
                for number in 0..<3 {
                    group.addTask {
                        try await send(
                            host, "/a?\(turn * 3 + number)", ["--cache-size", "\(limit)"]
                        )
                        .exit
                    }
                }
                for try await exit in group { #expect(exit == 0) }
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            let sizes = try files.map { name in
                try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.size] as? Int
            }
            most = max(most, sizes.reduce(0) { $0 + ($1 ?? 0) })
        }
        #expect(most <= limit * 105 / 100 && most > limit * 60 / 100, "\(most)")
        let store = try DiskCacheStore(folder: folder)
        let urls = await store.list().map(\.id.key.url)
        #expect((6...10).contains(urls.count), "\(urls)")
        // What was stored last stayed, and what was stored first didn't.
        #expect(urls.contains { $0.hasSuffix("/a?23") } && !urls.contains { $0.hasSuffix("/a?0") })
    }
}
#endif
