internal import HTTPTypes
internal import SignetCrypto
internal import SignetRPC
internal import SignetSigning

/// A service made ready at start, so that a mistake in the configuration shows before the first call.
struct PreparedService: Sendable {
    let configuration: ServiceConfiguration
    let url: RequestURL
    let adapter: any PayloadAdapter
    let signer: MessageSigner?

    /// Splits the URL, compiles the signing scheme, looks the key up.
    ///
    /// - Throws: `ClientError`, naming the service.
    init(
        _ service: Service, _ configuration: ServiceConfiguration, keys: KeySet?,
        maximumReplySize: Int
    ) throws(ClientError) {
        self.configuration = configuration
        self.url = try RequestURL(configuration.baseURL)
        switch configuration.payloadProtocol {
        case .jsonRPC2, .jsonRPC1:
            var adapter = JSONRPCAdapter(
                version: configuration.payloadProtocol == .jsonRPC1 ? .v1 : .v2)
            adapter.maximumReplySize = maximumReplySize
            self.adapter = adapter
        case .rest:
            var adapter = RESTAdapter()
            adapter.maximumReplySize = maximumReplySize
            self.adapter = adapter
        }
        guard let signing = configuration.signing else {
            self.signer = nil
            return
        }
        guard let keys else {
            throw ClientError(
                .processing, .invalidService,
                "service \(service) signs with key \(signing.keyID), but no key set was given")
        }
        do {
            var options = MessageSigner.Options()
            options.covers = try signing.covered.map { covered in
                try covered.flatMap { try ComponentIdentifier.list(parsing: $0) }
            }
            self.signer = try MessageSigner(
                scheme: SigningScheme(named: signing.scheme), key: keys.key(id: signing.keyID),
                options: options)
        } catch let error as KeyError {
            throw ClientError(
                .processing, ClientError.Code(error.code.name),
                "service \(service): \(error.message)")
        } catch let error as SigningError {
            throw ClientError(
                .processing, ClientError.Code(error.code.name),
                "service \(service): \(error.message)")
        } catch {
            throw ClientError(.processing, .invalidService, "service \(service) cannot sign")
        }
    }
}

/// A request whose bytes are final; only signature fields are added, anew for each attempt.
struct FrozenRequest: Sendable {
    var head: HTTPRequest
    var body: [UInt8]

    /// The same request with the fields of a signature made now.
    func signed(by signer: MessageSigner, at now: Int64) throws(SigningError) -> FrozenRequest {
        var message = try SignableMessage(request: head, body: body)
        var signed = self
        for field in try signer.sign(&message, now: now).addedFields {
            guard let field = field.httpField else {
                throw SigningError(.malformedMessage, "a field of the signature is no HTTP field")
            }
            signed.head.headerFields.append(field)
        }
        return signed
    }
}
