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
        var writer = HeadWriter()
        writer.bytes.append(Self.version)
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
        guard bytes.first == Self.version else { return nil }
        var reader = HeadReader(bytes: bytes.dropFirst())
        guard let contentID = reader.block(), contentID.count == 16, let scope = reader.text(),
            let url = reader.text(), let origin = reader.text(),
            let selected = reader.list({ reader in
                reader.text().flatMap { name in
                    reader.optionalText().map { SelectedField(name: name, value: $0) }
                }
            }),
            let code = reader.number(), (100...999).contains(code), let reason = reader.text(),
            let fields = reader.list({ reader -> HTTPField? in
                guard let name = reader.text().flatMap({ HTTPField.Name($0) }) else { return nil }
                return reader.text().map { HTTPField(name: name, value: $0) }
            }),
            let requestTime = reader.number(), let responseTime = reader.number(),
            let length = reader.number(), length >= 0, let first = reader.number(),
            let end = reader.number(), let total = reader.number(),
            let isInvalidated = reader.number(), let keys = reader.list({ $0.text() }),
            reader.bytes.isEmpty
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
                status: .init(code: code, reasonPhrase: reason), headerFields: HTTPFields(fields)),
            requestTime: Int64(requestTime), responseTime: Int64(responseTime),
            length: Int64(length), part: part, isInvalidated: isInvalidated == 1, publicKeys: keys)
    }
}

/// Writes numbers of eight bytes, and blocks that begin with their length.
private struct HeadWriter {
    var bytes: [UInt8] = []

    mutating func add(_ number: Int) {
        let number = UInt64(bitPattern: Int64(number))
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    mutating func add(_ block: [UInt8]?) {
        add(block?.count ?? -1)
        bytes += block ?? []
    }
}

private struct HeadReader {
    var bytes: ArraySlice<UInt8>

    mutating func number() -> Int? {
        guard bytes.count >= 8 else { return nil }
        defer { bytes = bytes.dropFirst(8) }
        return Int(
            truncatingIfNeeded: bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    mutating func block() -> [UInt8]? {
        guard let count = number(), count >= 0, count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }

    mutating func text() -> String? { block().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func optionalText() -> String?? {
        var ahead = self
        if let count = ahead.number(), count == -1 {
            self = ahead
            return .some(nil)
        }
        return text().map { .some($0) }
    }

    mutating func list<Element>(_ element: (inout HeadReader) -> Element?) -> [Element]? {
        guard let count = number(), count >= 0, count <= bytes.count else { return nil }
        var elements: [Element] = []
        for _ in 0..<count {
            guard let element = element(&self) else { return nil }
            elements.append(element)
        }
        return elements
    }
}
#endif
