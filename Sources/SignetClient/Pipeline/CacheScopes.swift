import HTTPTypes
import SignetBase
import SignetCache
import SignetCrypto
import SignetPinning
import SignetRPC
import SignetSystem
import SignetTransport
import Synchronization

/// Makes the scopes and keys under which responses are stored: a response is found only by calls
/// of the same service and user that obtain it in the same way.
///
/// The values that tell users apart are hashed with the store's key, so that a store doesn't
/// contain them.
struct CacheScopes: Sendable {
    /// The scopes of a snapshot's calls that carry no field of a user.
    private struct Memo {
        struct Key: Hashable {
            let service: ServiceName
            let origin: WebOrigin
            let user: CredentialKey?
        }

        /// Held, so that no other snapshot is taken for this one.
        var snapshot: SystemSnapshot?
        /// The CA file's identity.
        var authorities = ""
        var places: [Key: Place] = [:]
    }

    /// A scope at an origin, and the texts that keys have of them.
    struct Place: Sendable {
        let scope: CacheScope
        let text: String
        let origin: String

        fileprivate init(_ scope: CacheScope, at origin: WebOrigin) {
            self.scope = scope
            text = scope.text
            self.origin = "\(origin.scheme)://\(origin.host.uriText):\(origin.port)"
        }
    }

    private final class Memory: Sendable { let memo = Mutex(Memo()) }

    private let hash: HMACKey
    private let caFile: String?
    /// The addresses of hosts, which all calls of the system have in common.
    private let addresses: [String]
    private let memory = Memory()
    /// Returns the token of a key for a call's record.
    let hashKey: @Sendable (CacheKey) -> String?

    /// - Throws: `crypto-failed`.
    init(
        key: [UInt8], caFile: String?, connectTo: [EngineRequest.ConnectTo]
    ) throws(ClientError) {
        do throws(CryptoFailure) {
            hash = try HMACKey(.sha256, key: key.span)
        } catch {
            throw ClientError(.cryptoFailed, error.description)
        }
        hashKey = { [hash] in Self.token([$0.scope, $0.url], by: hash) }
        self.caFile = caFile
        addresses = connectTo.map { rule in
            "\(rule.host?.text ?? ""):\(rule.port ?? 0):\(rule.address?.text ?? ""):"
                + "\(rule.addressPort ?? 0)"
        }
    }

    /// The scope of a call's requests to an origin, its own one.
    ///
    /// - Parameter fields: The fields of the request that tell users apart, without those of a
    ///   credential source.
    /// - Returns: Nil if OpenSSL fails, or the client certificate can't be shown. The call isn't
    ///   cached then.
    func place(
        of context: CallContext, fields: HTTPFields, origin: WebOrigin
    ) -> Place? {
        // With their names, because a text may mean another user in another field.
        var values = fields.map { "\($0.name.canonicalName): \($0.value)" }
        if let certificate = context.options.clientCertificate {
            // A certificate that can't be shown now gets no response, also not a stored one.
            guard let shown = try? certificate.current() else { return nil }
            values.append("certificate: \(shown.fingerprint)")
        }
        // Looked at for each call, as the engine does: a CA may have been removed from the file.
        let authorities = caFile.flatMap { Folder.identity(ofFile: $0) } ?? ""
        guard values.isEmpty else {
            return makePlace(of: context, [authorities] + values, origin: origin)
        }
        let key = Memo.Key(
            service: context.identity.service, origin: origin, user: context.credentialKey)
        let known = memory.memo.withLock { memo in
            memo.snapshot === context.snapshot && sameBytes(memo.authorities, authorities)
                ? memo.places[key] : nil
        }
        if let known { return known }
        guard let place = makePlace(of: context, [authorities], origin: origin) else { return nil }
        memory.memo.withLock { memo in
            if memo.snapshot !== context.snapshot || !sameBytes(memo.authorities, authorities)
                || memo.places.count > 10_000
            {
                memo = Memo(snapshot: context.snapshot, authorities: authorities)
            }
            memo.places[key] = place
        }
        return place
    }

    private func makePlace(
        of context: CallContext, _ values: [String], origin: WebOrigin
    ) -> Place? {
        let service = context.service
        var way = addresses
        let proxy = context.snapshot.proxies.proxy(for: origin)
        way.append(proxy?.url ?? "")
        way.append(proxy.flatMap { credentialsToken(of: $0) } ?? "")
        let authorities = context.policy?.rule(for: origin.host)?.authorities
        way.append(authorities.map { "\($0.mode.rawValue) \($0.digest)" } ?? "")
        let signing = service.configuration.signing
        way += [signing?.scheme ?? "", signing?.keyID ?? ""]
        way.append(context.options.credentials.map { String(reflecting: type(of: $0)) } ?? "")
        guard let name = token(["service", context.identity.service.name]),
            let user = user(context.credentialKey?.scope.text),
            let way = token(["way"] + way + values)
        else { return nil }
        return Place(CacheScope(service: name, user: user, way: way), at: origin)
    }

    /// The token of a proxy's credentials; nil without any.
    private func credentialsToken(of proxy: Proxy) -> String? {
        guard let bytes = proxy.credentialBytes() else { return nil }
        var message = BlockWriter()
        message.add(bytes)
        return token(message)
    }

    /// The token of a user, by the scope of its credential source.
    func user(_ scope: String?) -> String? { scope.map { token(["user", $0]) } ?? "0" }

    /// The token of a service.
    func service(_ name: ServiceName) -> String? { token(["service", name.name]) }

    /// A keyed hash in hexadecimal.
    func token(_ parts: [String]) -> String? { Self.token(parts, by: hash) }

    private static func token(_ parts: [String], by hash: HMACKey) -> String? {
        var message = BlockWriter()
        for part in parts { message.add(part) }
        return token(message, by: hash)
    }

    func token(_ message: BlockWriter) -> String? { Self.token(message, by: hash) }

    private static func token(_ message: BlockWriter, by hash: HMACKey) -> String? {
        guard let tag = try? hash.tag(of: message.bytes) else { return nil }
        return String(decoding: Array(tag.prefix(16)).hexadecimal(), as: UTF8.self)
    }
}

extension PinPolicy {
    /// Whether a response that arrived by a verified chain with these public keys may be used for a
    /// call to an origin now.
    func accepts(_ publicKeys: [String], of origin: WebOrigin, at now: Int64) -> Bool {
        let decision = decision(
            for: origin.host, isSecure: origin.isSecure, now: now, port: origin.port)
        guard decision.refusal == nil else { return false }
        guard decision.isPinned, let rule = decision.rule, rule.mode == .enforce else {
            return true
        }
        return rule.pins.contains { pin in publicKeys.contains { sameBytes($0, pin.text) } }
    }
}
