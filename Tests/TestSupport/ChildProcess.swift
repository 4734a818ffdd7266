package import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A program's whole outcome.
package struct ProcessOutput: Sendable {
    package let stdout: [UInt8]
    package let stderr: String
    /// The exit code, or 128 and the number of the signal that ended the program.
    package let exit: Int32

    /// Standard output as text.
    package var text: String { String(decoding: stdout, as: UTF8.self) }
}

/// A started program.
///
/// It ends at the latest with this object, and with the test process, however that ends. Its output
/// goes to files, so that no amount of it can make the program wait.
package final class ChildProcess: Sendable {
    package let processIdentifier: Int32
    private let name: String
    private let folder: TemporaryDirectory
    private let exit: ExitStatus
    private let silence: Pipe?

    /// Starts a program, given by its path or by a name that `PATH` finds.
    ///
    /// `stdin` is all that it can read (nil: it waits for input without end); `environment` is
    /// joined over this process's own, which is handed on without proxy settings.
    package init(
        _ executable: String, _ arguments: [String] = [], stdin: [UInt8]? = [],
        environment: [String: String] = [:], directory: URL? = nil
    ) throws {
        let folder = try TemporaryDirectory()
        for (name, bytes) in [("stdin", stdin ?? []), ("stdout", []), ("stderr", [])] {
            try folder.write(bytes, to: name)
        }
        let exit = ExitStatus()
        let silence = stdin == nil ? Pipe() : nil
        let identifier = Mutex<Int32>(0)
        try Launcher.shared.perform {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = endingWithItsParent + [executable] + arguments
            process.environment = inheritedEnvironment.merging(environment) { $1 }
            process.currentDirectoryURL = directory
            let stdin = try FileHandle(forReadingFrom: folder.url.appending(path: "stdin"))
            let stdout = try FileHandle(forWritingTo: folder.url.appending(path: "stdout"))
            let stderr = try FileHandle(forWritingTo: folder.url.appending(path: "stderr"))
            // Foundation never lets go of a Process that ran, so its files are closed here.
            defer { for file in [stdin, stdout, stderr] { try? file.close() } }
            process.standardInput = silence ?? stdin
            process.standardOutput = stdout
            process.standardError = stderr
            process.terminationHandler = { process in
                let status = process.terminationStatus
                exit.set(process.terminationReason == .uncaughtSignal ? 128 + status : status)
            }
            try process.run()
            identifier.withLock { $0 = process.processIdentifier }
        }
        self.exit = exit
        self.silence = silence
        self.folder = folder
        self.name = executable
        self.processIdentifier = identifier.withLock { $0 }
    }

    deinit {
        guard isRunning else { return }
        kill(processIdentifier, SIGTERM)
        Thread.detachNewThread { [exit, processIdentifier] in
            if exit.wait(until: Date(timeIntervalSinceNow: 5)) == nil {
                kill(processIdentifier, SIGKILL)
            }
        }
    }

    /// The output of the program so far.
    package var output: (stdout: [UInt8], stderr: String) {
        let stdout = (try? folder.read("stdout")) ?? []
        let stderr = (try? folder.read("stderr")) ?? []
        return (stdout, String(decoding: stderr, as: UTF8.self))
    }

    /// Whether the program has not ended yet.
    package var isRunning: Bool { exit.wait(until: .distantPast) == nil }

    /// Sends a signal, such as `SIGINT`, if the program still runs.
    package func send(signal: Int32) {
        if isRunning { kill(processIdentifier, signal) }
    }

    /// Waits until the program ends, and kills it when it takes longer than `timeout` seconds.
    package func outcome(timeout: Double = 120) async throws -> ProcessOutput {
        try await offThePool { try self.outcomeBlocking(timeout: timeout) }
    }

    /// As `outcome(timeout:)`, for the places that cannot suspend.
    package func outcomeBlocking(timeout: Double = 120) throws -> ProcessOutput {
        guard let code = exit.wait(until: Date(timeIntervalSinceNow: timeout)) else {
            kill(processIdentifier, SIGKILL)
            throw TestSupportError(
                "\(name) did not end within \(timeout) seconds; it wrote: \(output.stderr)")
        }
        let output = self.output
        return ProcessOutput(stdout: output.stdout, stderr: output.stderr, exit: code)
    }

    /// Runs a program to its end.
    package static func run(
        _ executable: String, _ arguments: [String] = [], stdin: [UInt8] = [],
        environment: [String: String] = [:], directory: URL? = nil, timeout: Double = 120
    ) async throws -> ProcessOutput {
        try await offThePool {
            try runBlocking(
                executable, arguments, stdin: stdin, environment: environment,
                directory: directory, timeout: timeout)
        }
    }

    /// Runs a program to its end, for the places that cannot suspend.
    package static func runBlocking(
        _ executable: String, _ arguments: [String] = [], stdin: [UInt8] = [],
        environment: [String: String] = [:], directory: URL? = nil, timeout: Double = 120
    ) throws -> ProcessOutput {
        permits.wait()
        defer { permits.signal() }
        return try ChildProcess(
            executable, arguments, stdin: stdin, environment: environment, directory: directory
        ).outcomeBlocking(timeout: timeout)
    }
}

/// So many programs run to their end at a time.
///
/// All tests start at once; hundreds of programs on a few cores would make each other late.
private let permits = DispatchSemaphore(value: 2 * ProcessInfo.processInfo.activeProcessorCount)

/// Set once, when a program has ended; waited for from any thread.
private final class ExitStatus: Sendable {
    private let condition = NSCondition()
    private let code = Mutex<Int32?>(nil)

    func set(_ value: Int32) {
        condition.lock()
        code.withLock { $0 = value }
        condition.broadcast()
        condition.unlock()
    }

    /// The exit code, or nil when the program still runs at the deadline.
    func wait(until deadline: Date) -> Int32? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let value = code.withLock({ $0 }) { return value }
            if !condition.wait(until: deadline) { return code.withLock { $0 } }
        }
    }
}

/// Does blocking work on a thread of its own, so that other tests continue.
func offThePool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws
    -> Value
{
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}

/// Words of `env` before a command, on Linux: it ends with the thread that started it, and hears
/// the signals that threads of a pool keep blocked.
private let endingWithItsParent: [String] =
    FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
    ? ["--default-signal", "/usr/bin/setpriv", "--pdeathsig", "TERM"] : []

/// A proxy of the machine must not come between a test and its own server.
private let inheritedEnvironment = ProcessInfo.processInfo.environment.filter { name, _ in
    !name.lowercased().hasSuffix("_proxy")
}
