import Foundation
import HTTPTypes
import SignetBase
import SignetJSON
import TestSupport

/// `signet send --cache`, one process for each request, in front of a server of the suite.
final class ToolClient: SuiteClient {
    private let folder: TemporaryDirectory
    private let relay: ServerProcess
    private let port: Int
    /// The requests that have been answered.
    private var count = 0

    /// Starts a server, which several cases can use one after the other.
    init() async throws {
        folder = try TemporaryDirectory()
        (relay, port) = try await SocketServer.start("relay", [folder.url.path])
    }

    /// The client with an empty cache.
    func emptied() -> ToolClient {
        try? FileManager.default.removeItem(atPath: folder.path("cache"))
        return self
    }

    // MARK: SuiteClient

    var now: Int64 { UnixTime.now() }
    var server = SuiteServer([])

    /// Lets time pass, because a process has no other clock.
    func pass(seconds: Int64) async { try? await Task.sleep(for: .seconds(seconds)) }

    func receive(_ request: HTTPRequest) async -> ClientReply {
        do {
            return try await send(request)
        } catch {
            return ClientReply(response: HTTPResponse(status: .internalServerError))
        }
    }

    private func send(_ request: HTTPRequest) async throws -> ClientReply {
        let tool = try SignetTool.start(
            [
                "send", "--json", "--plain-http", "--max-redirects", "0", "--cache",
                folder.path("cache"),
            ], stdin: text(of: request))
        while tool.isRunning {
            let received = relay.received
            if received.count > count { try await answer(received[count]) }
            try await Task.sleep(for: .milliseconds(5))
        }
        let output = try await tool.outcome()
        return Self.reply(output.stdout)
            ?? ClientReply(response: HTTPResponse(status: .gatewayTimeout))
    }

    private func text(of request: HTTPRequest) -> [UInt8] {
        let fields = request.headerFields.map { "\($0.name): \($0.value)\r\n" }.joined()
        let line = "\(request.method) \(request.path ?? "/") HTTP/1.1\r\n"
        return Array("\(line)Host: localhost:\(port)\r\n\(fields)\r\n".utf8)
    }

    /// Sends the suite's reply to a request, after its pause.
    private func answer(_ bytes: [UInt8]) async throws {
        count += 1
        guard let (line, fields, _) = Self.parts(bytes), line.count > 1 else { return }
        let request = HTTPRequest(
            method: .init(line[0])!, scheme: "http", authority: nil, path: line[1],
            headerFields: fields)
        var text: [UInt8] = []
        if let reply = server.reply(to: request, now: now) {
            await pass(seconds: reply.delay)
            var response = reply.response
            // Beside the names that a case lists there.
            response.headerFields.append(HTTPField(name: .connection, value: "close"))
            text = (reply.interim + [response]).flatMap(Self.head) + reply.content
        }
        // Renamed, so that the server never reads a part of it.
        try folder.write(text, to: "next")
        try FileManager.default.moveItem(
            atPath: folder.path("next"), toPath: folder.path("\(count)"))
    }

    private static func head(_ response: HTTPResponse) -> [UInt8] {
        let fields = response.headerFields.map { "\($0.name): \($0.value)\r\n" }.joined()
        let status = response.status
        return Array("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n\(fields)\r\n".utf8)
    }

    private static func reply(_ bytes: [UInt8]) -> ClientReply? {
        guard let object = try? JSONValue(parsing: bytes), let response = response(object) else {
            return nil
        }
        let encoded = object["bodyBase64"]?.string.flatMap { Data(base64Encoded: $0) }
        return ClientReply(
            response: response,
            content: encoded.map { Array($0) } ?? Array((object["body"]?.string ?? "").utf8),
            interim: object["interim"]?.array?.compactMap(Self.response) ?? [])
    }

    private static func response(_ object: JSONValue) -> HTTPResponse? {
        guard let code = object["status"]?.number?.int64 else { return nil }
        var fields = HTTPFields()
        for field in object["fields"]?.array ?? [] {
            guard let pair = field.array, let name = HTTPField.Name(pair[0].suiteText) else {
                return nil
            }
            fields.append(HTTPField(name: name, value: pair[1].suiteText))
        }
        return HTTPResponse(status: .init(code: Int(code)), headerFields: fields)
    }

    /// The words of the first line, the fields and the content.
    private static func parts(
        _ bytes: [UInt8]
    ) -> (line: [String], fields: HTTPFields, content: [UInt8])? {
        guard let end = bytes.firstRange(of: "\r\n\r\n".utf8) else { return nil }
        var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        let first = lines.removeFirst().split(separator: " ").map(String.init)
        var fields = HTTPFields()
        for line in lines {
            let pair = line.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, let name = HTTPField.Name(String(pair[0])) else { return nil }
            fields.append(
                HTTPField(name: name, value: String(pair[1]).trimmingCharacters(in: .whitespaces)))
        }
        return (first, fields, Array(bytes[end.upperBound...]))
    }
}
