#if Redis
import Dispatch
import SignetBase
import SignetCrypto
import SignetSigning
import Synchronization

/// A connection of the pool. It connects on first use, and again after the connection broke.
///
/// It sends each command once. If a response is lost, Redis may or may not remember the nonce,
/// so the call fails: a retry could find the nonce that the first attempt wrote.
final class PooledConnection: Sendable {
    /// The settings that all connections of a store share.
    final class Settings: Sendable {
        let options: RedisNonceStore.Options
        let password: Passphrase?
        /// The address for messages.
        let address: String

        init(_ options: RedisNonceStore.Options, password: Passphrase?) {
            self.options = options
            self.password = password
            let shown =
                options.address.socketPath
                ?? "\(options.address.host ?? ""):\(options.address.port)"
            address = "Redis at \(printable(shown))"
        }
    }

    /// Runs the connection's work, on a thread of its own while it is busy.
    let queue: DispatchQueue
    private let settings: Settings
    private let connection = Mutex<RedisConnection?>(nil)

    init(_ settings: Settings, number: Int) {
        self.settings = settings
        queue = DispatchQueue(label: "signet.redis.\(number)")
    }

    /// Finishes all of the calls. Blocks the thread.
    func serve(_ calls: [RedisCall]) {
        connection.withLock { connection in
            var open = calls[...]
            do throws(RedisFailure) {
                if !(connection?.isReusable ?? false) {
                    connection = nil
                    connection = try connect()
                }
                guard let current = connection.take() else { return }
                // A call that ended while the connection was made must not store its nonce.
                open = calls.filter { !$0.isFinished }[...]
                let isReusable = try finish(&open, on: current)
                if isReusable { connection = consume current }
            } catch {
                connection = nil
                for call in open { call.finish(.failure(unavailable(error.reason))) }
            }
        }
    }

    private func unavailable(_ reason: String) -> SigningError {
        .unavailable(reason, at: settings.address)
    }

    /// Sends the commands and reads the responses; returns whether the connection can be
    /// reused.
    private func finish(
        _ calls: inout ArraySlice<RedisCall>, on connection: borrowing RedisConnection
    ) throws(RedisFailure) -> Bool {
        let deadline = RedisConnection.now + settings.options.commandTimeout.wholeMilliseconds
        for call in calls { try connection.add(call.command ?? [Array("PING".utf8)]) }
        try connection.send(by: deadline)
        var isReusable = true
        while let call = calls.first {
            let result = try result(of: connection.read(by: deadline), for: call)
            if case .failure(let error) = result, error.code == .nonceStoreUnavailable {
                // After a failover the name may lead to another server, so connect again.
                isReusable = false
            }
            call.finish(result)
            calls.removeFirst()
        }
        return isReusable
    }

    private func result(
        of response: RedisResponse, for call: RedisCall
    ) throws(RedisFailure) -> Result<Void, SigningError> {
        switch (response, call.command) {
        case (.status("OK"), .some), (.status("PONG"), nil): return .success(())
        case (.null, .some):
            return .failure(
                SigningError(.replayedNonce, "the key's nonce has been used before"))
        case (.error(let word), _): return .failure(unavailable(Self.meaning(of: word)))
        default: throw .unexpectedResponse
        }
    }

    /// Returns an explanation of an error of Redis, and the error's first word.
    private static func meaning(of word: String) -> String {
        let meaning =
            switch word {
            case "READONLY": "it is a replica, which does not write"
            case "OOM": "its memory is full"
            case "NOAUTH": "it requires a password"
            case "WRONGPASS": "it does not accept the user or the password"
            case "NOPERM": "the user lacks the permission"
            case "LOADING": "it is still loading its data"
            case "MISCONF": "it cannot write its data to the disk"
            case "MOVED", "ASK", "CLUSTERDOWN":
                "it is part of a cluster, which is not supported"
            case "NOREPLICAS": "it has fewer replicas than it requires"
            default: "it refuses the command"
            }
        return "\(meaning) (\(word))"
    }

    private func connect() throws(RedisFailure) -> RedisConnection {
        let options = settings.options
        let deadline = RedisConnection.now + options.connectTimeout.wholeMilliseconds
        let connection = try RedisConnection(options, by: deadline)
        if let password = settings.password {
            var parts = [Array("AUTH".utf8)]
            if let username = options.username { parts.append(Array(username.utf8)) }
            parts.append(password.copy())
            defer { for index in parts.indices { wipe(&parts[index]) } }
            try requireOK(try connection.response(to: parts, by: deadline))
        }
        if options.database != 0 {
            try requireOK(
                try connection.response(
                    to: [Array("SELECT".utf8), Array("\(options.database)".utf8)],
                    by: deadline))
        }
        if !options.allowsEviction { try checkEvictionPolicy(connection, by: deadline) }
        return connection
    }

    private func requireOK(_ response: RedisResponse) throws(RedisFailure) {
        switch response {
        case .status("OK"): return
        case .error(let word): throw RedisFailure(reason: Self.meaning(of: word))
        default: throw .unexpectedResponse
        }
    }

    /// Throws if Redis may drop keys early, because then their messages could be replayed.
    private func checkEvictionPolicy(
        _ connection: borrowing RedisConnection, by deadline: Int64
    ) throws(RedisFailure) {
        let response = try connection.response(
            to: [Array("INFO".utf8), Array("memory".utf8)], by: deadline)
        guard case .text(let text) = response else {
            guard case .error(let word) = response else { throw .unexpectedResponse }
            throw RedisFailure(
                reason:
                    "cannot read its maxmemory-policy: \(Self.meaning(of: word)); allow the "
                    + "user to run INFO, or allow eviction")
        }
        let name = Array("maxmemory_policy:".utf8)
        let lines = text.split { $0 == 0x0A || $0 == 0x0D }
        guard let line = lines.first(where: { $0.starts(with: name) }) else {
            throw RedisFailure(reason: "its response to INFO lacks maxmemory_policy")
        }
        guard line.dropFirst(name.count).elementsEqual("noeviction".utf8) else {
            throw RedisFailure(
                reason: "found a maxmemory-policy that drops nonces early, expected noeviction")
        }
    }
}

extension RedisFailure {
    fileprivate static var unexpectedResponse: RedisFailure {
        RedisFailure(reason: "the response does not fit the command")
    }
}
#endif
