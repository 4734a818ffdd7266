/// A body of a recorded message, without content coding.
public struct RecordedBody: Sendable, Hashable {
    /// The bytes that were kept.
    public var bytes: [UInt8]
    /// The media type, such as `application/json; charset=utf-8`; empty if it isn't known.
    public var mediaType: String
    /// The size of the whole body in bytes, as it was before redaction.
    public var size: Int64
    /// The size as it was sent, with its content coding; nil if it isn't known.
    public var encodedSize: Int64?
    /// Why the body isn't whole: it was larger than the limit, was cut off, or is damaged. Nil for
    /// a whole body.
    public var problem: String?

    /// Creates a whole body.
    public init(bytes: [UInt8], mediaType: String = "") {
        self.bytes = bytes
        self.mediaType = mediaType
        size = Int64(bytes.count)
    }

    /// Creates a body of a text.
    public init(text: String, mediaType: String = "application/json") {
        self.init(bytes: Array(text.utf8), mediaType: mediaType)
    }

    /// The text; nil if the bytes aren't UTF-8.
    public var text: String? { String(validating: bytes, as: UTF8.self) }
}
