import Foundation
import SignetCrypto
import SignetVault
import TestSupport
import Testing

/// Every system call of every command that writes a dump, hit by a full disk and a failing one, and
/// every one that does more than read, hit by a kill.
///
/// After each there is exactly one dump, old or new, that opens; no other user can read it; the
/// next run isn't prevented, and leaves no file. An error leaves no temporary file, and exit 0
/// means that the new dump is whole.
@Suite(
    .enabled(if: FaultInjection.isPermitted, "strace is missing or may not trace processes here"))
struct CrashToolTests {
    /// A command that writes the dump `d/dump` in the folder that it is run in.
    struct Command: Sendable, CustomStringConvertible {
        let description: String
        let arguments: [String]
        /// Whether a dump is there before.
        var isOverDump = true
        /// The app's version that opens what it wrote.
        var newVersion = "1.9.0"
        var faults: [FaultInjection.Fault] = [.signal("KILL"), .error("ENOSPC"), .error("EIO")]
    }

    private static let keys = ["--keys", "keys", "--app-id", "com.example.shop"]
    private static let inputs =
        ["--schema", "schema.json", "--defaults", "defaults.json"] + keys
        + ["--app-version", "1.9.0", "--key-id", "v1"]
    private static let state = ["--state", "d/state"]
    private static let versions = ["--from-app-version", "1.9.0", "--to-app-version", "1.10.0"]

    /// One line for each command.
    static let commands = [
        Command(
            description: "seal",
            arguments: ["vault", "seal"] + inputs + ["--out", "d/dump"], isOverDump: false),
        Command(
            description: "seal over a dump",
            arguments: ["vault", "seal"] + inputs + ["--out", "d/dump"],
            faults: [.signal("KILL"), .signal("TERM"), .error("ENOSPC"), .error("EIO")]),
        Command(
            description: "rebind", arguments: ["vault", "rebind", "d/dump"] + keys + versions,
            newVersion: "1.10.0"),
        Command(
            description: "rekey with a state file",
            arguments: ["vault", "rekey", "d/dump"] + keys + state
                + ["--app-version", "1.9.0", "--to-key-id", "v2"]),
    ]

    @Test(arguments: commands) func leavesOneReadableDump(_ command: Command) async throws {
        let shop = try CrashShop()
        let undisturbed = try shop.copy(command)
        let calls = try await FaultInjection.calls(
            of: SignetTool.url, command.arguments, directory: undisturbed.url, from: "d/dump")
        #expect(try undisturbed.mode("d/dump") == 0o600)
        let points = command.faults.flatMap { fault in
            calls.filter { $0.takes(fault) }.map { (fault, $0) }
        }
        #expect(points.count > 40, "so few points are not all: \(calls)")
        let missed = try await FaultInjection.missedKills(
            of: SignetTool.url, points
        ) { fault, call in
            try await Self.hit(command, fault, call, shop)
        }
        #expect(missed == nil, "kills came to nothing")
    }

    /// - Returns: Whether there was such a call.
    private static func hit(
        _ command: Command, _ fault: FaultInjection.Fault, _ call: FaultInjection.Call,
        _ shop: CrashShop
    ) async throws -> Bool {
        let folder = try shop.copy(command)
        let outcome = try await FaultInjection.run(
            SignetTool.url, command.arguments, directory: folder.url, fault, at: call)
        let point: Comment = "\(fault) at \(call): exit \(outcome.exit), \(outcome.stderr)"
        #expect(outcome.exit != 128 + 6 && outcome.exit != 128 + 11, point)
        let isHit = fault != .signal("KILL") || outcome.exit != 0
        if fault == .signal("KILL"), isHit { #expect(outcome.exit == 128 + 9, point) }
        do {
            try check(folder, after: outcome, fault, command, shop, point)
        } catch {
            Issue.record("\(error), \(point)")
        }
        return isHit
    }

    /// Checks the state after the kill, and after the next run.
    private static func check(
        _ folder: TemporaryDirectory, after outcome: ProcessOutput,
        _ fault: FaultInjection.Fault, _ command: Command, _ shop: CrashShop, _ point: Comment
    ) throws {
        let names = try folder.contents(of: "d")
        for name in names { #expect(try folder.mode("d/\(name)") == 0o600, "\(name), \(point)") }
        let found = try shop.sequence(in: folder, command)
        let isNew = found == (command.isOverDump ? 8 : 1)
        #expect(isNew || found == (command.isOverDump ? 7 : nil), point)
        #expect(outcome.exit != 0 || isNew, point)
        if fault != .signal("KILL") {
            #expect(names.allSatisfy { !$0.hasPrefix(".") }, "left \(names), \(point)")
        }

        // The next run.
        let wanted = (found ?? 0) + 1
        #expect(try shop.sealAgain(in: folder, command).sequence == wanted, point)
        let left = try folder.contents(of: "d")
        #expect(Set(left).isSubset(of: ["dump", "state"]), "left \(left), \(point)")
        #expect(try folder.mode("d/dump") == 0o600, point)
    }

    /// Swift's runtime finds the arguments by this file; without it there are none, and no
    /// arguments would be a call for help, which is done.
    @Test func anUnseenCommandIsNotDone() async throws {
        let shop = try CrashShop()
        let command = Self.commands[0]
        let undisturbed = try shop.copy(command)
        let calls = try await FaultInjection.calls(
            of: SignetTool.url, command.arguments, directory: undisturbed.url,
            from: "/proc/self/maps")
        let opening = try #require(calls.first { $0.name == "openat" })
        let folder = try shop.copy(command)
        let outcome = try await FaultInjection.run(
            SignetTool.url, command.arguments, directory: folder.url, .error("EIO"), at: opening)
        // A sanitizer opens the file first and can do without.
        let isSealed = try shop.sequence(in: folder, command) == 1
        #expect(outcome.exit != 0 || isSealed, "\(outcome.stderr)")
    }

    @Test(arguments: [2, 8]) func processesAtOnceLoseNothing(_ count: Int) async throws {
        let shop = try CrashShop()
        for command in Self.commands.prefix(2) {
            let folder = try shop.copy(command)
            try await withThrowingTaskGroup(of: ProcessOutput.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await SignetTool.run(command.arguments, directory: folder.url)
                    }
                }
                for try await outcome in group {
                    #expect(outcome.exit == 0, "\(outcome.stderr)")
                }
            }
            let start: Int64 = command.isOverDump ? 7 : 0
            #expect(try shop.sequence(in: folder, command) == start + Int64(count))
            #expect(try folder.contents(of: "d") == ["dump"])
        }
    }
}

