import HTTPTypes
import SignetCrypto
import SignetRPC
import SignetSigning
import SignetSystem
import SignetTransport

/// A service made ready at start, so that a mistake in the configuration shows before the first
/// call.
final class PreparedService: Sendable {
    let configuration: ServiceConfiguration
    /// The service's base URL, or a call's own one.
    let url: WebURL
    let adapter: any PayloadAdapter
    let signer: RequestSigner?
    let sealer: BodySealer?
    /// The options of the configuration, the system and the service.
    let options: RequestOptions

    /// Splits the URL, compiles the signing scheme, looks the key up.
    ///
    /// - Parameter options: The options of the configuration and the system.
    /// - Throws: `ClientError`, naming the service.
    init(
        _ service: ServiceName, configuration: ServiceConfiguration, options: RequestOptions,
        keys: KeySet?, externalSigners: [any ExternalSigner] = [], maximumResponseSize: Int
    ) throws(ClientError) {
        var configuration = configuration
        do throws(ClientError) {
            try configuration.applyDefaultSets()
        } catch {
            throw ClientError(error.code, "service \(service): \(error.message)")
        }
        self.configuration = configuration
        self.options = options.merging(configuration.levelOptions)
        self.url = try WebURL(configuration.baseURL)
        for other in [configuration.options.baseURL, configuration.options.testBaseURL] {
            _ = try other.map { url throws(ClientError) in try WebURL(url) }
        }
        switch (configuration.adapter, configuration.payloadProtocol) {
        case (let adapter?, _): self.adapter = adapter
        case (nil, .jsonRPC2), (nil, .jsonRPC1):
            var adapter = JSONRPCAdapter(
                version: configuration.payloadProtocol == .jsonRPC1 ? .v1 : .v2)
            adapter.maximumResponseSize = maximumResponseSize
            self.adapter = adapter
        case (nil, .rest):
            var adapter = RESTAdapter()
            adapter.maximumResponseSize = maximumResponseSize
            self.adapter = adapter
        }
        guard configuration.addresses.isEmpty || url.origin.isSecure else {
            throw ClientError(
                .invalidService,
                "services.\(service).addresses: found an http URL, expected https, because"
                    + " without TLS no server at an address can show that it is the host")
        }
        if configuration.options.merging?.isOn == true,
            (adapter as? JSONRPCAdapter)?.version != .v2
        {
            throw ClientError(
                .invalidService,
                "services.\(service).merging: the service's protocol has no batches, expected"
                    + " jsonrpc-2.0")
        }
        do throws(ClientError) {
            self.sealer = try configuration.sealing.map { sealing throws(ClientError) in
                try BodySealer(sealing, keys: keys, maximumResponseSize: maximumResponseSize)
            }
            self.signer = try configuration.signing.map { signing throws(ClientError) in
                try signing.signer(of: keys, or: externalSigners)
            }
        } catch {
            throw ClientError(error.code, "service \(service): \(error.message)")
        }
    }

    private init(_ other: PreparedService, configuration: ServiceConfiguration, url: WebURL) {
        self.configuration = configuration
        self.url = url
        (adapter, signer, sealer) = (other.adapter, other.signer, other.sealer)
        options = other.options
    }
}

extension ServiceConfiguration.Signing {
    /// Finds scheme and key, and compiles them.
    ///
    /// - Parameter external: Keys that are held elsewhere; the set must not have a key of the same
    ///   id.
    fileprivate func signer(
        of keys: KeySet?, or external: [any ExternalSigner]
    ) throws(ClientError) -> RequestSigner {
        do {
            let scheme = try SigningScheme(
                nameOrFile: scheme, insecure: allowsInsecureScheme)
            var options = MessageSigner.Options()
            options.coveredComponents = try covered.map { covered in
                try covered.flatMap { try ComponentIdentifier.list(parsing: $0) }
            }
            options.tag = tag
            (options.settings, options.fieldTypes) = try scheme.split(settings)
            if let external = try external.signer(for: keyID, besides: keys) {
                return try RequestSigner(external, scheme: scheme, options: options)
            }
            guard let keys else {
                throw ClientError(
                    .invalidService, "it signs with key \(keyID), but no key set was given")
            }
            return RequestSigner(
                try MessageSigner(scheme: scheme, key: keys.key(id: keyID), options: options))
        } catch let error as ClientError {
            throw error
        } catch let error as KeyError {
            throw ClientError(error.code, error.message)
        } catch let error as SigningError {
            throw ClientError(error)
        } catch let error as FileFailure {
            throw ClientError(.unreadableFile, error.description)
        } catch {
            throw ClientError(.invalidService, "it cannot sign")
        }
    }
}

