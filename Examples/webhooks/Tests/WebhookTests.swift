import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import SignetSigning
import Testing

@testable import webhooks

/// The server as a partner's webhooks meet it.
@Suite struct WebhookTests {
    private let folder: URL
    private let keys: KeySource

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "webhooks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let file = folder.appending(path: "keys").path
        let secret = Data((0..<32).map { UInt8($0) }).base64EncodedString()
            .replacingOccurrences(of: "=", with: "")
        let text =
            #"{"keys":[{"kty":"oct","kid":"partner","use":"sig","alg":"HS256","#
            + #""k":"\#(secret)"}]}"#
        FileManager.default.createFile(
            atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        keys = .file(file)
    }

    /// The fields of a signed webhook.
    private func fields(
        of body: [UInt8], id: String, at time: Int64? = nil
    ) throws -> HTTPFields {
        let signer = try MessageSigner(
            scheme: SigningScheme(named: "standard-webhooks"),
            key: keys.load().key(id: "partner"))
        var request = HTTPRequest(
            method: .post, scheme: "https", authority: "shop.example.com", path: "/hooks")
        request.headerFields[.contentType] = "application/json"
        var message = try SignableMessage(request: request, body: body)
        let signed = try signer.sign(
            &message, now: time ?? Int64(Date().timeIntervalSince1970), nonce: id)
        for field in signed.addedFields {
            if let field = field.httpField { request.headerFields.append(field) }
        }
        return request.headerFields
    }

    private func verifier() throws -> Verifier {
        try makeVerifier(keys: keys, seen: folder.appending(path: "seen").path)
    }

    /// Sends a webhook, and expects a status.
    private func expect(
        _ status: Int, _ client: some TestClientProtocol, _ fields: HTTPFields, _ body: [UInt8],
        _ note: Comment = ""
    ) async throws {
        let found = try await client.execute(
            uri: "/hooks", method: .post, headers: fields, body: ByteBuffer(bytes: body)
        ) { $0.status.code }
        #expect(found == status, note)
    }

    @Test(arguments: [1, 2, 1000, 65_536, 1 << 20, 10 << 20])
    func takesAWebhookOnce(_ count: Int) async throws {
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let fields = try fields(of: body, id: "msg_\(count)")
        try await makeServer(verifier: verifier()).test(.live) { client in
            try await expect(200, client, fields, body)
            try await expect(401, client, fields, body)
        }
        // Another process that shares the file has seen it too.
        try await makeServer(verifier: verifier()).test(.live) { client in
            try await expect(401, client, fields, body)
        }
    }

    @Test func refusesWhatIsNotSigned() async throws {
        let body = Array(#"{"type":"order.paid"}"#.utf8)
        let good = try fields(of: body, id: "msg_1")
        try await makeServer(verifier: verifier()).test(.live) { client in
            for name in good.map(\.name) where name != .contentType {
                var cut = good
                cut[name] = nil
                try await expect(401, client, cut, body, "without \(name)")
                var changed = good
                changed[name] = (good[name] ?? "") + "x"
                try await expect(401, client, changed, body, "another \(name)")
            }
            try await expect(401, client, [:], body)
            var other = body
            other[2] ^= 1
            try await expect(401, client, good, other)
            try await expect(401, client, good, [])
            try await expect(401, client, good, body + [10])
            let old = try fields(of: body, id: "msg_2", at: 1_700_000_000)
            try await expect(401, client, old, body)
            // None of them used up the id.
            try await expect(200, client, good, body)
        }
    }

    @Test func tellsTheSenderNothing() async throws {
        try await makeServer(verifier: verifier()).test(.live) { client in
            try await client.execute(uri: "/hooks", method: .post, body: ByteBuffer(string: "x")) {
                let text = String(buffer: $0.body)
                #expect($0.status == .unauthorized && text.contains(SigningError.publicMessage))
                #expect(!text.contains("webhook-"))
            }
        }
    }

    /// A store that can't be written refuses: otherwise a webhook could come twice.
    @Test func failsClosedWithoutItsStore() async throws {
        let body = Array("x".utf8)
        let fields = try fields(of: body, id: "msg_3")
        let broken = try makeVerifier(keys: keys, seen: folder.appending(path: "no/seen").path)
        try await makeServer(verifier: broken).test(.live) { client in
            try await expect(503, client, fields, body)
        }
    }

    @Test func limitsTheBody() async throws {
        try await makeServer(verifier: verifier()).test(.router) { client in
            let body = [UInt8](repeating: 0, count: (16 << 20) + 1)
            try await expect(413, client, [:], body)
        }
    }
}
