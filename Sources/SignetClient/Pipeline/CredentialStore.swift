import HTTPTypes
import SignetBase
import SignetSystem
import Synchronization

/// The owner of a credential: a service, a type of source and a scope. Scopes compare as bytes.
struct CredentialKey: Sendable, Hashable {
    let service: ServiceName
    let source: ObjectIdentifier
    let scope: ByteName

    init(of source: any CredentialSource, at service: ServiceName) {
        self.service = service
        self.source = ObjectIdentifier(type(of: source))
        self.scope = ByteName(source.scope)
    }
}

/// A credential with its number: one that was asked for later has a higher one.
struct NumberedCredential: Sendable {
    let credential: Credential
    let number: Int
}

/// The credentials of a system. A source is asked once, however many calls wait.
final class CredentialStore: Sendable {
    /// The keys whose sources are being asked by this task.
    @TaskLocal static var asking: Set<CredentialKey> = []

    private struct Kept {
        var credential: NumberedCredential
        let since: MonotonicTime
        /// The credentials in a row that no server has accepted, with this one.
        var unaccepted: Int
        var lastUse: Int
    }

    private struct State {
        var kept: [CredentialKey: Kept] = [:]
        var lastNumber = 0
        /// Credentials that were asked for before this number aren't kept.
        var forgottenNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())
    private let work = SharedWork<CredentialKey, NumberedCredential>()
    private let capacity: Int
    private let now: @Sendable () -> MonotonicTime

    /// Creates a store that keeps the credentials of so many users and services, the last used
    /// ones.
    init(
        capacity: Int = 10_000, now: @escaping @Sendable () -> MonotonicTime = { .now }
    ) {
        self.capacity = capacity
        self.now = now
    }

    /// The number of credentials that are kept.
    var count: Int { state.withLock { $0.kept.count } }

    /// The number of calls that wait for a source.
    var waitingCount: Int { work.waitingCount }

    /// Returns the credential of a call, asking the source if it is missing or was rejected. Nil
    /// for a call that the source itself makes, and if servers rejected the source's last
    /// credentials, so that it isn't asked again yet.
    ///
    /// - Parameters:
    ///   - key: Whose credential it is. A source whose scope has changed since is an error.
    ///   - rejected: The credential that the server rejected; nil if no server did.
    func credential(
        of source: any CredentialSource, for key: CredentialKey,
        replacing rejected: NumberedCredential? = nil, by call: CallIdentity
    ) async throws(ClientError) -> NumberedCredential? {
        guard !Self.asking.contains(key) else { return nil }
        if let usable = usable(for: key, after: rejected) { return usable }
        if rejected != nil, mustWait(for: key) { return nil }
        return try await work.value(for: key) { _ throws(ClientError) in
            // Another call may have got a new one since.
            if let usable = self.usable(for: key, after: rejected) { return usable }
            let (old, number) = self.state.withLock { ($0.kept[key], $0.nextNumber()) }
            do {
                let new = try await Self.$asking.withValue(Self.asking.union([key])) {
                    try await source.credential(replacing: old?.credential.credential, for: call)
                }
                guard CredentialKey(of: source, at: key.service) == key else {
                    throw ClientError(
                        .credentialFailed,
                        "the scope of the source of credentials changed; nothing was sent")
                }
                let numbered = NumberedCredential(credential: new, number: number)
                self.keep(numbered, for: key)
                return numbered
            } catch let error as ClientError {
                throw error
            } catch {
                throw ClientError(
                    .credentialFailed,
                    "the source of credentials threw \(type(of: error)); nothing was sent")
            }
        }
    }

    /// Forgets the credentials of a scope at all services; of all scopes if it is nil. A credential
    /// that a source is being asked for isn't kept.
    func removeAll(of scope: ByteName?) {
        state.withLock { state in
            state.kept = scope.map { scope in state.kept.filter { $0.key.scope != scope } } ?? [:]
            state.forgottenNumber = state.nextNumber()
        }
    }

    /// Notes that a server did not reject a credential.
    func noteAccepted(_ credential: NumberedCredential?, for key: CredentialKey) {
        guard let credential else { return }
        state.withLock { state in
            guard state.kept[key]?.credential.number == credential.number else { return }
            state.kept[key]?.unaccepted = 0
        }
    }

    private func usable(
        for key: CredentialKey, after rejected: NumberedCredential?
    ) -> NumberedCredential? {
        state.withLock { state in
            guard var kept = state.kept[key],
                kept.credential.number > (rejected?.number ?? 0)
            else { return nil }
            kept.lastUse = state.nextNumber()
            state.kept[key] = kept
            return kept.credential
        }
    }

    /// Whether the source must not be asked yet. After three credentials in a row that no server
    /// accepted, the pause is one second; each further one doubles it, up to 64 seconds.
    private func mustWait(for key: CredentialKey) -> Bool {
        guard let kept = state.withLock({ $0.kept[key] }), kept.unaccepted >= 3 else {
            return false
        }
        return now() < kept.since + .seconds(1 << min(kept.unaccepted - 3, 6))
    }

    /// Keeps a credential, unless one that was asked for later came first.
    private func keep(_ credential: NumberedCredential, for key: CredentialKey) {
        let since = now()
        state.withLock { state in
            let old = state.kept[key]
            guard max(old?.credential.number ?? 0, state.forgottenNumber) < credential.number else {
                return
            }
            if old == nil, state.kept.count >= capacity {
                let oldest = state.kept.sorted { $0.value.lastUse < $1.value.lastUse }
                for (key, _) in oldest.prefix(capacity / 2 + 1) { state.kept[key] = nil }
            }
            state.kept[key] = Kept(
                credential: credential, since: since, unaccepted: (old?.unaccepted ?? 0) + 1,
                lastUse: state.nextNumber())
        }
    }
}

extension OutgoingCall {
    /// Adds a credential's fields.
    mutating func add(_ credential: NumberedCredential?) {
        guard let fields = credential?.credential.fields else { return }
        for field in fields { request.headerFields[field.name] = nil }
        request.headerFields.append(contentsOf: fields)
    }
}