/// A request whose bytes are final except for its signature. Each attempt gets a new signature.
///
/// It is an object, which costs less to hand on than its members.
final class FrozenRequest: Sendable {
    /// The URL without what a signature adds to the query.
    let url: WebURL
    let head: HTTPRequest
    let body: HTTPRequestBody
    /// The signature that was added; nil before.
    let signature: MessageSigner.Result?

    init(
        url: WebURL, head: HTTPRequest, body: HTTPRequestBody,
        signature: MessageSigner.Result? = nil
    ) {
        self.url = url
        self.head = head
        self.body = body
        self.signature = signature
    }

    /// The same request signed now: with the fields, the target and the body that the scheme gave
    /// it.
    ///
    /// A stream is read to know its digests, and held to them when it is sent.
    func signed(by signer: RequestSigner, at now: Int64) async throws(ClientError) -> FrozenRequest
    {
        do {
            var message = try SignableMessage(request: head, body: body.bytes ?? [])
            try signer.checkEncoding(of: head, as: message)
            guard body.bytes == nil else {
                return try await signed(message, with: nil, by: signer, at: now)
            }
            let digests = try await body.digests(signer.bodyDigests(for: message))
            message.setBody(digests)
            return try await signed(message, with: body.held(to: digests), by: signer, at: now)
        } catch let error as SigningError {
            throw ClientError(error)
        } catch let error as ClientError {
            throw error
        } catch {
            throw ClientError(.bodyFailed, "it cannot be signed")
        }
    }

    /// - Parameter stream: The body that isn't in memory; nil for the one that the scheme gave it.
    private func signed(
        _ message: SignableMessage, with stream: HTTPRequestBody?, by signer: RequestSigner,
        at now: Int64
    ) async throws -> FrozenRequest {
        var message = message
        let result = try await signer.sign(&message, now: now)
        var head = head
        for field in result.addedFields {
            guard let field = field.httpField else {
                throw SigningError(
                    .malformedMessage, "a field of the signature is not a valid HTTP field")
            }
            head.headerFields.append(field)
        }
        guard let target = message.request?.target else {
            throw SigningError(.malformedMessage, "the signed request has no target")
        }
        head.path = String(decoding: target, as: UTF8.self)
        // A Content-Length that the caller set doesn't count the signature.
        if let bytes = body.bytes, message.body.count != bytes.count,
            self.head.headerFields[.contentLength] != nil
        {
            head.headerFields[.contentLength] = "\(message.body.count)"
        }
        return FrozenRequest(
            url: url, head: head, body: stream ?? HTTPRequestBody(message.body),
            signature: result)
    }
}

extension PreparedService {
    /// Returns the service at another base URL.
    func at(_ url: WebURL) -> PreparedService {
        PreparedService(self, configuration: configuration, url: url)
    }

    /// The store of a request to the service's own origin; nil for another one.
    func cookies(for url: WebURL) -> CookieStore? {
        guard let store = configuration.cookies, url.origin == self.url.origin else { return nil }
        return store
    }

    /// Returns the service with the sets that a call's options name.
    ///
    /// - Throws: `invalid-options` for a set that the service has not.
    func choosing(_ names: [String]?) throws(ClientError) -> PreparedService {
        guard let names else { return self }
        var configuration = configuration
        try configuration.use(names, code: .invalidOptions)
        return PreparedService(self, configuration: configuration, url: url)
    }
}
