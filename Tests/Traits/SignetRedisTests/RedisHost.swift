import Foundation
import SignetCrypto
import SignetRedis
import SignetSigning
import TestSupport

/// A redis-server of a test's own, on loopback or on a socket in a folder of its own.
final class RedisHost: Sendable {
    let folder: TemporaryDirectory
    let port: Int
    private let arguments: [String]
    private let server: ServerProcess

    private init(
        folder: TemporaryDirectory, port: Int, arguments: [String], server: ServerProcess
    ) {
        self.folder = folder
        self.port = port
        self.arguments = arguments
        self.server = server
    }

    /// Starts one with more settings; port 0 is a socket alone.
    static func start(
        _ settings: [String] = [], port: Int = freePort()
    ) async throws -> RedisHost {
        let folder = try TemporaryDirectory()
        let arguments =
            ["--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
            + ["--dir", folder.path, "--unixsocket", folder.path("redis"), "--databases", "2"]
            + settings
        let server = try await ServerProcess.start(
            "redis-server", arguments, ready: .output("eady to accept connections"))
        return RedisHost(folder: folder, port: port, arguments: arguments, server: server)
    }

    var processIdentifier: Int32 { server.processIdentifier }

    func stop() async throws { try await server.stop() }

    /// Asks Redis itself.
    func ask(_ words: String...) async throws -> String {
        let output = try await ChildProcess.run(
            "redis-cli", ["-s", folder.path("redis"), "--raw"] + words)
        return output.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A place that waits long enough on a busy machine.
    var options: RedisNonceStore.Options { .patient(.host("127.0.0.1", port: port)) }
}

extension RedisNonceStore.Options {
    /// With time limits that a busy machine does not reach.
    static func patient(_ options: Self) -> Self {
        var options = options
        options.connectTimeout = .seconds(30)
        options.commandTimeout = .seconds(30)
        return options
    }
}

/// A server that takes connections and sends fixed bytes for each command that arrives.
final class FakeRedis: Sendable {
    /// The server's behaviour.
    enum Manner: String, Sendable {
        /// Sends the bytes for each command; with `@` in them, the next part for each, and the last
        /// part for all that follow.
        case responds
        /// Sends the bytes repeatedly, without end.
        case floods
        /// Sends one of the bytes every 10 ms, repeatedly.
        case drips
        /// Ends the connection once a command has arrived.
        case ends
        /// Never says anything.
        case isSilent
    }

    let port: Int
    private let server: ServerProcess

    init(_ manner: Manner, _ bytes: String = "") async throws {
        (server, port) = try await SocketServer.start("redis", [manner.rawValue, bytes])
    }

    func stop() async throws { try await server.stop() }

    /// An address whose eviction policy isn't checked.
    var options: RedisNonceStore.Options {
        var options = RedisNonceStore.Options.patient(.host("127.0.0.1", port: port))
        options.allowsEviction = true
        return options
    }
}

let now: Int64 = 1_795_228_551

/// The code of the error that `body` ends with, or "no error".
func code(_ body: () async throws -> Void) async -> String {
    do {
        try await body()
        return "no error"
    } catch {
        return (error as? SigningError)?.code.name ?? "\(error)"
    }
}

/// The error's words, or "no error".
func words(_ body: () async throws -> Void) async -> String {
    do {
        try await body()
        return "no error"
    } catch {
        return "\(error)"
    }
}

extension NonceStore {
    /// The outcome of a nonce of key `k`.
    func code(_ nonce: String, later: Int64 = 0) async -> String {
        await SignetRedisTests.code {
            try await remember(nonce, of: "k", expiration: now + later + 300, now: now + later)
        }
    }
}
