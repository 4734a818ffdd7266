import HTTPTypes
import SignetBase
import SignetCrypto
import SignetRPC

/// Seals the bodies of a service's requests, and opens those of its responses.
struct BodySealer: Sendable {
    let sealing: ServiceConfiguration.Sealing
    /// The keys that requests are sealed for, in their order.
    private let keys: [CryptoKey]
    private let responseKeys: [CryptoKey]
    private let maximumResponseSize: Int

    /// Looks the keys up.
    ///
    /// - Throws: `invalid-service`, or a key's own code such as `unknown-key` and `wrong-key-use`.
    init(
        _ sealing: ServiceConfiguration.Sealing, keys set: KeySet?, maximumResponseSize: Int
    ) throws(ClientError) {
        guard let set else {
            throw ClientError(.invalidService, "its bodies are sealed, but no key set was given")
        }
        guard !sealing.keyIDs.isEmpty else {
            throw ClientError(.invalidService, "its bodies are sealed for no key, expected one")
        }
        guard sealing.algorithm.isSymmetric || !sealing.responseKeyIDs.isEmpty else {
            throw ClientError(
                .invalidService,
                "its bodies are sealed with \(sealing.algorithm.rawValue), but no key is named that"
                    + " opens responses")
        }
        guard HTTPField.isValidValue(sealing.mediaType), !sealing.mediaType.isEmpty else {
            throw ClientError(.invalidService, "the media type of sealed bodies is invalid")
        }
        self.sealing = sealing
        self.maximumResponseSize = maximumResponseSize
        do throws(KeyError) {
            func found(_ ids: [String]) throws(KeyError) -> [CryptoKey] {
                var keys: [CryptoKey] = []
                for id in ids {
                    let key = try set.key(id: id)
                    try key.requireSealing(sealing.algorithm, sealing.encryption)
                    keys.append(key)
                }
                return keys
            }
            self.keys = try found(sealing.keyIDs)
            let ids =
                sealing.responseKeyIDs.isEmpty ? sealing.keyIDs : sealing.responseKeyIDs
            self.responseKeys = try found(ids)
        } catch {
            throw ClientError(error.code, error.message)
        }
        guard responseKeys.allSatisfy(\.isPrivate) else {
            throw ClientError(
                .invalidService,
                "a key that opens its responses is a public key, expected its private half")
        }
    }

    // MARK: Requests

    /// Seals a body for the first key that is valid now.
    ///
    /// - Parameter fields: Their Content-Type becomes that of a sealed body, and `cty` says what it
    ///   was.
    /// - Returns: The sealed body; an empty one stays empty.
    /// - Throws: `key-revoked`, `key-expired` or `key-not-yet-valid` if no key can be used.
    func seal(_ body: [UInt8], fields: inout HTTPFields) throws(ClientError) -> [UInt8] {
        if fields[.accept] != nil { fields[.accept] = sealing.mediaType }
        guard !body.isEmpty else { return [] }
        do throws(KeyError) {
            let contentType = fields[.contentType].map(Self.shortened)
            let sealed = try JWEMessage.seal(
                body, for: usableKey(), by: sealing.algorithm, sealing.encryption,
                contentType: contentType)
            fields[.contentType] = sealing.mediaType
            // A Content-Length that the caller set is that of the body before.
            if fields[.contentLength] != nil { fields[.contentLength] = "\(sealed.count)" }
            return sealed
        } catch {
            throw ClientError(error.code, error.message)
        }
    }

    private func usableKey() throws(KeyError) -> CryptoKey {
        let now = UnixTime.now()
        for key in keys where (try? key.requireUsable(at: now)) != nil { return key }
        // Says why the last one, the newest, can't be used.
        guard let last = keys.last else { throw KeyError(.unknownKey, "found no key") }
        try last.requireUsable(at: now)
        return last
    }

