#if Storage
import HTTPTypes
import SignetCache

/// The metadata of a stored response in a store's bytes, and the identity of its content.
struct StoredHead {
    let response: StoredResponse
    /// 16 random bytes, which bind the content to the metadata.
    let contentID: [UInt8]

    private static let version: UInt8 = 1

    init(_ response: StoredResponse, contentID: [UInt8]) {
        (self.response, self.contentID) = (response, contentID)
    }

    /// The bytes; nil if a field's value isn't UTF-8, because its text isn't what was received.
    var bytes: [UInt8]? {
        var writer = BlockWriter()
        writer.add([Self.version])
        writer.add(contentID)
        let key = response.id.key
        for text in [key.scope, key.url, key.origin] { writer.add(Array(text.utf8)) }
        writer.add(response.id.selected.count)
        for field in response.id.selected {
            writer.add(Array(field.name.utf8))
            writer.add(field.value.map { Array($0.utf8) })
        }
        writer.add(response.response.status.code)
        writer.add(Array(response.response.status.reasonPhrase.utf8))
        let fields = response.response.headerFields
        writer.add(fields.count)
        for field in fields {
            guard HTTPField(name: field.name, value: field.value) == field else { return nil }
            writer.add(Array(field.name.rawName.utf8))
            writer.add(Array(field.value.utf8))
        }
        for number in [response.requestTime, response.responseTime, response.length] {
            writer.add(Int(number))
        }
        writer.add(Int(response.part?.range.lowerBound ?? -1))
        writer.add(Int(response.part?.range.upperBound ?? -1))
        writer.add(Int(response.part?.total ?? -1))
        writer.add(response.isInvalidated ? 1 : 0)
        writer.add(response.publicKeys.count)
        for key in response.publicKeys { writer.add(Array(key.utf8)) }
        return writer.bytes
    }

    /// Reads the bytes; nil if they are of another form.
    init?(_ bytes: [UInt8]) {
        var reader = BlockReader(bytes)
        guard reader.block() == [Self.version], let contentID = reader.block(),
            contentID.count == 16, let scope = reader.text(),
            let url = reader.text(), let origin = reader.text(),
            let selected = reader.list({ reader in
                reader.text().flatMap { name in
                    reader.optionalText().map { SelectedField(name: name, value: $0) }
                }
            }),
            let code = reader.number(), (100...999).contains(code), let reason = reader.text(),
            let fields = reader.fields(),
            let requestTime = reader.number(), let responseTime = reader.number(),
            let length = reader.number(), length >= 0, let first = reader.number(),
            let end = reader.number(), let total = reader.number(),
            let isInvalidated = reader.number(), let keys = reader.list({ $0.text() }),
            reader.isAtEnd
        else { return nil }
        var part: ContentPart?
        if first >= 0 {
            guard first < end else { return nil }
            part = ContentPart(range: Int64(first)..<Int64(end), total: Int64(total))
            guard part != nil else { return nil }
        }
        self.contentID = contentID
        response = StoredResponse(
            id: .init(key: CacheKey(scope: scope, url: url, origin: origin), selected: selected),
            response: HTTPResponse(
                status: .init(code: code, reasonPhrase: reason), headerFields: fields),
            requestTime: Int64(requestTime), responseTime: Int64(responseTime),
            length: Int64(length), part: part, isInvalidated: isInvalidated == 1, publicKeys: keys)
    }
}
#endif
