public import SignetRPC
public import SignetTransport

/// Fields and files for `multipart/form-data`. The files are streams, which are never completely in
/// memory.
public struct MultipartUpload: Sendable {
    /// One file.
    public struct File: Sendable {
        /// The field's name.
        public var name: String
        /// The file's name, as the server gets it.
        public var fileName: String
        /// The media type of the file.
        public var contentType: String
        /// The file's bytes.
        public var content: HTTPRequestBody

        /// Creates a file.
        public init(
            name: String, fileName: String, contentType: String = "application/octet-stream",
            content: HTTPRequestBody
        ) {
            self.name = name
            self.fileName = fileName
            self.contentType = contentType
            self.content = content
        }
    }

    /// The fields, which are sent first.
    public var fields: MultipartForm
    /// The files, in their order.
    public var files: [File]

    /// Creates an upload.
    public init(fields: MultipartForm = MultipartForm(), files: [File]) {
        self.fields = fields
        self.files = files
    }

    /// The body with its Content-Type. Its boundary is random, of 192 bits, so that no file holds
    /// it.
    func body() throws(PayloadError) -> (contentType: String, body: HTTPRequestBody) {
        let boundary = MultipartForm.randomBoundary()
        var pieces: [HTTPRequestBody] = []
        for part in fields.parts {
            pieces.append(
                HTTPRequestBody(try part.head(boundary: boundary) + part.content + [0x0D, 0x0A]))
        }
        for file in files {
            let part = MultipartForm.Part(
                name: file.name, fileName: file.fileName, contentType: file.contentType, content: []
            )
            pieces.append(HTTPRequestBody(try part.head(boundary: boundary)))
            pieces.append(file.content)
            pieces.append([0x0D, 0x0A])
        }
        pieces.append(HTTPRequestBody(MultipartForm.end(boundary: boundary)))
        return (
            MultipartForm.contentType(boundary: boundary),
            HTTPRequestBody(JoinedBody(pieces: pieces))
        )
    }
}

/// Concatenates several request bodies.
private struct JoinedBody: RequestBodySource {
    let pieces: [HTTPRequestBody]

    var length: Int64? {
        var sum: Int64 = 0
        for piece in pieces {
            guard let length = piece.length else { return nil }
            sum += length
        }
        return sum
    }

    var isReplayable: Bool { pieces.allSatisfy(\.isReplayable) }

    func makeReader() throws(TransportError) -> any RequestBodyReader { Reader(rest: pieces[...]) }

    private struct Reader: RequestBodyReader {
        var rest: ArraySlice<HTTPRequestBody>
        var current: HTTPRequestBody.Reader?

        mutating func next() async throws -> [UInt8]? {
            while true {
                if current == nil {
                    guard let piece = rest.popFirst() else { return nil }
                    current = try piece.makeReader()
                }
                if let chunk = try await current?.next() { return chunk }
                current = nil
            }
        }
    }
}
