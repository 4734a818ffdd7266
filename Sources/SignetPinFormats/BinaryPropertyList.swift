import SignetJSON
import SignetPinning

/// Reads and writes binary property lists, version 00: a header, the objects, a table of their
/// offsets, and a trailer with the offset of the table (documented in CFBinaryPList.c of Apple's
/// CoreFoundation).
struct BinaryPropertyList {
    private let bytes: [UInt8]
    private let offsets: [Int]
    private let referenceSize: Int
    /// The number of values that may still be read. Without a limit, many references to one object
    /// would need too much memory.
    private var remaining = 100_000
    /// The bytes of strings that may still be copied, for the same reason.
    private var room = 2 * PropertyList.sizeLimit

    private static let maximumDepth = 64

    static func read(_ bytes: [UInt8]) throws(PinError) -> JSONValue {
        var list = try BinaryPropertyList(bytes)
        return try list.value(list.top, depth: 1)
    }

    private let top: Int

    private init(_ bytes: [UInt8]) throws(PinError) {
        guard bytes.starts(with: "bplist00".utf8), bytes.count >= 8 + 1 + 1 + 32 else {
            throw PropertyList.malformed("expected a complete binary list of version 00")
        }
        let trailer = bytes.count - 32
        let offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        let count = Self.number(bytes[(trailer + 8)..<(trailer + 16)])
        let top = Self.number(bytes[(trailer + 16)..<(trailer + 24)])
        let table = Self.number(bytes[(trailer + 24)..<(trailer + 32)])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), count >= 1,
            count <= UInt64(bytes.count), top < count, table >= 9,
            table <= UInt64(trailer),
            UInt64(trailer) - table >= count * UInt64(offsetSize)
        else { throw PropertyList.malformed("the binary list's trailer doesn't match its size") }
        offsets = try (0..<Int(count)).map { (index) throws(PinError) in
            let start = Int(table) + index * offsetSize
            let offset = Self.number(bytes[start..<(start + offsetSize)])
            guard offset >= 8, offset < table else {
                throw PropertyList.malformed("an offset of the binary list is outside of it")
            }
            return Int(offset)
        }
        self.bytes = Array(bytes[..<Int(table)])
        self.top = Int(top)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func slice(from start: Int, count: Int) throws(PinError) -> ArraySlice<UInt8> {
        guard count >= 0, start <= bytes.count, count <= bytes.count - start else {
            throw PropertyList.malformed("an object of the binary list is incomplete")
        }
        return bytes[start..<(start + count)]
    }

    private mutating func value(_ index: Int, depth: Int) throws(PinError) -> JSONValue {
        remaining -= 1
        guard index < offsets.count, depth <= Self.maximumDepth, remaining > 0 else {
            throw PropertyList.malformed("the binary list is too deep, too large or circular")
        }
        let start = offsets[index]
        let marker = bytes[start]
        switch marker >> 4 {
        case 0x0 where marker == 0x08 || marker == 0x09: return .bool(marker == 0x09)
        case 0x1: return .number(JSONNumber(try integer(at: start)))
        case 0x2, 0x3:
            // Reals and dates aren't needed, only skipped.
            _ = try slice(from: start + 1, count: 1 << Int(marker & 0xF))
            return .string("")
        case 0x4, 0x5, 0x6, 0xA, 0xD: break
        default: throw PropertyList.malformed("unknown type of an object in the binary list")
        }
        let (count, body) = try length(at: start)
        if marker >> 4 == 0x5 || marker >> 4 == 0x6 {
            room -= count
            guard room >= 0 else {
                throw PropertyList.malformed("the binary list names long strings too often")
            }
        }
        switch marker >> 4 {
        case 0x4:
            _ = try slice(from: body, count: count)
            return .string("")
        case 0x5:
            let text = try slice(from: body, count: count)
            guard text.allSatisfy({ $0 < 0x80 }) else {
                throw PropertyList.malformed("found a string that isn't ASCII")
            }
            return .string(String(decoding: text, as: UTF8.self))
        case 0x6:
            let text = try slice(from: body, count: count * 2)
            let units = stride(from: text.startIndex, to: text.endIndex, by: 2).map {
                UInt16(text[$0]) << 8 | UInt16(text[$0 + 1])
            }
            guard let string = String(validating: units, as: UTF16.self) else {
                throw PropertyList.malformed("found a string that isn't UTF-16")
            }
            return .string(string)
        case 0xA:
            let elements = try references(from: body, count: count)
            return .array(
                try elements.map { (index) throws(PinError) in
                    try value(index, depth: depth + 1)
                })
        default:
            let names = try references(from: body, count: count)
            let places = try references(from: body + count * referenceSize, count: count)
            let entries = try zip(names, places).map { (name, place) throws(PinError) in
                guard let key = try value(name, depth: depth + 1).string else {
                    throw PropertyList.malformed("found a key that isn't a string")
                }
                return (key, try value(place, depth: depth + 1))
            }
            return try PropertyList.dictionary(entries)
        }
    }