    /// `cty` leaves out "application/" if no other slash follows (RFC 7516, section 4.1.12).
    private static func shortened(_ type: String) -> String {
        let prefix = "application/"
        guard type.startsWithBytes(of: prefix), !type.dropFirst(prefix.count).contains("/") else {
            return type
        }
        return String(type.dropFirst(prefix.count))
    }

    // MARK: Responses

    /// Opens a response.
    ///
    /// - Parameter request: The request that it answers.
    /// - Returns: The response with the opened body, and with the Content-Type that its `cty` says.
    /// - Throws: `not-sealed`; `http-status` if the status isn't 2xx and the body isn't sealed;
    ///   `malformed-response`; a key's own code; `tampered`.
    func open(
        _ response: RawResponse, to request: BoxedRequest
    ) throws(ClientError) -> RawResponse {
        if response.body.isEmpty, Self.mayBeEmpty(response, to: request) { return response }
        guard Self.looksSealed(response.body) else { throw Self.notSealed(response) }
        let status = response.status
        let message: JWEMessage
        do throws(JWEContent.Malformed) {
            message = try JWEMessage(parsing: response.body, textLimit: maximumResponseSize)
        } catch {
            throw ClientError(
                .malformedResponse,
                "the response is sealed in a way that is refused: \(error.problem)",
                status: status)
        }
        guard message.algorithm == sealing.algorithm, message.encryption == sealing.encryption
        else {
            throw ClientError(
                .malformedResponse,
                "the response is sealed with \(message.algorithm.rawValue) and "
                    + "\(message.encryption.rawValue), expected \(sealing.algorithm.rawValue) and "
                    + "\(sealing.encryption.rawValue)", status: status)
        }
        var opened = response
        do throws(KeyError) {
            let key = try key(for: message)
            try key.requireUsable()
            opened.body = try message.open(with: key)
        } catch {
            throw ClientError(
                error.code, "the response: \(error.message)", status: status
            )
        }
        opened.fields[.contentType] =
            message.contentType.flatMap(Self.lengthened)
            ?? "application/json"
        opened.fields[.contentLength] = nil
        return opened
    }

    private func key(for message: JWEMessage) throws(KeyError) -> CryptoKey {
        var names: String { printable(responseKeys.map(\.id).joined(separator: ", ")) }
        guard let id = message.keyID else {
            if let only = responseKeys.first, responseKeys.count == 1 { return only }
            throw KeyError(.unknownKey, "found no kid, expected one of \(names)")
        }
        guard let key = responseKeys.first(where: { sameBytes($0.id, id) }) else {
            throw KeyError(
                .unknownKey, "sealed for the key \"\(printable(id))\", expected one of \(names)")
        }
        return key
    }

    private static func mayBeEmpty(_ response: RawResponse, to request: BoxedRequest) -> Bool {
        let isNotified =
            !request.expected.ids.isEmpty && request.expected.ids.allSatisfy { $0 == nil }
        return [204, 205, 304].contains(response.status) || request.method == .head
            || (isNotified && response.isSuccess)
    }

    /// Whether bytes begin as the base64url of a JSON object does, and contain a dot.
    private static func looksSealed(_ body: [UInt8]) -> Bool {
        body.starts(with: "ey".utf8) && body.contains(ASCII.dot)
    }

    private static func notSealed(_ response: RawResponse) -> ClientError {
        let found = response.fields[.contentType].map { printable($0) } ?? "no media type"
        let what = response.body.isEmpty ? "it has no body" : "found \(found)"
        guard response.isSuccess else {
            return ClientError(
                .httpStatus,
                "the server responded with HTTP status \(response.status), expected 2xx; the response is"
                    + " not sealed, so nothing of it is used", status: response.status)
        }
        return ClientError(
            .notSealed, "the response is not sealed: \(what), expected a JWE in compact form",
            status: response.status)
    }

    private static func lengthened(_ type: String) -> String? {
        let whole = type.contains("/") ? type : "application/\(type)"
        return HTTPField.isValidValue(whole) ? whole : nil
    }
}
