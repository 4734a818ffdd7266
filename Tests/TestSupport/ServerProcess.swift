package import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A server on loopback that runs for a test: started and accepting when `start` returns, stopped
/// when the last reference goes or the test process ends.
package final class ServerProcess: Sendable {
    /// How to know that a server is ready.
    package enum Readiness: Sendable {
        /// The kernel says that somebody listens on this port.
        case listening(port: Int)
        /// This text has appeared on standard output or standard error.
        case output(String)
    }

    private let process: ChildProcess

    private init(_ process: ChildProcess) { self.process = process }

    /// Starts a program and waits until it is ready.
    ///
    /// - Throws: `TestSupportError` with the program's output if it ends instead, or isn't ready
    ///   within a minute.
    package static func start(
        _ executable: String, _ arguments: [String], stdin: [UInt8]? = nil,
        environment: [String: String] = [:], directory: URL? = nil, ready: Readiness
    ) async throws -> ServerProcess {
        let process = try ChildProcess(
            executable, arguments, stdin: stdin, environment: environment, directory: directory)
        let isReady = try await eventually {
            switch ready {
            case .listening(let port): isListening(on: port) || !process.isRunning
            case .output(let text):
                process.stdoutText.contains(text) || process.output.stderr.contains(text)
                    || !process.isRunning
            }
        }
        guard isReady, process.isRunning else {
            process.send(signal: SIGKILL)
            let words = process.stdoutText + process.output.stderr
            throw TestSupportError("\(executable) did not start: \(words)")
        }
        return ServerProcess(process)
    }

    /// The output of the server so far.
    package var stdout: String { process.stdoutText }
    package var stderr: String { process.output.stderr }

    /// The rest of each line of the output so far that begins with this word.
    package func lines(_ word: String) -> [String] {
        stdout.split(separator: "\n").filter { $0.hasPrefix(word + " ") }
            .map { String($0.dropFirst(word.count + 1)) }
    }

    /// The bytes that the lines `GOT …` give in hexadecimal: those that arrived, in order.
    package var received: [[UInt8]] { lines("GOT").map { bytes(ofHex: $0) } }

    /// Ends the server and waits until it is gone.
    package func stop() async throws {
        process.send(signal: SIGTERM)
        _ = try await process.outcome()
    }

    package var isRunning: Bool { process.isRunning }
    package var processIdentifier: Int32 { process.processIdentifier }
}

extension ChildProcess {
    fileprivate var stdoutText: String { String(decoding: output.stdout, as: UTF8.self) }
}

/// Polls a condition for at most `timeout` seconds, and returns whether it became true.
package func eventually(timeout: Double = 60, _ condition: () throws -> Bool) async throws -> Bool {
    // Counted in looks, not by the clock: a busy machine may let a minute pass between two of them.
    for _ in 0..<Int(timeout * 100) {
        if try condition() { return true }
        try await Task.sleep(for: .milliseconds(10))
    }
    return try condition()
}
