import SignetBase
import SignetClient
import SignetCrypto
import SignetJSON
import SignetPinning
import SignetRPC
import SignetSigning
import SignetTransport
import TestSupport
import Testing

/// One failure has one code and one kind, and every code is a constant.
@Suite struct ClientErrorTests {
    @Test(
        .features("002-09"),
        arguments: [
            (.timeout, .noResponse), (.connect, .noResponse), (.cutOff, .noResponse),
            (.pinMismatch, .noResponse), (.cleartextToPinnedHost, .noResponse),
            (.httpStatus, .refused), (.rpcError, .refused), (.businessCode, .refused),
            (.tooManyRedirects, .refused), (.malformedResponse, .malformed),
            (.responseTooLarge, .malformed), (.typeMismatch, .malformed),
            (.wrongDigest, .malformed),
            (.cancelled, .local), (.notRunning, .local), (.invalidRequest, .local),
            (.resources, .local), (.trustStore, .local), (.bodyFailed, .local),
            (.conversionFailed, .local), (.invalidParameters, .local), (.keyTooShort, .local),
            (.refusedURL, .local),
        ] as [(ClientError.Code, ClientError.Kind)])
    func aCodeHasOneKind(_ code: ClientError.Code, _ kind: ClientError.Kind) {
        #expect(code.kind == kind, "\(code)")
        #expect(ClientError(code, "").kind == kind)
    }

    @Test(.features("002-09")) func theKindIsTheSameWhereverTheFailureIsNoticed() {
        let seen: [(ClientError, ClientError)] = [
            (
                ClientError(TransportError(.malformedResponse, "")),
                ClientError(PayloadError(.malformedResponse, ""))
            ),
            (
                ClientError(TransportError(.responseTooLarge, "")),
                ClientError(PayloadError(.responseTooLarge, ""))
            ),
            (
                ClientError(TransportError(.notRunning, "")),
                ClientError(.notRunning, "")
            ),
        ]
        for (left, right) in seen {
            #expect(left.code == right.code && left.kind == right.kind, "\(left.code)")
        }
    }

    /// The document's signature holds, and its policy can't be read.
    @Test func anUnreadablePinPolicyIsMalformed() async throws {
        let folder = try TemporaryDirectory()
        try KeyFile.add(.ed25519, id: "pins", to: folder.path("keys"), append: false)
        let keys = try KeySource(folder.path("keys")).load()
        let (pair, algorithm) = try keys.key(id: "pins").signatureKey()
        func base64(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }
        let protected = base64(#"{"alg":"EdDSA","kid":"pins","typ":"signet-pins"}"#)
        let payload = base64(
            #"{"serial":7,"notBefore":0,"expires":9000000000,"policy":{"hosts":[]}}"#)
        let signature = try pair.sign(Array("\(protected).\(payload)".utf8).span, by: algorithm)
        let document: JSONValue = [
            "payload": .string(payload), "protected": .string(protected),
            "signature": .string(Base64.encode(signature, as: .url)),
        ]
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine(responses: [.init(body: document.text)])
        options.pinUpdates = PinUpdatePlan(
            url: "https://pins.example.com/newest",
            verifier: try PinUpdateVerifier(
                keys: KeySet(parsing: keys.publicHalves.serialized(), source: "app")),
            file: folder.path("newest.json"))
        let system = try await NetworkSystem.start(
            services: [:], policy: .allowingAll(), options: options)
        let code = await Pipeline.code { () async throws(ClientError) in
            try await system.updatePins()
        }
        #expect(code == .malformedPolicy && code?.kind == .malformed)
        await system.shutdown()
    }
}
