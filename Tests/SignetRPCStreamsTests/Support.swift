import HTTPTypes
import SignetJSON
import SignetRPC
import TestSupport

@testable import SignetRPCStreams

extension JSONRPCAdapter {
    /// An adapter whose ids count from 7.
    static func fromSeven(_ version: Version = .v2) -> JSONRPCAdapter {
        JSONRPCAdapter(version: version, ids: .counting(from: 7))
    }
}

extension RawResponse {
    init(_ text: String, status: Int = 200) { self.init(status: status, body: bytes(text)) }
}
