import Foundation
import TestSupport
import Testing

/// Every system call of `send --out` about its file, hit by a kill, a full disk and a failing one.
///
/// After each the file is the old one or the whole new one, exit 0 means the new one, and the next
/// run with `--resume` brings it and leaves nothing else.
@Suite(
    .enabled(if: FaultInjection.isPermitted, "strace is missing or may not trace processes here"))
struct DownloadCrashToolTests {
    private static let part = ".file.signet-\(getuid()).part"

    private let server: DownloadServer
    private let caFile: String

    init() async throws {
        let authority = try TestAuthority.trusted.get()
        caFile = authority.caFile
        server = try await DownloadServer(tls: authority.leaf)
    }

    /// A folder with the message and an old file.
    private func place() throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        try folder.write(
            "GET /file HTTP/1.1\nHost: \(server.url.dropFirst(8))\n\n", to: "message.http")
        try FileManager.default.createDirectory(
            atPath: folder.path("d"), withIntermediateDirectories: false)
        try folder.write("old", to: "d/file")
        return folder
    }

    private var arguments: [String] {
        [
            "send", "--ca-file", caFile, "--timeout", "300", "--resume", "--out", "d/file",
            "message.http",
        ]
    }

    /// The files that the run's calls name or have open.
    private static func paths(_ folder: TemporaryDirectory) -> [String] {
        let root = folder.url.resolvingSymlinksInPath().path
        return ["\(root)/d", "\(root)/d/file", "\(root)/d/\(part)", part, "file"]
    }

    @Test func leavesTheOldFileOrTheWholeNewOne() async throws {
        let undisturbed = try place()
        let calls = try await FaultInjection.calls(
            of: SignetTool.url, arguments, directory: undisturbed.url, from: Self.part,
            paths: Self.paths(undisturbed))
        #expect(try undisturbed.read("d/file") == DownloadServer.file)
        let names = Set(calls.map(\.name))
        #expect(
            names.isSuperset(of: ["openat", "flock", "write", "fsync", "renameat"]), "\(names)")
        // How many pieces come is the network's business: of like calls the first and one on the
        // way.
        let points = Dictionary(grouping: calls, by: \.name).values.flatMap { calls in
            Set([calls[0], calls[calls.count / 3]]).flatMap { call in
                [FaultInjection.Fault.signal("KILL"), .error("ENOSPC"), .error("EIO")]
                    .filter { call.takes($0) }.map { ($0, call) }
            }
        }
        #expect(points.count > 12, "so few points are not all: \(calls)")
        let missed = try await FaultInjection.missedKills(
            of: SignetTool.url, points
        ) { fault, call in
            try await hit(fault, call)
        }
        #expect(missed == nil, "kills came to nothing")
    }

    /// - Returns: Whether there was such a call.
    private func hit(
        _ fault: FaultInjection.Fault, _ call: FaultInjection.Call
    ) async throws -> Bool {
        let folder = try place()
        let outcome = try await FaultInjection.run(
            SignetTool.url, arguments, directory: folder.url, fault, at: call,
            paths: Self.paths(folder))
        let point: Comment = "\(fault) at \(call): exit \(outcome.exit), \(outcome.stderr)"
        let isHit = fault != .signal("KILL") || outcome.exit != 0
        if fault == .signal("KILL"), isHit { #expect(outcome.exit == 128 + 9, point) }
        #expect([0, 2, 128 + 9].contains(outcome.exit), point)
        let found = try folder.read("d/file")
        #expect(found == Array("old".utf8) || found == DownloadServer.file, point)
        #expect(outcome.exit != 0 || found == DownloadServer.file, point)
        if outcome.exit == 2 { #expect(outcome.stderr.contains("d/"), point) }

        let next = try await SignetTool.run(arguments, directory: folder.url)
        #expect(next.exit == 0, "\(next.stderr), \(point)")
        #expect(try folder.read("d/file") == DownloadServer.file, point)
        #expect(try folder.contents(of: "d") == ["file"], point)
        return isHit
    }
}

extension FaultInjection.Call {
    /// Whether a kill here differs from one at the next call, and a full or a failing disk can be
    /// its end.
    fileprivate func takes(_ fault: FaultInjection.Fault) -> Bool {
        switch fault {
        case .signal: !["close", "fstat", "newfstatat", "lseek", "geteuid"].contains(name)
        case .error("ENOSPC"): ["write", "renameat"].contains(name)
        default: ["fsync", "ftruncate", "fchmod"].contains(name)
        }
    }
}
