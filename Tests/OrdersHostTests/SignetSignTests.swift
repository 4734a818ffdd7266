import Foundation
import TestSupport
import Testing

/// Messages of `signet sign` are verified by two foreign implementations: the orders host's
/// JavaScript and PyPI's http-message-signatures.
@Suite struct SignetSignTests {
    /// A message of `signet sign`, taken apart as curl and Python need it.
    struct Message: Sendable {
        var method: String
        var target: String
        var fields: [String]
        var body: String

        init(_ text: String) throws {
            let halves = text.split(separator: "\r\n\r\n", maxSplits: 1)
            let lines = halves[0].split(separator: "\r\n").map(String.init)
            let start = lines[0].split(separator: " ").map(String.init)
            (method, target, fields) = (start[0], start[1], Array(lines.dropFirst()))
            body = halves.count > 1 ? String(halves[1]) : ""
        }

        /// The response of the orders host to it.
        func hostStatus() async throws -> Int {
            try await SignedRequest(method: method, target: target, fields: fields, body: body)
                .send().status
        }

        /// Whether http-message-signatures accepts it.
        func isAcceptedByPeer() async throws -> Bool {
            let host = try await SignedRequest.host.value
            let output = try await PythonPeer.run(
                "orders-verify", [host.keyFile, method, host.url + target, body] + fields)
            guard ["yes\n", "no\n"].contains(output.text) else {
                throw TestSupportError(output.stderr)
            }
            return output.text == "yes\n"
        }
    }

    private static let body = SignedRequest().body

    private func signed(
        covers: String = "@method,@authority,@path,content-digest", target: String = "/rpc",
        fields: [String] = [], body: String = Self.body, method: String = "POST"
    ) async throws -> Message {
        let host = try await SignedRequest.host.value
        let lines =
            ["\(method) \(target) HTTP/1.1", "Host: LOCALHOST:\(host.port)"] + fields
            + ["Content-Type: application/json", "", body]
        let output = try await SignetTool.run(
            [
                "sign", "--scheme", "rfc9421", "--keys", host.keyFile, "--key-id", "orders-2026",
                "--covers", covers,
            ], stdin: Array(lines.joined(separator: "\r\n").utf8))
        guard output.exit == 0 else { throw TestSupportError(output.stderr) }
        return try Message(output.text)
    }

    @Test(.features("003-20")) func bothAcceptTheMessage() async throws {
        let message = try await signed()
        #expect(try await message.hostStatus() == 200)
        #expect(try await message.isAcceptedByPeer())
    }

    @Test(arguments: [
        "@method,@authority,@path,@query,content-digest",
        "@target-uri,@method,@authority,@path,content-digest,@request-target,@scheme",
        "content-digest,content-type,x-twice,x-empty,@path,@authority,@method,@query",
    ])
    func bothAcceptEveryComponent(_ covers: String) async throws {
        let message = try await signed(
            covers: covers, target: "/rpc?a=%20b&c=d/e&\(covers.utf8.count)",
            fields: ["X-Twice: one", "X-Twice:  two, three ", "X-Empty:"])
        #expect(try await message.hostStatus() == 200)
        #expect(try await message.isAcceptedByPeer())
    }

    @Test func bothAcceptARequestWithoutABody() async throws {
        let message = try await signed(
            covers: "@method,@authority,@path", target: "/orders", body: "", method: "GET")
        #expect(try await message.hostStatus() == 200)
        #expect(try await message.isAcceptedByPeer())
    }

    @Test(arguments: ["body", "path", "method", "digest", "tag", "created"])
    func bothRefuseOneChangedByte(_ place: String) async throws {
        var message = try await signed()
        func change(_ name: String, _ old: Regex<Substring>, _ new: String) throws {
            let index = try #require(message.fields.firstIndex { $0.hasPrefix("\(name):") })
            let changed = message.fields[index].replacing(old, with: new, maxReplacements: 1)
            #expect(changed != message.fields[index])
            message.fields[index] = changed
        }
        switch place {
        case "body": message.body = message.body.replacing("2]", with: "3]")
        case "path": message.target = "/rpd"
        case "method": message.method = "PUT"
        case "digest": try change("Content-Digest", /=:./, "=:*")
        case "tag":
            let index = try #require(message.fields.firstIndex { $0.hasPrefix("Signature:") })
            var field = Array(message.fields[index])
            let start = try #require(field.lastIndex(of: ":")) - 10
            field[start] = field[start] == "A" ? "B" : "A"
            message.fields[index] = String(field)
        default: try change("Signature-Input", /;created=1/, ";created=2")
        }
        #expect(try await message.hostStatus() == 401)
        #expect(try await message.isAcceptedByPeer() == false)
    }

    @Test func signetVerifyAcceptsThePeersSignatures() async throws {
        let host = try await SignedRequest.host.value
        let request = try await SignedRequest().signed()
        func verify(_ body: String) async throws -> ProcessOutput {
            let lines =
                ["POST /rpc HTTP/1.1", "Host: localhost:\(host.port)"] + request.fields + [
                    "", body,
                ]
            return try await SignetTool.run(
                ["verify", "--scheme", "rfc9421", "--keys", host.keyFile, "--json"],
                stdin: Array(lines.joined(separator: "\r\n").utf8))
        }
        let good = try await verify(request.body)
        #expect(good.exit == 0, "\(good.text)")
        #expect(good.text.contains(#""verified":true"#))
        #expect(try await verify(request.body + " ").exit == 1)
    }
}
