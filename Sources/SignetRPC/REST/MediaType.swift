import SignetBase

/// A media type (RFC 9110, section 8.3.1), without parameters.
package struct MediaType: Equatable {
    package let essence: String

    /// Parses the value of a Content-Type field; returns nil if it is not a media type.
    package init?(_ text: String) {
        let end = text.utf8.firstIndex(of: UInt8(ascii: ";")) ?? text.endIndex
        let essence = text[..<end].utf8.trimmingBlanks()
        let parts = essence.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isToken) })
        else {
            return nil
        }
        self.essence = String(decoding: essence, as: UTF8.self).lowercased()
    }

    /// Whether the type's name says that it is JSON (RFC 6839, section 3.1).
    package var isJSON: Bool { essence == "application/json" || essence.endsWithBytes(of: "+json") }
}
