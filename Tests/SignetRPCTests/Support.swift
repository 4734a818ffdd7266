import HTTPTypes
import SignetJSON
import SignetRPC

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

extension RawResponse {
    init(_ text: String, status: Int = 200) { self.init(status: status, body: bytes(text)) }
}
