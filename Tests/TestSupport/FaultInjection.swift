package import Foundation

/// Runs a program with one of its system calls hit by a signal or an error, by means of `strace`.
package enum FaultInjection {
    /// The fault of a call.
    package enum Fault: Sendable, Hashable, CustomStringConvertible {
        /// The process gets a signal, such as `"KILL"`, before the call has done anything.
        case signal(String)
        /// The call does nothing and fails with an error, such as `"EIO"`.
        case error(String)

        package var description: String {
            switch self {
            case .signal(let name): "SIG\(name)"
            case .error(let name): name
            }
        }
    }

    /// The nth call of its name that a run made.
    package struct Call: Sendable, Hashable, CustomStringConvertible {
        package let name: String
        package let number: Int
        package var description: String { "\(name) \(number)" }

        /// Whether the call changes neither files nor locks. A process that a signal ends there
        /// leaves what it would leave at its next call.
        package var onlyReads: Bool {
            ["newfstatat", "fstat", "getcwd", "readlink", "read", "lseek", "getdents64"].contains(
                name)
        }
    }

    /// Whether `strace` is there and may trace a process.
    package static let isPermitted: Bool = {
        let outcome = try? ChildProcess.runBlocking(
            "strace", ["-f", "--seccomp-bpf", "-qq", "-e", "trace=none", "true"])
        return outcome?.exit == 0
    }()

    /// The calls about files that an undisturbed run makes, from the first that names `marker` on.
    ///
    /// With `paths` only calls about these are seen: as they are written, and by descriptors of
    /// them.
    ///
    /// Calls about memory and threads are left out: a process that dies at one of them leaves what
    /// it would leave at the next call about a file.
    package static func calls(
        of program: URL, _ arguments: [String], directory: URL, from marker: String,
        paths: [String] = []
    ) async throws -> [Call] {
        let folder = try TemporaryDirectory()
        let trace = folder.path("trace")
        let outcome = try await ChildProcess.run(
            "strace",
            ["-f", "--seccomp-bpf", "-qq", "-s", "4096", "-o", trace, "-e"]
                + ["trace=%file,%desc,prctl,execve"] + paths.flatMap { ["-P", $0] } + [program.path]
                + arguments,
            environment: environment, directory: directory)
        guard outcome.exit == 0 else {
            throw TestSupportError("the undisturbed run failed: \(outcome.stderr)")
        }
        var seen: [String: Int] = [:]
        var calls: [Call] = []
        var hasBegun = false
        let lines = String(decoding: try folder.read("trace"), as: UTF8.self)
            .split(separator: "\n").compactMap { line -> (name: String, text: Substring)? in
                // The process, spaces, the call.
                let text = line.drop { $0 != " " }.drop { $0 == " " }
                return text.firstIndex(of: "(").map { (String(text[..<$0]), text) }
            }
        // The arguments name it too, and a sanitizer reads them from a file before the program
        // begins.
        func begins(_ line: (name: String, text: Substring), at text: String) -> Bool {
            !["execve", "read", "readlink"].contains(line.name) && line.text.contains(text)
        }
        // The code of a process that disables inspection is readable by root only: then use the
        // calls from there.
        let begin = lines.contains { begins($0, at: marker) } ? marker : "PR_SET_DUMPABLE"
        for line in lines {
            seen[line.name, default: 0] += 1
            hasBegun = hasBegun || begins(line, at: begin)
            guard hasBegun, !["mmap", "execve", "prctl"].contains(line.name) else { continue }
            calls.append(Call(name: line.name, number: seen[line.name] ?? 0))
        }
        return calls
    }

    /// Runs the program with a fault at one call.
    package static func run(
        _ program: URL, _ arguments: [String], directory: URL, _ fault: Fault, at call: Call,
        paths: [String] = []
    ) async throws -> ProcessOutput {
        // With a filter in the kernel strace is faster, and its signals come too late (seen in
        // 6.1).
        let (kind, options) =
            switch fault {
            case .signal(let name): ("signal=\(name)", ["-f", "-qq"])
            case .error(let name): ("error=\(name)", ["-f", "--seccomp-bpf", "-qq"])
            }
        return try await ChildProcess.run(
            "strace",
            options + ["-o", "/dev/null", "-e", "trace=\(call.name)", "-e"]
                + ["inject=\(call.name):\(kind):when=\(call.number)"]
                + paths.flatMap { ["-P", $0] } + [program.path] + arguments,
            environment: environment, directory: directory, timeout: 120)
    }

    /// Hits every third point, from a random one, and with `SIGNET_SOAK` (`make soak`) every point;
    /// two at a time.
    ///
    /// A sanitizer reads files of its own as often as they have pieces at the time, so that a run
    /// may have fewer calls than the one that was counted, and its last points are not there.
    ///
    /// - Parameter hit: Runs the program with the fault; returns false where there was no such
    ///   call.
    /// - Returns: The number of kills that did not happen; nil if that is as expected: none, or of
    ///   a program with AddressSanitizer a tenth or two at most.
    package static func missedKills(
        of program: URL, _ all: [(Fault, Call)],
        hit: @escaping @Sendable (Fault, Call) async throws -> Bool
    ) async throws -> Int? {
        let step = ProcessInfo.processInfo.environment["SIGNET_SOAK"] == nil ? 3 : 1
        let first = Int.random(in: 0..<step)
        let points = all.enumerated().filter { $0.offset % step == first }.map(\.element)
        let kills = points.filter { $0.0 == .signal("KILL") }.count
        let search = try await ChildProcess.run("grep", ["-qa", "__asan_init", program.path])
        let missed = try await withThrowingTaskGroup(of: Bool.self) { group in
            var missed = 0
            for (number, (fault, call)) in points.enumerated() {
                if number >= 2, try await group.next() == false { missed += 1 }
                group.addTask { try await hit(fault, call) }
            }
            for try await isHit in group where !isHit { missed += 1 }
            return missed
        }
        return missed > (search.exit == 0 ? max(2, kills / 10) : 0) ? missed : nil
    }

    /// Without a sanitizer's look for leaks, which needs the place that `strace` has, and
    /// descriptors.
    package static let environment = [
        "ASAN_OPTIONS": (ProcessInfo.processInfo.environment["ASAN_OPTIONS"].map { $0 + ":" } ?? "")
            + "detect_leaks=0"
    ]
}