    private func references(from start: Int, count: Int) throws(PinError) -> [Int] {
        guard count <= bytes.count else {
            throw PropertyList.malformed("an object of the binary list is incomplete")
        }
        let all = try slice(from: start, count: count * referenceSize)
        return try (0..<count).map { (item) throws(PinError) -> Int in
            let start = all.startIndex + item * referenceSize
            let number = Self.number(all[start..<(start + referenceSize)])
            guard number < UInt64(offsets.count) else {
                throw PropertyList.malformed("a reference of the binary list has no object")
            }
            return Int(number)
        }
    }

    /// Returns the number of an object's elements, and the offset of the first.
    private func length(at start: Int) throws(PinError) -> (count: Int, body: Int) {
        let low = Int(bytes[start] & 0xF)
        if low < 0xF { return (low, start + 1) }
        let marker = try slice(from: start + 1, count: 1).first ?? 0
        guard marker >> 4 == 1 else {
            throw PropertyList.malformed("found a length that isn't an integer")
        }
        let count = try integer(at: start + 1)
        guard count >= 0, count <= Int64(bytes.count) else {
            throw PropertyList.malformed("an object of the binary list is incomplete")
        }
        return (Int(count), start + 2 + (1 << Int(marker & 0xF)))
    }

    private func integer(at start: Int) throws(PinError) -> Int64 {
        let size = Int(bytes[start] & 0xF)
        guard size <= 3 else {
            throw PropertyList.malformed("found an integer of more than 64 bits")
        }
        return Int64(bitPattern: Self.number(try slice(from: start + 1, count: 1 << size)))
    }

    // MARK: - Writing

    /// Writes dictionaries, arrays, strings and booleans.
    static func write(_ list: JSONValue) -> [UInt8] {
        var objects: [[UInt8]] = []
        let referenceSize = 4
        func bigEndian(_ number: Int, size: Int) -> [UInt8] {
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        func head(_ kind: UInt8, count: Int) -> [UInt8] {
            count < 15
                ? [kind << 4 | UInt8(count)] : [kind << 4 | 0xF, 0x12] + bigEndian(count, size: 4)
        }
        func add(_ value: JSONValue) -> Int {
            let place = objects.count
            objects.append([])
            switch value {
            case .bool(let flag): objects[place] = [flag ? 0x09 : 0x08]
            case .array(let values):
                let references = values.flatMap { bigEndian(add($0), size: referenceSize) }
                objects[place] = head(0xA, count: values.count) + references
            case .object(let object):
                let names = object.flatMap { bigEndian(add(.string($0.name)), size: referenceSize) }
                let values = object.flatMap { bigEndian(add($0.value), size: referenceSize) }
                objects[place] = head(0xD, count: object.count) + names + values
            case .string(let text):
                let units = Array(text.utf16)
                objects[place] =
                    text.utf8.allSatisfy { $0 < 0x80 }
                    ? head(0x5, count: units.count) + Array(text.utf8)
                    : head(0x6, count: units.count) + units.flatMap { bigEndian(Int($0), size: 2) }
            case .number, .null: objects[place] = [0x50]
            }
            return place
        }
        _ = add(list)
        var bytes = Array("bplist00".utf8)
        var table: [UInt8] = []
        for object in objects {
            table += bigEndian(bytes.count, size: 4)
            bytes += object
        }
        let start = bytes.count
        bytes += table
        return bytes + [0, 0, 0, 0, 0, 0, 4, UInt8(referenceSize)]
            + bigEndian(objects.count, size: 8)
            + bigEndian(0, size: 8) + bigEndian(start, size: 8)
    }
}
