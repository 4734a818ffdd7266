import SignetBase

/// A secret as senders of standard-webhooks show it: `whsec_` and base64.
enum WebhookSecret {
    private static let mark = Array("whsec_".utf8)

    /// Returns the secret alone, and what was left out: `v1,` in front of it and white space around
    /// it. Nil if the bytes are something else.
    static func find(in bytes: [UInt8]) -> (range: Range<Int>, leftOut: [String])? {
        var range = bytes.indices
        while let last = range.last, isSpace(bytes[last]) { range = range.dropLast() }
        while let first = range.first, isSpace(bytes[first]) { range = range.dropFirst() }
        var leftOut = range == bytes.indices ? [] : ["the white space around the secret"]
        if bytes[range].starts(with: "v1,".utf8) {
            range = range.dropFirst(3)
            leftOut.append("\"v1,\" before the secret")
        }
        return bytes[range].starts(with: mark) ? (range, leftOut) : nil
    }

    /// Whether the text after `whsec_` is base64 of one byte or more.
    static func isWhole(_ secret: Span<UInt8>) -> Bool {
        Base64.decode(secret.extracting(droppingFirst: mark.count), from: .standard)
            .map { !$0.isEmpty } ?? false
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte.isBlank || byte == 10 || byte == 13 }
}
