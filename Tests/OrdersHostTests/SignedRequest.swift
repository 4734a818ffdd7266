import Foundation
import TestSupport

/// A request that PyPI's http-message-signatures signed for the shared host, to be sent by curl.
struct SignedRequest: Codable, Sendable {
    var method = "POST"
    var target = "/rpc"
    var fields = ["Content-Type: application/json"]
    var body = #"{"jsonrpc":"2.0","id":1,"method":"orders.create","params":["tea",2]}"#

    // The keys and options of the Python signer.
    var covers = ["@method", "@authority", "@path", "content-digest"]
    var keyID = OrdersHost.keyID
    var age = 0
    var expires: Int?
    var tag: String?
    var includesAlgorithm = false

    /// The host that all tests of this bundle share; it ends with the process.
    static let host = Task {
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
        let text = Data(secret).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        let members = [
            OrdersHost.keyID: #""alg":"HS256","use":"sig""#,
            "without-use": #""alg":"HS256""#,
            "revoked": #""alg":"HS256","revoked":true"#,
            "expired": #""alg":"HS256","exp":1700000000"#,
            "not-yet": #""alg":"HS256","nbf":4100000000"#,
            "for-a-vault": #""use":"enc""#,
            "other-algorithm": #""alg":"HS512""#,
        ]
        let keys = members.map { #"{"kty":"oct","kid":"\#($0)","k":"\#(text)",\#($1)}"# }
        return try await OrdersHost.start(
            keySet: #"{"keys":[\#(keys.joined(separator: ","))]}"#)
    }

    /// Signs many requests in one Python process, in order.
    static func signed(_ requests: [SignedRequest]) async throws -> [SignedRequest] {
        let host = try await host.value
        let output = try await PythonPeer.run(
            "orders-sign", [host.url, host.keyFile],
            stdin: Array(try JSONEncoder().encode(requests)))
        guard output.exit == 0 else { throw TestSupportError(output.stderr) }
        return try JSONDecoder().decode([SignedRequest].self, from: Data(output.stdout))
    }

    /// Signs one request.
    func signed() async throws -> SignedRequest { try await Self.signed([self])[0] }

    struct Response {
        let status: Int
        let httpVersion: String
        let body: String

        /// The body as JSON with sorted members, to be compared as text.
        var json: String {
            guard let value = try? JSONSerialization.jsonObject(with: Data(body.utf8)),
                let data = try? JSONSerialization.data(
                    withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
            else { return "not JSON: \(body)" }
            return String(decoding: data, as: UTF8.self)
        }
    }

    /// Sends the request unchanged, with curl.
    func send(_ options: String...) async throws -> Response {
        let host = try await Self.host.value
        var arguments = [
            "-sS", "--path-as-is", "--cacert", try TestAuthority.trusted.get().caFile, "-X", method,
            "-w", "\n%{http_code} %{http_version}", host.url + target,
        ]
        for field in fields {
            let text = field.trimmingCharacters(in: .whitespaces)
            // curl's own spelling of a field without a value.
            let isEmpty = text.firstIndex(of: ":") == text.indices.last
            arguments += ["-H", isEmpty ? "\(text.dropLast());" : text]
        }
        if !body.isEmpty { arguments += ["--data-binary", "@-"] }
        let output = try await ChildProcess.run(
            "curl", arguments + options, stdin: Array(body.utf8))
        guard output.exit == 0 else { throw TestSupportError(output.stderr) }
        let lines = output.text.split(separator: "\n", omittingEmptySubsequences: false)
        let outcome = lines[lines.count - 1].split(separator: " ").map(String.init)
        return Response(
            status: Int(outcome[0]) ?? 0, httpVersion: outcome[1],
            body: lines.dropLast().joined(separator: "\n"))
    }

    /// The line that the host's log has for a target that only this test uses.
    static func logLine(of target: String) async throws -> String {
        let host = try await host.value
        let wanted = #""uri":"\#(target)""#
        _ = try await eventually { host.requests.contains { $0.contains(wanted) } }
        return host.requests.first { $0.contains(wanted) } ?? "no line for \(target)"
    }

    /// Replaces text in the fields, which must be there.
    mutating func replace(_ old: String, with new: String) {
        let before = fields
        fields = fields.map { $0.replacingOccurrences(of: old, with: new) }
        if fields == before { fields.append("X-Test-Error: nothing was replaced") }
    }
}
