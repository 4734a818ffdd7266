internal import SignetBase
internal import SignetSystem

#if Redis
    internal import Dispatch
    internal import SignetCrypto
    internal import SignetSigning
    internal import Synchronization

    /// One connection, made when it is needed and again after it broke.
    ///
    /// A command is sent once. Where its answer is lost, nobody knows whether the nonce is remembered now,
    /// and the call fails; sending it again could find the nonce that it wrote itself.
    final class RedisLine: Sendable {
        /// What all connections of a store have in common.
        final class Order: Sendable {
            let options: RedisNonceStore.Options
            let password: Passphrase?
            /// For messages.
            let place: String

            init(_ options: RedisNonceStore.Options, _ password: Passphrase?) {
                self.options = options
                self.password = password
                let shown =
                    options.place.socketPath
                    ?? "\(options.place.host ?? ""):\(options.place.port)"
                place = "Redis at \(printable(shown))"
            }
        }

        /// Its own thread, while it is busy.
        let queue: DispatchQueue
        private let order: Order
        private let connection = Mutex<RedisConnection?>(nil)

        init(_ order: Order, number: Int) {
            self.order = order
            queue = DispatchQueue(label: "signet.redis.\(number)")
        }

        /// Answers calls, blocking the thread; each of them is over in the end.
        func serve(_ calls: [RedisCall]) {
            connection.withLock { connection in
                var open = calls[...]
                do throws(RedisFailure) {
                    if !(connection?.isQuiet ?? false) {
                        connection = nil
                        connection = try connect()
                    }
                    guard let current = connection.take() else { return }
                    // Whoever gave up while the connection was made wants nothing remembered.
                    open = calls.filter { !$0.isOver }[...]
                    let isSound = try answer(&open, on: current)
                    if isSound { connection = consume current }
                } catch {
                    connection = nil
                    for call in open { call.finish(.failure(unavailable(error.reason))) }
                }
            }
        }

        private func unavailable(_ reason: String) -> SigningError {
            .unavailable(order.place, reason)
        }

        /// Sends the commands and reads the answers; tells whether the connection may be used again.
        private func answer(
            _ calls: inout ArraySlice<RedisCall>, on connection: borrowing RedisConnection
        ) throws(RedisFailure) -> Bool {
            let deadline = RedisConnection.now + order.options.commandTimeout.milliseconds
            for call in calls { try connection.add(call.command ?? [Array("PING".utf8)]) }
            try connection.send(by: deadline)
            var isSound = true
            while let call = calls.first {
                let reply = try connection.read(by: deadline)
                let result = try result(of: reply, to: call)
                if case .failure(let error) = result, error.code == .nonceStoreUnavailable {
                    // Another machine may have its name and its task by now.
                    isSound = false
                }
                call.finish(result)
                calls.removeFirst()
            }
            return isSound
        }

        private func result(
            of reply: RedisReply, to call: RedisCall
        ) throws(RedisFailure) -> Result<Void, SigningError> {
            switch (reply, call.command) {
            case (.status("OK"), .some), (.status("PONG"), nil): return .success(())
            case (.nothing, .some): return .failure(.used)
            case (.error(let word), _): return .failure(unavailable(Self.words(word)))
            default: throw RedisFailure(reason: "what came is no answer to what was asked")
            }
        }

        /// What an error of Redis's means for us.
        private static func words(_ word: String) -> String {
            let meaning =
                switch word {
                case "READONLY": "it is a replica, which does not write"
                case "OOM": "its memory is full"
                case "NOAUTH": "it wants a password"
                case "WRONGPASS": "it does not take the user or the password"
                case "NOPERM": "it does not let the user do that"
                case "LOADING": "it has not read its data yet"
                case "MISCONF": "it cannot write its data to the disk"
                case "MOVED", "ASK", "CLUSTERDOWN":
                    "it is part of a cluster, which is not supported"
                case "NOREPLICAS": "it has fewer replicas than it wants"
                default: "it refuses"
                }
            return "\(meaning) (\(word))"
        }

        private func connect() throws(RedisFailure) -> RedisConnection {
            let options = order.options
            let deadline = RedisConnection.now + options.connectTimeout.milliseconds
            let connection = try RedisConnection(options, by: deadline)
            if let password = order.password {
                var parts = [Array("AUTH".utf8)]
                if let username = options.username { parts.append(Array(username.utf8)) }
                parts.append(password.copy())
                defer { for index in parts.indices { wipe(&parts[index]) } }
                try demandOK(try connection.ask(parts, by: deadline))
            }
            if options.database != 0 {
                try demandOK(
                    try connection.ask(
                        [Array("SELECT".utf8), Array("\(options.database)".utf8)], by: deadline))
            }
            if !options.allowsEviction { try demandNoEviction(connection, by: deadline) }
            return connection
        }

        private func demandOK(_ reply: RedisReply) throws(RedisFailure) {
            switch reply {
            case .status("OK"): return
            case .error(let word): throw RedisFailure(reason: Self.words(word))
            default: throw RedisFailure(reason: "what came is no answer to what was asked")
            }
        }

        /// A Redis that drops keys before their time would let their messages in again.
        private func demandNoEviction(
            _ connection: borrowing RedisConnection, by deadline: Int64
        ) throws(RedisFailure) {
            let reply = try connection.ask(
                [Array("INFO".utf8), Array("memory".utf8)], by: deadline)
            guard case .text(let text) = reply else {
                guard case .error(let word) = reply else {
                    throw RedisFailure(reason: "what came is no answer to what was asked")
                }
                throw RedisFailure(
                    reason: "asked for its maxmemory-policy, \(Self.words(word)); let the user run "
                        + "INFO, or allow eviction")
            }
            let name = Array("maxmemory_policy:".utf8)
            let lines = text.split { $0 == 0x0A || $0 == 0x0D }
            guard let line = lines.first(where: { $0.starts(with: name) }) else {
                throw RedisFailure(reason: "it does not tell its maxmemory-policy")
            }
            guard line.dropFirst(name.count).elementsEqual("noeviction".utf8) else {
                throw RedisFailure(
                    reason: "its maxmemory-policy lets it drop nonces before their time: "
                        + "wanted noeviction")
            }
        }
    }

    extension SigningError {
        fileprivate static var used: SigningError {
            SigningError(.replayedNonce, "the key's nonce has been used before")
        }
    }
#endif
