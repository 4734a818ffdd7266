import Foundation
import HTTPTypes
import SignetJSON
import SignetRPC

/// A file of cases below Vectors, read with Foundation so that our own reader is not its own judge.
struct VectorFile<Case: Decodable & Sendable>: Decodable, Sendable {
    let source: String
    let cases: [Case]

    static func load(_ name: String) -> [Case] {
        guard let url = Bundle.module.url(forResource: "Vectors/\(name)", withExtension: "json"),
            let data = try? Data(contentsOf: url),
            let file = try? JSONDecoder().decode(Self.self, from: data)
        else { return [] }
        return file.cases
    }
}

/// Bytes of a text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Text of bytes.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension JSONRPCAdapter {
    /// An adapter whose ids count from 7.
    static func fromSeven(_ version: Version = .v2) -> JSONRPCAdapter {
        JSONRPCAdapter(version: version, ids: .counting(from: 7))
    }
}

extension RawReply {
    init(_ text: String, status: Int = 200) { self.init(status: status, body: bytes(text)) }
}
