import Foundation
import TestSupport
import Testing

/// Every system call of `verify --nonces` about its file, hit by a kill, a full disk and a failing
/// one.
///
/// After any kill, a message is verified at most once, an earlier nonce stays remembered, and the
/// next run works.
@Suite(
    .enabled(if: FaultInjection.isPermitted, "strace is missing or may not trace processes here"))
struct NonceCrashToolTests {
    static let arguments = [
        "verify", "--scheme", "rfc9421", "--keys", "keys", "--now", "1795228551", "--nonces",
        "n/nonces", "signed",
    ]

    @Test(
        arguments: ["a new file", "a file that grows", "a file that is written anew"])
    func verifiesAMessageAtMostOnce(_ state: String) async throws {
        let start = try await start(state)
        let undisturbed = try copy(start)
        let calls = try await FaultInjection.calls(
            of: SignetTool.url, Self.arguments, directory: undisturbed.url, from: "n/nonces")
        let points = calls.filter { Self.matters.contains($0.name) }
        #expect(points.count > 6, "so few calls are not all: \(calls)")
        let faults = points.flatMap { call in Self.faults(call).map { ($0, call) } }
        let missed = try await FaultInjection.missedKills(
            of: SignetTool.url, faults
        ) { fault, call in
            try await hit(fault, call, start)
        }
        #expect(missed == nil, "kills came to nothing")
    }

    /// Calls that change or read the file; a process that dies at another leaves what it leaves at
    /// the next of these.
    private static let matters: Set<String> = [
        "openat", "flock", "pread64", "ftruncate", "lseek", "write", "fchmod", "fsync", "renameat",
        "renameat2", "unlinkat",
    ]

    /// A kill at each call, and the errors of a full or failing disk.
    private static func faults(_ call: FaultInjection.Call) -> [FaultInjection.Fault] {
        let error: FaultInjection.Fault? =
            switch call.name {
            case "write", "ftruncate", "openat": .error("ENOSPC")
            case "pread64", "fsync", "lseek", "flock", "renameat", "renameat2": .error("EIO")
            default: nil
            }
        return [.signal("KILL")] + (error.map { [$0] } ?? [])
    }

    /// - Returns: Whether there was such a call.
    private func hit(
        _ fault: FaultInjection.Fault, _ call: FaultInjection.Call, _ start: TemporaryDirectory
    ) async throws -> Bool {
        let folder = try copy(start)
        let outcome = try await FaultInjection.run(
            SignetTool.url, Self.arguments, directory: folder.url, fault, at: call)
        let point: Comment = "\(fault) at \(call): exit \(outcome.exit), \(outcome.stderr)"
        #expect(outcome.exit != 128 + 6 && outcome.exit != 128 + 11, point)
        let hasPassed = outcome.text.hasPrefix("verified: ")
        if outcome.exit == 0 { #expect(hasPassed, point) }
        // The next runs don't wait, and accept the message if no earlier run did.
        let second = try await verify(folder, "signed")
        if hasPassed {
            #expect(second.exit == 1, "a replay passed: \(point)")
        } else {
            // A killed run may have stored the nonce without reporting success.
            #expect(second.exit == 0 || second.exit == 1, "\(second.stderr), \(point)")
        }
        #expect(try await verify(folder, "signed").exit == 1, point)
        #expect(try await verify(folder, "before").exit == 1, "forgotten: \(point)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path("n"))
        // A killed one's temporary file goes when the next new file is written.
        #expect(left.allSatisfy { $0 == "nonces" || $0.hasPrefix(".nonces.signet-") }, point)
        if fault != .signal("KILL") { #expect(left == ["nonces"], point) }
        return fault != .signal("KILL") || outcome.exit != 0
    }

    private func verify(_ folder: TemporaryDirectory, _ message: String) async throws
        -> ProcessOutput
    {
        try await SignetTool.run(
            Array(Self.arguments.dropLast()) + [message], directory: folder.url)
    }

    /// A folder with a key, a message, and one that was verified before, where there is a file.
    private func start(_ state: String) async throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: folder.path("n"), withIntermediateDirectories: false)
        try folder.write("POST /a HTTP/1.1\nHost: h\n\nbody", to: "request")
        func run(_ arguments: String...) async throws -> [UInt8] {
            let output = try await SignetTool.run(arguments, directory: folder.url)
            guard output.exit == 0 else { throw TestSupportError(output.stderr) }
            return [UInt8](output.stdout)
        }
        _ = try await run("keys", "new", "--type", "hmac", "--id", "k", "--out", "keys")
        for (name, nonce) in [("signed", "n1"), ("before", "n0")] {
            let message = try await run(
                "sign", "--scheme", "rfc9421", "--keys", "keys", "--nonce", nonce, "--time",
                "1795228551", "request")
            try folder.write(message, to: name)
        }
        if state == "a new file" {
            // Without a nonce of before; the other message is refused for being no message.
            try folder.write("POST /a HTTP/1.1\nHost: h\n\nbody", to: "before")
            return folder
        }
        guard try await verify(folder, "before").exit == 0 else {
            throw TestSupportError("the message of before does not verify")
        }
        if state == "a file that is written anew" {
            // Many expired lines follow the earlier nonce.
            let old = String(repeating: "1795228000 aw b2xk\n", count: 16_000)
            try folder.write(folder.read("n/nonces") + Array(old.utf8), to: "n/nonces")
        }
        return folder
    }

    private func copy(_ start: TemporaryDirectory) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: folder.path("n"), withIntermediateDirectories: false)
        for name in ["keys", "signed", "before", "n/nonces"]
        where FileManager.default.fileExists(atPath: start.path(name)) {
            try folder.write(start.read(name), to: name)
        }
        return folder
    }
}