extension FaultInjection.Call {
    /// Whether a call can come to such an end. A `close` that is kept from happening is left out: a
    /// real one lets go of the file, and its lock, whatever it returns.
    fileprivate func takes(_ fault: FaultInjection.Fault) -> Bool {
        switch fault {
        case .signal: !onlyReads
        case .error("ENOSPC"): ["openat", "write", "fsync"].contains(name) || isAboutNames
        case .error:
            isAboutNames
                || [
                    "openat", "read", "write", "fsync", "newfstatat", "fstat", "lseek",
                    "fchmod", "fchown", "flock", "readlink", "ftruncate",
                ].contains(name)
        }
    }

    private var isAboutNames: Bool {
        ["renameat", "renameat2", "linkat", "unlinkat"].contains(name)
    }
}

/// The input of the commands: a schema, values, two roots, and a dump of sequence 7 with its state
/// file.
private struct CrashShop {
    static let inputs = [
        "schema.json":
            #"{"keys":{"orders.host":{"type":"string","visibility":"public"},"#
            + #""partner.token":{"type":"string"}}}"#,
        "defaults.json":
            #"{"orders.host":"orders.example.com","partner.token":"ZZZZZZcanaryZZZZZZ"}"#,
        "keys": #"{"keys":[{"kid":"v1","kty":"oct","use":"enc","k":"\#(root("A"))"},"#
            + #"{"kid":"v2","kty":"oct","use":"enc","k":"\#(root("B"))"}]}"#,
    ]
    let keys: VaultKeys
    let configuration: GlobalConfiguration
    let dump: [UInt8]
    let state: [UInt8]

    init() throws {
        let folder = try TemporaryDirectory()
        for (name, text) in Self.inputs { try folder.write(text, to: name) }
        keys = .keys(try KeySource.file(folder.path("keys")).load())
        configuration = try GlobalConfiguration(
            schema: Schema(contentsOf: folder.path("schema.json")),
            defaults: .file(folder.path("defaults.json")))
        let file = DumpFile(folder.path("dump"), state: folder.path("state"))
        for _ in 0..<7 {
            try file.seal(configuration, with: keys, keyID: "v1", for: Self.binding("1.9.0"))
        }
        dump = try folder.read("dump")
        state = try folder.read("state")
    }

    private static func root(_ letter: Character) -> String {
        String(repeating: letter, count: 42) + "A"
    }

    private static func binding(_ version: String) -> VersionBinding {
        VersionBinding(app: "com.example.shop", version: version)
    }

    /// A folder of its own in which the command can be run.
    func copy(_ command: CrashToolTests.Command) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        for (name, text) in Self.inputs { try folder.write(text, to: name) }
        try FileManager.default.createDirectory(
            atPath: folder.path("d"), withIntermediateDirectories: false)
        if command.isOverDump { try folder.write(dump, to: "d/dump") }
        if command.arguments.contains("--state") { try folder.write(state, to: "d/state") }
        return folder
    }

    /// The sequence of the dump, which must have the old or the new version and open; nil
    /// without a dump.
    func sequence(
        in folder: TemporaryDirectory, _ command: CrashToolTests.Command
    ) throws -> Int64? {
        guard FileManager.default.fileExists(atPath: folder.path("d/dump")) else { return nil }
        let opened = try open(in: folder, command)
        let isNew = opened.sequence == (command.isOverDump ? 8 : 1)
        if command.newVersion != "1.9.0", opened.sequence <= 8 {
            #expect((opened.binding.app.version == command.newVersion) == isNew)
        }
        return opened.sequence
    }

    private func open(
        in folder: TemporaryDirectory, _ command: CrashToolTests.Command
    ) throws -> OpenedDump {
        let file = DumpFile(folder.path("d/dump"), state: state(of: folder, command))
        do throws(VaultError) {
            return try file.open(with: keys, for: Self.binding(command.newVersion))
        } catch {
            guard error.code == .olderVersion else { throw error }
            return try file.open(with: keys, for: Self.binding("1.9.0"))
        }
    }

    func sealAgain(
        in folder: TemporaryDirectory, _ command: CrashToolTests.Command
    ) throws -> OpenedDump {
        try DumpFile(folder.path("d/dump"), state: state(of: folder, command)).seal(
            configuration, with: keys, keyID: "v1", for: Self.binding(command.newVersion))
    }

    private func state(
        of folder: TemporaryDirectory, _ command: CrashToolTests.Command
    ) -> String? {
        command.arguments.contains("--state") ? folder.path("d/state") : nil
    }
}
