internal import HTTPTypes
internal import Synchronization

/// Whose credential it is: of a service, for a scope.
struct CredentialKey: Sendable, Hashable {
    let service: Service
    let scope: String
}

/// A credential with its number: a later one of the same key has a higher one.
struct NumberedCredential: Sendable {
    let credential: Credential
    let number: Int
}

/// The credentials of a system. A source is asked once, however many calls wait.
final class CredentialStore: Sendable {
    /// The keys whose sources are being asked by this task.
    @TaskLocal static var asking: Set<CredentialKey> = []

    private let kept = Mutex<[CredentialKey: NumberedCredential]>([:])
    private let work = SharedWork<CredentialKey, NumberedCredential>()

    /// The number of calls that wait for a source.
    var waitingCount: Int { work.waitingCount }

    /// Returns the credential of a call, asking the source if it is missing or was rejected. Nil for a
    /// call that the source itself makes.
    ///
    /// - Parameter rejected: The credential that the server rejected; nil if no server did.
    func credential(
        of source: any CredentialSource, replacing rejected: NumberedCredential? = nil,
        for call: CallIdentity
    ) async throws(ClientError) -> NumberedCredential? {
        let key = CredentialKey(service: call.service, scope: source.scope)
        guard !Self.asking.contains(key) else { return nil }
        if let usable = usable(for: key, after: rejected) { return usable }
        return try await work.value(for: key) { _ throws(ClientError) in
            // Another call may have got a new one since.
            if let usable = self.usable(for: key, after: rejected) { return usable }
            let old = self.kept.withLock { $0[key] }
            do {
                let new = try await Self.$asking.withValue(Self.asking.union([key])) {
                    try await source.credential(replacing: old?.credential, for: call)
                }
                let numbered = NumberedCredential(credential: new, number: (old?.number ?? 0) + 1)
                self.kept.withLock { $0[key] = numbered }
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

    private func usable(
        for key: CredentialKey, after rejected: NumberedCredential?
    ) -> NumberedCredential? {
        let kept = kept.withLock { $0[key] }
        return (kept?.number ?? 0) > (rejected?.number ?? 0) ? kept : nil
    }
}

extension OutgoingCall {
    /// Returns the call with a credential's fields.
    func with(_ credential: NumberedCredential?) -> OutgoingCall {
        guard let fields = credential?.credential.fields else { return self }
        var call = self
        for field in fields { call.request.headerFields[field.name] = nil }
        call.request.headerFields.append(contentsOf: fields)
        return call
    }
}
