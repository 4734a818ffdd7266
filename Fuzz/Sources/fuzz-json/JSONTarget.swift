import FuzzSupport
import SignetJSON

/// A text is refused with an offset in it, or is written and read again as it was, in each style, by the
/// decoder and encoder, and as the one record of each kind of stream.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.files(in: "Tests/SignetJSONTests/Vectors", named: ".json")
            + Seeds.files(in: "../shared/vectors/json-test-suite", named: ".json"))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = unsafe input(data, count)
    let value: JSONValue
    do {
        value = try JSONValue(parsing: text)
    } catch {
        guard let offset = error.offset, (0...text.count).contains(offset),
            error.path?.hasPrefix("$") == true
        else { broken("an error without an offset in the text, or without a path: \(error)") }
        records(text, nil)
        return 0
    }
    for style in [JSONStyle.compact, .pretty] {
        guard let again = try? JSONValue(parsing: value.serialized(style)), again == value else {
            broken("what was written is not read as it was")
        }
    }
    if let canonical = try? value.canonicalized() {
        guard let again = try? JSONValue(parsing: canonical),
            (try? again.canonicalized()) == canonical
        else { broken("the canonical form is not its own") }
    }
    guard let decoded = try? StrictJSONDecoder().decode(JSONValue.self, from: text),
        decoded == value, (try? StrictJSONEncoder().encode(value)) == value.serialized()
    else { broken("decoder or encoder say otherwise than the reader") }
    let reader = try? JSONReader(text, recordedDepth: 1)
    guard let reader, reader.value(reader.root) == value else {
        broken("a reader that records less says otherwise")
    }
    if let tree = try? StrictJSONDecoder().decode(Tree.self, from: text) {
        guard let written = try? StrictJSONEncoder().encode(tree),
            let again = try? StrictJSONDecoder().decode(Tree.self, from: written),
            let once = try? StrictJSONEncoder().encode(again), once == written
        else { broken("a decoded tree is not encoded as it was") }
    }
    records(text, value)
    return 0
}

/// The text as a stream: whatever it is, the reader comes to its end and gives valid records.
private func records(_ text: [UInt8], _ value: JSONValue?) {
    for format in [JSONStreamFormat.lines, .sequence, .array] {
        var reader = JSONRecordReader(format, maximumRecordSize: 4096)
        var values: [JSONValue] = []
        var defects = 0
        func drain() {
            while true {
                do throws(JSONError) {
                    guard let record = try reader.next() else { return }
                    values.append(record.value)
                } catch {
                    defects += 1
                    if defects > text.count + 1 { broken("errors without end") }
                }
            }
        }
        for start in stride(from: 0, to: text.count, by: 7) {
            reader.append(text[start..<min(start + 7, text.count)])
            drain()
        }
        reader.finish()
        drain()
        guard format == .array, text.count < 4096 else { continue }
        if let elements = value?.array, defects > 0 || elements != values {
            broken("an array's elements are not those of the whole")
        }
        if defects == 0, value?.array == nil { broken("an array that is none was read") }
    }
}

/// Any JSON by way of containers, so that the decoder's and the encoder's own code is run.
private indirect enum Tree: Codable {
    case object([String: Tree])
    case array([Tree])
    case integer(Int64)
    case double(Double)
    case string(String)
    case bool(Bool)
    case null

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [Tree] = []
            while !elements.isAtEnd { values.append(try elements.decode(Tree.self)) }
            self = .array(values)
        } else {
            self = .object(try container.decode([String: Tree].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members):
            var keyed = encoder.container(keyedBy: Name.self)
            let names = members.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            for name in names { try keyed.encode(members[name], forKey: Name(stringValue: name)) }
        }
    }

    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
