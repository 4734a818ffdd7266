/// A form of fields and files, sent as `multipart/form-data` (RFC 7578).
///
/// ```swift
/// import HTTPTypes
/// import SignetRPC
///
/// var form = MultipartForm()
/// form.append("Tea house", named: "title")
/// form.append(file: [0x89, 0x50], named: "photo", fileName: "tea.png", contentType: "image/png")
/// let request = RESTRequest(.post, "/orders/7/photos", body: try .multipart(form))
/// ```
///
/// In names and file names `"`, CR and LF become `%22`, `%0D` and `%0A`, as browsers escape them
/// (WHATWG HTML, section 4.10.21.8). Other control characters are refused.
public struct MultipartForm: Sendable, Hashable {
    /// One field or file.
    public struct Part: Sendable, Hashable {
        /// The field's name.
        public var name: String
        /// The file's name; nil for a field.
        public var fileName: String?
        /// The content's media type; nil omits it, which means plain text (section 4.4).
        public var contentType: String?
        /// The content.
        public var content: [UInt8]

        /// Creates a part.
        public init(
            name: String, fileName: String? = nil, contentType: String? = nil, content: [UInt8]
        ) {
            self.name = name
            self.fileName = fileName
            self.contentType = contentType
            self.content = content
        }
    }

    /// The parts, in the order in which they are sent.
    public var parts: [Part]

    /// Creates a form.
    public init(_ parts: [Part] = []) { self.parts = parts }

    /// Adds a field of text.
    public mutating func append(_ text: String, named name: String) {
        parts.append(Part(name: name, content: Array(text.utf8)))
    }

    /// Adds a file.
    public mutating func append(
        file content: [UInt8], named name: String, fileName: String,
        contentType: String = "application/octet-stream"
    ) {
        parts.append(
            Part(name: name, fileName: fileName, contentType: contentType, content: content))
    }

    /// Returns the Content-Type with its boundary.
    package static func contentType(boundary: String) -> String {
        "multipart/form-data; boundary=\(boundary)"
    }

    /// Returns a boundary of 192 random bits.
    package static func randomBoundary() -> String {
        "signet-" + UInt128.randomDigits() + UInt64.randomDigits()
    }

    /// Returns a random boundary that occurs in no content (RFC 7578, section 4.1).
    func unusedBoundary() -> String {
        let boundary = Self.randomBoundary()
        let bytes = Array(boundary.utf8)
        return parts.contains { $0.content.contains(bytes) } ? unusedBoundary() : boundary
    }

    /// Returns the whole body.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` for an invalid name or media type.
    func encoded(boundary: String) throws(PayloadError) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            bytes += try part.head(boundary: boundary)
            bytes += part.content
            bytes += [0x0D, 0x0A]
        }
        return bytes + Self.end(boundary: boundary)
    }

    /// Returns the bytes after the last part.
    package static func end(boundary: String) -> [UInt8] { Array("--\(boundary)--\r\n".utf8) }
}

extension MultipartForm.Part {
    /// Returns the bytes before the content, beginning with the boundary.
    ///
    /// - Throws: `PayloadError` with code `invalid-params` for an invalid name or media type.
    package func head(boundary: String) throws(PayloadError) -> [UInt8] {
        var head =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(try Self.escaped(name))\""
        if let fileName { head += "; filename=\"\(try Self.escaped(fileName))\"" }
        if let contentType {
            guard MediaType(contentType) != nil,
                contentType.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else { throw .invalidParameters("the type of a form's part is not a media type") }
            head += "\r\nContent-Type: \(contentType)"
        }
        return Array((head + "\r\n\r\n").utf8)
    }

    private static func escaped(_ name: String) throws(PayloadError) -> String {
        var escaped: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case 0x22: escaped += "%22".utf8
            case 0x0D: escaped += "%0D".utf8
            case 0x0A: escaped += "%0A".utf8
            case 0..<0x20, 0x7F:
                throw .invalidParameters("found a control character in a name of the form")
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
