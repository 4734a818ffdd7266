import HTTPTypes
import SignetCurl
import SignetTransport

/// A value that a `ByteForm` writes and reads.
protocol ByteFormed {
    /// The value before it is read.
    static var blank: Self { get }

    /// Hands each part of the value to the form, in one order: for writing, which changes nothing,
    /// and for reading.
    mutating func pass(_ form: inout ByteForm)
}

/// Values as bytes, in a form that only the process reads that wrote it.
struct ByteForm {
    private(set) var bytes: [UInt8]
    let isReading: Bool
    private var position = 0
    /// Whether bytes were read that weren't written so.
    private var isDamaged = false

    /// Reads a value; nil if the bytes aren't one.
    static func value<Value: ByteFormed>(of bytes: [UInt8]) -> Value? {
        var form = ByteForm(bytes, isReading: true)
        var value = Value.blank
        form.pass(&value)
        return form.isDamaged || form.position < bytes.count ? nil : value
    }

    private init(_ bytes: consuming [UInt8], isReading: Bool) {
        self.bytes = bytes
        self.isReading = isReading
    }

    /// Writes values after others.
    init(after bytes: consuming [UInt8]) { self.init(bytes, isReading: false) }

    /// Writes values.
    ///
    /// - Parameter size: The expected number of bytes.
    init(size: Int) {
        self.init([], isReading: false)
        bytes.reserveCapacity(size)
    }

    mutating func pass<Value: ByteFormed>(_ value: inout Value) { value.pass(&self) }

    mutating func pass(_ number: inout Int64) {
        guard isReading else { return write(number) }
        number = Int64(bitPattern: readNumber())
    }

    mutating func pass(_ bytes: inout [UInt8]) {
        guard isReading else {
            write(UInt64(bytes.count))
            self.bytes += bytes
            return
        }
        bytes = Array(readBytes())
    }

    mutating func pass(_ text: inout String) {
        guard isReading else { return write(text) }
        text = String(decoding: readBytes(), as: UTF8.self)
    }

    mutating func pass<Value: ByteFormed>(_ value: inout Value?) {
        var isThere = value != nil
        pass(&isThere)
        guard isThere else { return value = nil }
        var present = value ?? .blank
        present.pass(&self)
        value = present
    }

    mutating func pass<Value: ByteFormed>(_ values: inout [Value]) {
        guard isReading else {
            for var value in values {
                beginElement()
                value.pass(&self)
            }
            return endArray()
        }
        values = []
        while readNumber() == 1 {
            var value = Value.blank
            value.pass(&self)
            values.append(value)
        }
    }

    // MARK: Writing

    /// Writes the beginning of an element of an array.
    mutating func beginElement() { write(UInt64(1)) }

    /// Writes the end of an array.
    mutating func endArray() { write(UInt64(0)) }

    /// Writes bytes that were written before.
    mutating func add(_ written: [UInt8]) { bytes += written }

    mutating func write(_ number: Int64) { write(UInt64(bitPattern: number)) }

    mutating func write(_ number: Int) { write(Int64(number)) }

    mutating func write(_ flag: Bool) { write(UInt64(flag ? 1 : 0)) }

    mutating func write(_ text: String) {
        write(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func write(_ text: String?) {
        write(text != nil)
        if let text { write(text) }
    }

    /// Writes the value of a field as bytes.
    mutating func write(valueOf field: HTTPField) {
        let value = field.valueBytes
        write(UInt64(value.count))
        bytes += value
    }

    /// Writes nanoseconds, which clocks count.
    mutating func write(_ duration: Duration) {
        // Mostly of 64 bits, whose division is fast.
        let attoseconds = duration.attoseconds
        write(
            Int64(exactly: attoseconds).map { $0 / 1_000_000_000 }
                ?? Int64(clamping: attoseconds / 1_000_000_000))
    }

    /// Moves the bytes out: sealed in their place, they leave no copy in clear.
    mutating func takeBytes() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        return taken
    }

    // MARK: Numbers of seven bits a byte, the lowest first

    private mutating func write(_ number: UInt64) {
        guard number >= 0x80 else { return bytes.append(UInt8(number)) }
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func readNumber() -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) where position < bytes.count {
            let byte = bytes[position]
            position += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
        }
        isDamaged = true
        return 0
    }

    private mutating func readBytes() -> ArraySlice<UInt8> {
        let count = readNumber()
        guard count <= bytes.count - position else {
            isDamaged = true
            return []
        }
        defer { position += Int(count) }
        return bytes[position..<position + Int(count)]
    }
}

extension Int64: ByteFormed {
    static var blank: Int64 { 0 }
    mutating func pass(_ form: inout ByteForm) { form.pass(&self) }
}

extension Int: ByteFormed {
    static var blank: Int { 0 }
    mutating func pass(_ form: inout ByteForm) {
        var number = Int64(self)
        form.pass(&number)
        self = Int(number)
    }
}

extension Bool: ByteFormed {
    static var blank: Bool { false }
    mutating func pass(_ form: inout ByteForm) {
        var number: Int64 = self ? 1 : 0
        form.pass(&number)
        self = number != 0
    }
}

extension String: ByteFormed {
    static var blank: String { "" }
    mutating func pass(_ form: inout ByteForm) { form.pass(&self) }
}

extension Duration: ByteFormed {
    static var blank: Duration { .zero }

    mutating func pass(_ form: inout ByteForm) {
        guard form.isReading else { return form.write(self) }
        var nanoseconds: Int64 = 0
        form.pass(&nanoseconds)
        self = .nanoseconds(nanoseconds)
    }
}

extension ResponseSource: ByteFormed {
    static var blank: ResponseSource { .server }
    mutating func pass(_ form: inout ByteForm) {
        var name = rawValue
        form.pass(&name)
        self = ResponseSource(rawValue: name) ?? .server
    }
}
